// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-variance]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
#else
  using variance = tieropt::refuse;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
