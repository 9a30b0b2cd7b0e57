// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-orthogonal]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
  using variance = tieropt::no_variance;
  using clip = tieropt::unit_norm;
#ifdef FIXED
  using orthogonal = tieropt::newton_schulz<float>;
#else
  using orthogonal = tieropt::newton_schulz<int>;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
