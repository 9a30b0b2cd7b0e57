// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-state-rounding]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using state_rounding = tieropt::nearest_rounding;
#else
  using state_rounding = tieropt::fused_decay;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
