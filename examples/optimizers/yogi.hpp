// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Yogi, which the library has no preset for: one part of its own, the rest composed.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace own {

/// V <- V - (1 - beta2) sign(V - g^2) g^2: it never changes by more than the square asks for (M.
/// Zaheer et al., NeurIPS 2018, alg. 2).
struct yogi_variance {
  using state_type = float;
  static constexpr bool factored = false;

  template <class T>
  TIEROPT_HOST_DEVICE void operator()(T& v, T square, tieropt::step_scalars<T> const& s) const {
    T const move = tieropt::mul(s.one_minus_beta2, square);
    v = v > square ? tieropt::add(v, tieropt::neg(move)) : v < square ? tieropt::add(v, move) : v;
  }
};

/// p <- p - lr M / (sqrt(V) + eps), without corrections, as published; eps = 1e-3 there.
struct yogi : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = yogi_variance;
  using eps = tieropt::added_eps;
  using bias_correction = tieropt::correct_none;
  using clip = tieropt::no_clip;
};

}  // namespace own
