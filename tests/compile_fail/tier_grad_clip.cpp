// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-grad-clip]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using grad_clip = tieropt::global_norm_clip;
#else
  using grad_clip = tieropt::rms_clip<>;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
