// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-step-scope]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  static constexpr tieropt::scope step_scope = tieropt::scope::tensor;
#else
  using step_scope = tieropt::rms_clip<tieropt::scope::tensor>;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
