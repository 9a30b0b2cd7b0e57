// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-parts]

#include <tieropt/plan/bound_tensor.hpp>

struct halved {
  static constexpr bool homogeneous = true;
  static constexpr bool reads_grad = false;
#ifdef FIXED
  template <class T>
  static T apply(T u, T) {
    return u / 2;
  }
#else
  static float apply(float u, float) { return u / 2; }
#endif
};
struct population : tieropt::tier {
  using transform = halved;
};
tieropt::bound_tensor<population, double> const tensor;
