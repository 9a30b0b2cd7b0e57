// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-betas]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using betas = tieropt::rising_beta2;
#else
  using betas = tieropt::given_rate;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
