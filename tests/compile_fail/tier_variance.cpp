// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-variance]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using variance = tieropt::factored_variance<float>;
#else
  using variance = tieropt::no_momentum;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
