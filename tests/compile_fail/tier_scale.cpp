// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-scale]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using scale = tieropt::param_rms_scale<tieropt::scope::matrix>;
#else
  using scale = tieropt::cautious_scale<>;  // a clip, for all its name
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
