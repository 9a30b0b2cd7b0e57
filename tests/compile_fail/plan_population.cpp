// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-plan-population]

#include <tieropt/plan/plan.hpp>

struct experts : tieropt::tier {};
struct router : tieropt::tier {};

#ifdef FIXED
using policy = tieropt::tier_policy<experts, router>;
#else
using policy = tieropt::tier_policy<experts>;
#endif

bool plan_fits(cuda::std::span<tieropt::bound_tensor<router, float>> routers) {
  return tieropt::make_plan<policy>(routers).has_value();
}
