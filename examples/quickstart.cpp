// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include <tieropt/tieropt.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

using tieropt::view;
using codec = tieropt::storage<tieropt::bf16>;

// 1. Populations: each says only how it differs from tieropt::tier.
struct experts : tieropt::tier {
  using variance = tieropt::factored_variance<float>;  // R + C floats for an (R, C) matrix
};
struct router : tieropt::tier {};  // the defaults: no momentum, exact second moment
using moe = tieropt::tier_policy<experts, router>;

int main() {
  // 2. Buffers of your own: 4 experts of 64 x 48 weights in bf16, a router of 4 x 64 in fp32.
  std::int64_t const e = 4, r = 64, c = 48;
  std::vector<tieropt::bf16> w(e * r * c), dw(e * r * c);
  std::vector<float> row(e * r), col(e * c), gate(e * r), d_gate(e * r), v(e * r);
  std::vector<std::int64_t> steps(e), gate_steps(1);

  // 3. Views of them: nothing is copied.
  std::vector<tieropt::bound_tensor<experts, tieropt::bf16>> stacks;
  stacks.push_back({.param = view(w.data(), e, r, c),
                    .grad = view(dw.data(), e, r, c),
                    .variance = {.row = view(row.data(), e, r), .col = view(col.data(), e, c)},
                    .step = view(steps.data(), e),
                    .key = 1});
  std::vector<tieropt::bound_tensor<router, float>> gates;
  gates.push_back({.param = view(gate.data(), e, r),
                   .grad = view(d_gate.data(), e, r),
                   .variance = {.exact = view(v.data(), e, r)},
                   .step = view(gate_steps.data(), 1),
                   .key = 2,
                   .group = 1});  // the second set of hyperparameters: no decay

  // 4. Plan and prepare once, enqueue every step.
  auto const plan = tieropt::make_plan<moe>(stacks, gates);
  if (!plan) return std::puts(message(plan.error())), 1;
  std::vector<std::byte> workspace(plan->workspace_bytes());
  tieropt::host_executor const executor;
  tieropt::hyper const hypers[] = {{.lr = 0.01, .weight_decay = 0.05}, {.lr = 0.01}};
  tieropt::status s = prepare(executor, *plan, workspace);
  for (std::uint64_t step = 0; s && step < 100; ++step) {  // pull every weight towards 1
    for (std::size_t i = 0; i < w.size(); ++i)
      dw[i] = codec::nearest(codec::decode<float>(w[i]) - 1);
    for (std::size_t i = 0; i < gate.size(); ++i) d_gate[i] = gate[i] - 1;
    s = enqueue(executor, *plan, workspace, hypers, tieropt::step_inputs{.seed = 42});
  }
  if (!s) return std::puts(message(s)), 1;
  double sum = 0;
  for (auto const x : w) sum += codec::decode<float>(x);
  std::printf("mean expert weight %.2f, state %zu bytes for %zu weights\n", sum / double(w.size()),
              std::size_t(plan->state_bytes().total()), w.size() + gate.size());
}
