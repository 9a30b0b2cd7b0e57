// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
// expect: [tieropt-tier-recall]

#include <tieropt/tieropt.hpp>

/// Returns something else than it stores, and cannot say it again.
struct part {
  using state_type = float;
  template <class T>
  T operator()(T& m, T g, tieropt::step_scalars<T> const&) const {
    m = g;
    return -m;
  }
#if defined(FIXED)
  template <class T>
  T recall(T m, tieropt::step_scalars<T> const&) const {
    return -m;
  }
#endif
};

struct population : tieropt::tier {
  using momentum = part;
};

using policy = tieropt::tier_policy<population>;
static_assert(policy::contains<population>);
