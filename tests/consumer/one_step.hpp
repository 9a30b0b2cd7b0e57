// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The smallest use of the library: one matrix, one step. What the consumers compile.

#pragma once

#include <tieropt/tieropt.hpp>

#include <cstddef>
#include <vector>

struct consumer_tier : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
};

/// One step on a 4 x 5 matrix of ones with a gradient of one.
/// @return the first weight afterwards, -1 when a call was refused
inline float one_step() {
  std::vector<float> param(20, 1.f), grad(20, 1.f), momentum(20), row(4), col(5);
  std::vector<std::int64_t> step(1);
  std::vector<tieropt::bound_tensor<consumer_tier, float>> bound;
  bound.push_back(
      {.param = tieropt::view(param.data(), 4, 5),
       .grad = tieropt::view(grad.data(), 4, 5),
       .momentum = tieropt::view(momentum.data(), 4, 5),
       .variance = {.row = tieropt::view(row.data(), 4), .col = tieropt::view(col.data(), 5)},
       .step = tieropt::view(step.data(), 1)});
  auto const plan = tieropt::make_plan<tieropt::tier_policy<consumer_tier>>(bound);
  if (!plan) return -1;
  std::vector<std::byte> workspace(plan->workspace_bytes());
  tieropt::host_executor const executor;
  tieropt::hyper const hypers[] = {{.lr = 0.25}};
  if (!tieropt::prepare(executor, *plan, workspace)) return -1;
  if (!tieropt::enqueue(executor, *plan, workspace, hypers, tieropt::step_inputs{})) return -1;
  return param[0];
}
