// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-plan-faults]

#include <tieropt/plan/prepare.hpp>

struct router : tieropt::tier {
#ifdef FIXED
  using fault = tieropt::propagate_counted;
#else
  using fault = tieropt::propagate;
#endif
};
using policy = tieropt::tier_policy<router>;

tieropt::int64_t elements(tieropt::plan<policy, tieropt::bound_tensor<router, float>> const& plan,
                          cuda::std::span<tieropt::byte> workspace) {
  constexpr cuda::std::integral_constant<tieropt::size_t, 0> range{};
  return tieropt::faults(plan, workspace, range)->elements;
}
