// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes up for missed decays between steps: before weights are saved or compared. Layer: plan.
#pragma once

#include <tieropt/kernel/catch_up.hpp>
#include <tieropt/plan/enqueue.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Weights of matrices with missed steps become weight (1 - lr weight_decay)^missed, rounded once
/// as the tier rounds weights, and missed becomes 0; second moments and steps stay.
///
/// A step does the same on its own for the matrices that take part in it. Ranges whose tiers cannot
/// catch up, and tensors without a view of missed steps, are left alone. Runs on the executor's
/// stream; 3 launches for each range that can catch up.
/// @tparam X an executor @tparam Plan a plan
/// @param[in] x the executor @param[in] p the plan @param[in,out] workspace a prepared one
/// @param[in] hypers one per group, with the rate and the decay of the missed steps
/// @param[in] seed of the rounding bits, another one in each call: an idle matrix has one step
/// @return ok, workspace_size, workspace_alignment, hyper_*, too_large or device
template <executor X, class Plan>
TIEROPT_HOST status catch_up(X const& x, Plan const& p, cuda::std::span<byte> workspace,
                             cuda::std::span<hyper const> hypers, uint64_t seed) {
  status s = check_workspace(p, workspace);
  if (s) s = check_launches<X>(p);
  if (s) s = check_hypers(p, hypers);
  if (!s) return s;
  return for_each_range(p, [&](auto range) -> status {
    constexpr size_t i = decltype(range)::value;
    using parts = typename Plan::template bound_type<i>::parts;
    if constexpr (needs<parts>::can_catch_up) {
      range_size const& size = p.size(static_cast<int>(i));
      auto const table = workspace_of<i>(p, workspace).table(size.tensors);
      int64_t const blocks = ceil_div(size.matrices, matrices_per_block);
      begin_catch_up_body<parts> begin{table, size.matrices, seed, {}};
      for (size_t g = 0; g < hypers.size(); ++g) begin.hypers[g] = hypers[g];
      status done = x.launch(blocks, begin);
      if (done) done = launch<catch_up_pass>(x, table, whole_range(size));
      if (done) done = x.launch(blocks, end_catch_up_body<parts>{table, size.matrices});
      if (!done) done.range = static_cast<int>(i);
      return done;
    } else {
      return {};
    }
  });
}

}  // namespace v0_1
}  // namespace tieropt
