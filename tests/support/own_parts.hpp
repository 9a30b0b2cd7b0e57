// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers and an element type that only tests have.
#pragma once

#include <tieropt/policy/tier.hpp>

#include <cstdint>

namespace testing {

/// Blending keeps the last mean alone (with beta2 = 0), and eps adds nothing to the squares.
struct factored_means : tieropt::tier {
  using variance = tieropt::factored_variance<float>;
  using eps = tieropt::added_eps;
  using clip = tieropt::no_clip;
};

/// With eps = 1 the denominator is 1 for gradients below 1: the update is the gradient.
struct plain_norm : tieropt::tier {
  using eps = tieropt::floored_eps;
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
};

/// The sign of an average: not what is stored, so that it is recalled.
struct sign_momentum {
  using state_type = float;
  template <class T>
  TIEROPT_HOST_DEVICE T operator()(T& m, T g, tieropt::step_scalars<T> const& s) const {
    m = tieropt::fma(s.beta1, m, tieropt::mul(s.one_minus_beta1, g));
    return recall(m, s);
  }
  template <class T>
  TIEROPT_HOST_DEVICE T recall(T m, tieropt::step_scalars<T> const&) const {
    return m < T(0) ? T(-1) : m > T(0) ? T(1) : T(0);
  }
};

struct signs : tieropt::tier {
  using momentum = sign_momentum;
  using eps = tieropt::floored_eps;
};

/// A tier with another tuning.
template <class Tier, int Groups, int PerLane>
struct tuned : Tier {
  static constexpr tieropt::tuning tune{.groups = Groups, .per_lane = PerLane, .blocks_per_sm = 2};
};

/// A framework's own bfloat16.
struct framework_bf16 {
  unsigned char bits[2];  // of bytes, which nvcc treats in its own way
};

}  // namespace testing

template <>
struct tieropt::storage<testing::framework_bf16>
    : tieropt::storage_as<testing::framework_bf16, tieropt::bf16_format> {};
