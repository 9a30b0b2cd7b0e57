// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Grams, which the library has no preset for: one part of its own, the rest composed.
#pragma once

#include <tieropt/policy/adamw.hpp>

namespace own {

/// The gradient gives the direction, the update the length: sign(g) |u| (Y. Cao et al.,
/// arXiv 2412.17107, alg. 1).
struct grams_update {
  static constexpr bool homogeneous = true;  // of twice the update it makes twice the result
  static constexpr bool reads_grad = true;

  template <class T>
  TIEROPT_HOST_DEVICE static T apply(T u, T g) {
    T const length = u < T(0) ? tieropt::neg(u) : u;
    return g > T(0) ? length : g < T(0) ? tieropt::neg(length) : T(0);
  }
};

/// AdamW but for that.
struct grams : tieropt::adamw::tensor {
  using transform = grams_update;
};

}  // namespace own
