// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-state]

#include <tieropt/plan/bound_tensor.hpp>

struct population : tieropt::tier {
#ifdef FIXED
  using momentum = tieropt::ema_momentum<tieropt::bf16>;
#else
  using momentum = tieropt::ema_momentum<int>;
#endif
};

tieropt::bound_tensor<population, float> bound;
