// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-nesterov]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using momentum = tieropt::nesterov<tieropt::ema_momentum<>>;
#else
  using momentum = tieropt::nesterov<tieropt::exact_variance<>>;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
