// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-momentum-gain]

#include <tieropt/policy/tier_policy.hpp>

struct part : tieropt::heavy_ball_momentum<> {
#ifdef FIXED
  static double update_gain(double, double beta1_power) { return 1 / (1 - beta1_power); }
#else
  static double update_gain(double beta1_power) { return 1 / (1 - beta1_power); }
#endif
};

struct population : tieropt::tier {
  using momentum = part;
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
