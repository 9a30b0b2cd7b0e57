// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Adagrad, which the library has no preset for: one part of its own, the rest composed.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace own {

/// V <- V + g^2: what Adagrad sums up (J. Duchi et al., JMLR 12, 2011).
struct sum_of_squares {
  using state_type = float;
  static constexpr bool factored = false;

  template <class T>
  TIEROPT_HOST_DEVICE void operator()(T& v, T square, tieropt::step_scalars<T> const&) const {
    v = tieropt::add(v, square);
  }
};

/// p <- p - lr g / (sqrt(V) + eps). Frameworks take eps = 1e-10 and lr = 1e-2.
struct adagrad : tieropt::tier {
  using variance = sum_of_squares;
  using eps = tieropt::added_eps;
  using bias_correction = tieropt::correct_none;
  using clip = tieropt::no_clip;
  using decay = tieropt::l2_decay;
};

}  // namespace own
