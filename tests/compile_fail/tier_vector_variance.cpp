// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-vector-variance]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using vector_variance = tieropt::exact_variance<float>;
#else
  using vector_variance = tieropt::factored_variance<float>;  // a vector has no rows
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
