// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-bias-correction]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using bias_correction = tieropt::correct_second;
#else
  using bias_correction = bool;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
