// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-master]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using master = tieropt::carry_master;
#else
  using master = tieropt::nearest_rounding;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
