// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The guide "Precision, layouts, faults": narrow states, exact weights, awkward buffers, a NaN.

#include <tieropt/tieropt.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

/// [narrow]
/// SkewAdam's backbone with a momentum of 1.13 bytes a weight instead of 4.
struct small_backbone : tieropt::skewadam::corrected::backbone {
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
};
/// AdamW with 2.25 bytes of state a weight instead of 8.
struct adamw_8bit : tieropt::adamw::tensor {
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::exact_variance<tieropt::root_uint8>;
};
/// [narrow]

/// [exact]
/// A bf16 weight, 16 bits beside it and a carry: every step is that of an fp32 weight.
struct exact_experts : tieropt::skewadam::corrected::experts {
  using master = tieropt::carry_master;
  using grad_clip = tieropt::global_norm_clip;  // one norm for all tensors of such populations
  using fault = tieropt::skip_matrix;           // an expert with a NaN rests
};
/// [exact]

/// [own]
/// Another framework's bfloat16.
struct their_bf16 {
  std::uint16_t bits;
};
template <>
struct tieropt::storage<their_bf16> : tieropt::storage_as<their_bf16, tieropt::bf16_format> {};
/// [own]

namespace {

using byte = tieropt::byte;

std::size_t bytes_of_state(std::vector<std::int64_t> const& shape) {
  return static_cast<std::size_t>(
      tieropt::state_bytes<adamw_8bit>(
          cuda::std::span<std::int64_t const>{shape.data(), shape.size()})
          .total());
}

// Two steps of a convolution's experts, one of which meets a NaN. The bits of their weights.
int run() {
  using codec = tieropt::storage<their_bf16>;
  // (expert, out, in, 3, 3): rows and columns are out and in, so that E = 2 x 3 x 3.
  constexpr std::int64_t experts = 2, out = 40, in = 70, taps = 9, E = experts * taps;
  std::vector<their_bf16> weights(experts * out * in * taps, codec::nearest(1.0f));
  std::vector<float> grads(weights.size(), 0.5f);
  std::vector<std::uint16_t> low(weights.size());
  std::vector<std::uint8_t> carry(E * out * ((in + 7) / 8));
  std::vector<float> row(E * out), col(E * in);
  std::vector<std::int64_t> step(E);
  grads[0] = NAN;

  /// [bind]
  using bound = tieropt::bound_tensor<exact_experts, their_bf16, float>;
  std::vector<bound> tensors{
      {.param = tieropt::view(weights.data(), experts, out, in, 3, 3),
       .grad = tieropt::view(static_cast<float const*>(grads.data()), experts, out, in, 3, 3),
       .variance = {.row = tieropt::view(row.data(), E, out),
                    .col = tieropt::view(col.data(), E, in)},
       .master = {.remainder = tieropt::view(low.data(), experts, out, in, 3, 3),
                  .carry = tieropt::view(carry.data(), experts, out, (in + 7) / 8, 3, 3)},
       .step = tieropt::view(step.data(), E),
       .dims = {.row = 1, .col = 2}}};  // of a convolution; the default is the last two
  auto const plan = tieropt::make_plan<tieropt::tier_policy<exact_experts>>(tensors);
  /// [bind]
  if (!plan) return std::puts(tieropt::message(plan.error())), 1;
  std::printf("tensors read in vectors %d, side by side %d, strided %d\n",
              static_cast<int>(plan->paths(0).whole), static_cast<int>(plan->paths(0).ragged),
              static_cast<int>(plan->paths(0).strided));

  std::vector<byte> memory(plan->workspace_bytes() + tieropt::workspace_alignment);
  auto const skew = reinterpret_cast<std::uintptr_t>(memory.data()) % tieropt::workspace_alignment;
  cuda::std::span<byte> const workspace{
      memory.data() + (skew == 0 ? 0 : tieropt::workspace_alignment - skew),
      plan->workspace_bytes()};
  tieropt::host_executor const executor;
  tieropt::hyper const hypers[] = {{.lr = 1e-4}};
  /// [step]
  tieropt::step_inputs const inputs{.seed = 42, .max_grad_norm = 1.0};
  tieropt::status s = prepare(executor, *plan, workspace);
  for (int k = 0; s && k < 2; ++k) s = enqueue(executor, *plan, workspace, hypers, inputs);

  constexpr cuda::std::integral_constant<std::size_t, 0> range{};
  tieropt::fault_counts const faults = *tieropt::faults(*plan, workspace, range);
  double const norm = *tieropt::grad_norm(*plan, workspace, range);
  /// [step]
  if (!s) return std::puts(tieropt::message(s)), 1;
  std::printf("matrices that rested %d, norm of the others %.1f\n",
              static_cast<int>(faults.matrices), norm);
  // The exact weights of the first taps: upper half, lower half, and the carry, bit 0 for channel
  // 0.
  auto const exact = [&](std::size_t tap) {
    return tieropt::join_even(weights[tap].bits, low[tap], carry[tap] & 1u);
  };
  std::printf("weight that rested %.6f, another %.6f, stored as %.6f\n", exact(0), exact(1),
              codec::decode<float>(weights[1]));
  return faults.matrices == 2 && step[0] == 0 && step[1] == 2 && exact(0) == 1.0f &&
                 exact(1) < 1.0f && exact(1) > 0.999f
             ? 0
             : 1;
}

}  // namespace

int main() {
  std::printf("state of AdamW in 8 bits for a (4096, 4096) matrix: %zu bytes\n",
              bytes_of_state({4096, 4096}));
  return run();
}
