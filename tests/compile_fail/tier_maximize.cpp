// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-maximize]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  static constexpr bool maximize = true;
#else
  bool maximize = true;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
