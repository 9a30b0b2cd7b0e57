// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-storage-format]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using momentum = tieropt::ema_momentum<tieropt::block_scaled<tieropt::fp16>>;
#else
  using momentum = tieropt::ema_momentum<tieropt::block_scaled<float>>;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
