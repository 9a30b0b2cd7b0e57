// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-clip]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
#else
  using clip = tieropt::scope;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
