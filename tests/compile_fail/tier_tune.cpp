// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-tune]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  static constexpr tieropt::tuning tune{.groups = 4};
#else
  static constexpr tieropt::tuning tune{.groups = 3};
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
