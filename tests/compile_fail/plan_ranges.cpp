// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-plan-ranges]

#include <tieropt/plan/plan.hpp>

struct router : tieropt::tier {};
using policy = tieropt::tier_policy<router>;

bool plan_fits(cuda::std::span<tieropt::bound_tensor<router, float>> routers) {
#ifdef FIXED
  return tieropt::make_plan<policy>(routers).has_value();
#else
  return routers.empty() && tieropt::make_plan<policy>().has_value();
#endif
}
