// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// First moments: what the update's numerator is. Layer: functor.
///
/// A part of a user's own is any empty type with a `state_type` and
/// `template <class T> T operator()(T& state, T grad, step_scalars<T> const&) const`, which updates
/// the state and returns the numerator. Optional members:
/// - `template <class T> T recall(T state, step_scalars<T> const&) const`: the numerator from the
///   stored state. A clipped tier measures the update in one pass and applies it in the next, which
///   reads the state back: it needs this member.
/// - `static double update_gain(double beta1_power)`: factor of the update for beta1^k (default 1).
#pragma once

#include <tieropt/functor/step_scalars.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// No state.
struct none {};

/// The gradient itself: no state, no bias correction.
struct no_momentum {
  using state_type = none;  ///< nothing is stored

  /// The numerator. @tparam T compute type @param[in] g gradient @return g
  template <class T>
  TIEROPT_HOST_DEVICE T operator()(none&, T g, step_scalars<T> const&) const {
    return g;
  }
};

/// M <- beta1 M + (1 - beta1) g, corrected by 1 / (1 - beta1^k) (Adam, arXiv 1412.6980, alg. 1).
/// @tparam State how M is stored
template <class State = float>
struct ema_momentum {
  using state_type = State;  ///< one element per weight

  /// The numerator before its correction. @tparam T compute type @param[in,out] m momentum
  /// @param[in] g gradient @param[in] s scalars @return the new m
  template <class T>
  TIEROPT_HOST_DEVICE T operator()(T& m, T g, step_scalars<T> const& s) const {
    m = fma(s.one_minus_beta1, g, mul(s.beta1, m));
    return m;
  }

  /// The numerator again. @tparam T compute type @param[in] m momentum @return m
  template <class T>
  TIEROPT_HOST_DEVICE T recall(T m, step_scalars<T> const&) const {
    return m;
  }

  /// The bias correction. @param[in] beta1_power beta1^k @return 1 / (1 - beta1^k)
  TIEROPT_HOST_DEVICE static double update_gain(double beta1_power) {
    return div(1.0, add(1.0, -beta1_power));
  }
};

/// A part with a state to store.
template <class Part>
concept has_state_type = requires {
  typename Part::state_type;
};

/// What a part's operator gets for its state: T, or none.
template <class Part, class T>
using state_operand =
    cuda::std::conditional_t<cuda::std::is_same_v<typename Part::state_type, none>, none, T>;

/// A momentum part: see the head of this file.
template <class Part>
concept momentum_policy = has_state_type<Part> && cuda::std::is_empty_v<Part> &&
    requires(Part const part, state_operand<Part, float>& state, float g,
             step_scalars<float> const& s) {
  { part(state, g, s) } -> cuda::std::same_as<float>;
};

/// Whether a momentum part stores anything.
template <class Part>
inline constexpr bool keeps_momentum = !cuda::std::is_same_v<typename Part::state_type, none>;

/// A momentum part whose numerator can be formed again: it stores nothing, or has recall.
template <class Part>
concept recallable_momentum =
    !keeps_momentum<Part> || requires(Part const part, float m, step_scalars<float> const& s) {
  { part.recall(m, s) } -> cuda::std::same_as<float>;
};

/// The factor that a momentum part asks for.
/// @tparam Part momentum part
/// @param[in] beta1_power beta1^k
/// @return its update_gain, or 1
template <class Part>
TIEROPT_HOST_DEVICE double momentum_gain(double beta1_power) {
  if constexpr (requires { Part::update_gain(beta1_power); }) {
    return Part::update_gain(beta1_power);
  } else {
    return 1.0;
  }
}

}  // namespace v0_1
}  // namespace tieropt
