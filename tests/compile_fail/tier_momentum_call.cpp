// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-momentum-call]

#include <tieropt/policy/tier_policy.hpp>

struct scaled {  // its operator forgets the scalars
  using state_type = float;
  template <class T>
  T operator()(T& m, T g) const {
    return m = g;
  }
};
struct halved {
  using state_type = float;
  template <class T>
  T operator()(T& m, T g, tieropt::step_scalars<T> const&) const {
    return m = tieropt::mul(g, T(0.5));
  }
  template <class T>
  T recall(T m, tieropt::step_scalars<T> const&) const {
    return m;
  }
};
struct population : tieropt::tier {
#ifdef FIXED
  using momentum = halved;
#else
  using momentum = scaled;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
