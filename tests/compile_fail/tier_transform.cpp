// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-transform]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using transform = tieropt::sign_update;
#else
  using transform = tieropt::no_clip;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
