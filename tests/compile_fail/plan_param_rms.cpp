// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-plan-param-rms]

#include <tieropt/plan/prepare.hpp>

struct router : tieropt::tier {
  using clip = tieropt::no_clip;
#ifdef FIXED
  using scale = tieropt::param_rms_scale<>;
#endif
};
using policy = tieropt::tier_policy<router>;

float first_rms(tieropt::plan<policy, tieropt::bound_tensor<router, float>> const& plan,
                cuda::std::span<tieropt::byte> workspace) {
  constexpr cuda::std::integral_constant<tieropt::size_t, 0> range{};
  return *tieropt::param_rms(plan, workspace, range, 0);
}
