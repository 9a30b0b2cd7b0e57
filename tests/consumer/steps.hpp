// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Three steps on odd shapes, on any executor: what the shared objects of the consumers hold.

#pragma once

#include <tieropt/executor/executor.hpp>
#include <tieropt/plan/enqueue.hpp>
#include <tieropt/policy/tier_policy.hpp>

#include <cuda/std/span>

#include <cstddef>
#include <cstdint>
#include <cstring>

// Tiers with linkage: what is made of them must be hidden by the library, not by the anonymous
// namespace.
struct dense : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
};
struct experts : tieropt::tier {
  using variance = tieropt::factored_variance<float>;
};
struct router : tieropt::tier {};
using policy = tieropt::tier_policy<dense, experts, router>;

namespace {

constexpr std::int64_t n_matrices = 2, n_rows = 33, n_cols = 1031;
constexpr std::int64_t n_matrix = n_rows * n_cols, n_stack = n_matrices * n_matrix;

// Plain buffers and arrays: a std::vector of bound tensors would leave weak symbols of its own.
struct buffers {
  tieropt::bf16 dense_param[n_matrix], stack[n_stack], stack_grad[n_stack];
  float dense_grad[n_matrix], dense_momentum[n_matrix], dense_row[n_rows], dense_col[n_cols];
  float stack_row[n_matrices * n_rows], stack_col[n_matrices * n_cols];
  float router_param[n_cols], router_grad[n_cols], router_state[n_cols];
  std::int64_t dense_step[1], stack_step[n_matrices], router_step[1];
};

// Numbers with a wide range of exponents, from integers alone.
inline float number(std::uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  std::uint32_t const bits = (state & 0x807fffffu) | ((110u + (state >> 8) % 20u) << 23);
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline tieropt::bf16 narrow(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return {static_cast<std::uint16_t>(bits >> 16)};
}

/// Takes three steps. @param[in] make_workspace gives scratch memory of a size
/// @param[in] wait returns when all that was enqueued is done @return whether no call was refused
template <class X, class Workspace, class Wait>
bool take_steps(X const& executor, buffers& b, Workspace const& make_workspace, Wait const& wait) {
  std::uint32_t state = 1;
  for (auto& x : b.dense_param) x = narrow(number(state));
  for (auto& x : b.stack) x = narrow(number(state));
  for (auto& x : b.router_param) x = number(state);

  using tieropt::view;
  tieropt::bound_tensor<dense, tieropt::bf16, float> dense_bound[] = {
      {.param = view(b.dense_param, n_rows, n_cols),
       .grad = view(b.dense_grad, n_rows, n_cols),
       .momentum = view(b.dense_momentum, n_rows, n_cols),
       .variance = {.row = view(b.dense_row, n_rows), .col = view(b.dense_col, n_cols)},
       .step = view(b.dense_step, 1),
       .key = 1}};
  tieropt::bound_tensor<experts, tieropt::bf16> expert_bound[] = {
      {.param = view(b.stack, n_matrices, n_rows, n_cols),
       .grad = view(b.stack_grad, n_matrices, n_rows, n_cols),
       .variance = {.row = view(b.stack_row, n_matrices, n_rows),
                    .col = view(b.stack_col, n_matrices, n_cols)},
       .step = view(b.stack_step, n_matrices),
       .key = 2}};
  tieropt::bound_tensor<router, float> router_bound[] = {
      {.param = view(b.router_param, n_cols),
       .grad = view(b.router_grad, n_cols),
       .variance = {.exact = view(b.router_state, n_cols)},
       .step = view(b.router_step, 1),
       .key = 3}};

  cuda::std::span const dense_range{dense_bound};
  cuda::std::span const expert_range{expert_bound};
  cuda::std::span const router_range{router_bound};
  auto const plan = tieropt::make_plan<policy>(dense_range, expert_range, router_range);
  if (!plan) return false;
  cuda::std::span<std::byte> const workspace = make_workspace(plan->workspace_bytes());
  if (!tieropt::prepare(executor, *plan, workspace)) return false;
  for (int step = 0; step < 3; ++step) {
    for (auto& x : b.dense_grad) x = number(state);
    for (auto& x : b.stack_grad) x = narrow(number(state));
    for (auto& x : b.router_grad) x = number(state);
    tieropt::hyper const hypers[] = {{.lr = 1e-2, .weight_decay = 0.1}};
    if (!tieropt::enqueue(executor, *plan, workspace, hypers, tieropt::step_inputs{.seed = 42}))
      return false;
    wait();
  }
  return true;
}

}  // namespace
