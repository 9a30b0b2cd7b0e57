// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-scale-scope]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
  using scale = tieropt::param_rms_scale<tieropt::scope::tensor>;
#ifdef FIXED
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
#else
  using clip = tieropt::rms_clip<tieropt::scope::matrix>;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
