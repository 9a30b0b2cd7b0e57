// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-plan-grad-norm]

#include <tieropt/plan/prepare.hpp>

struct router : tieropt::tier {
#ifdef FIXED
  using grad_clip = tieropt::global_norm_clip;
#else
  using grad_clip = tieropt::no_grad_clip;
#endif
};
using policy = tieropt::tier_policy<router>;

double norm(tieropt::plan<policy, tieropt::bound_tensor<router, float>> const& plan,
            cuda::std::span<tieropt::byte> workspace) {
  constexpr cuda::std::integral_constant<tieropt::size_t, 0> range{};
  return *tieropt::grad_norm(plan, workspace, range);
}
