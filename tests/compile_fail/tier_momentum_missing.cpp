// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-momentum-missing]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
  using momentum_input = tieropt::of_update;
#ifdef FIXED
  using momentum = tieropt::ema_momentum<float>;
#else
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
