// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-fault]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using fault = tieropt::skip_matrix;
#else
  using fault = tieropt::fused_decay;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
