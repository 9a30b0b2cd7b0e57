// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-rate]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using rate = tieropt::relative_rate;
#else
  using rate = tieropt::rising_beta2;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
