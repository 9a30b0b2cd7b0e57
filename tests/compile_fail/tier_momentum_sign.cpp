// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-momentum-sign]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
#else
  using momentum = tieropt::ema_momentum<tieropt::root_uint8>;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
