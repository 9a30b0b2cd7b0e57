// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-momentum-input]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using momentum = tieropt::ema_momentum<float>;
  using momentum_input = tieropt::of_update;
#else
  using momentum_input = tieropt::no_clip;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
