// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// First moments: what the update's numerator is. Layer: functor.
///
/// A part of a user's own is any empty type with a `state_type` and
/// `template <class T> T operator()(T& state, T grad, step_scalars<T> const&) const`, which updates
/// the state and returns the numerator. Optional members:
/// - `template <class T> T recall(T state, step_scalars<T> const&) const`: the numerator from the
///   stored state. A clipped tier measures the update in one pass and applies it in the next: with
///   this member it reads the state back, without it the gradient a second time.
/// - `static double update_gain(double beta1, double beta1_power)`: factor of the update for beta1
///   and beta1^k, which is 0 where the tier corrects no first moment (default 1).
#pragma once

#include <tieropt/functor/state.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Whether a part's update_gain, if there is one, is of (beta1, beta1_power).
template <class Part>
concept sound_update_gain = !requires {
  &Part::update_gain;
}
|| requires {
  { Part::update_gain(0.5, 0.5) } -> cuda::std::same_as<double>;
};

/// A momentum part: see the head of this file.
template <class Part, class T = float>
concept momentum_policy =
    has_state_type<Part> && cuda::std::is_empty_v<Part> && sound_update_gain<Part> &&
    !updates_a_copy<Part, T> &&
    requires(Part const part, state_operand<Part, T>& state, T g, step_scalars<T> const& s) {
  { part(state, g, s) } -> cuda::std::same_as<T>;
};

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
  TIEROPT_HOST_DEVICE static double update_gain(double, double beta1_power) {
    return div(1.0, add(1.0, -beta1_power));
  }
};

/// M <- beta1 M + g (Polyak's heavy ball, 1964; SGD with momentum, without dampening).
/// @tparam State how M is stored
template <class State = float>
struct heavy_ball_momentum {
  using state_type = State;  ///< one element per weight

  /// The numerator. @tparam T compute type @param[in,out] m momentum @param[in] g gradient
  /// @param[in] s scalars @return the new m
  template <class T>
  TIEROPT_HOST_DEVICE T operator()(T& m, T g, step_scalars<T> const& s) const {
    m = fma(s.beta1, m, g);
    return m;
  }

  /// The numerator again. @tparam T compute type @param[in] m momentum @return m
  template <class T>
  TIEROPT_HOST_DEVICE T recall(T m, step_scalars<T> const&) const {
    return m;
  }
};

/// Reads with one beta, stores with the other: the numerator is beta1 M + (1 - beta1) g, then
/// M <- beta2 M + (1 - beta2) g (Lion, arXiv 2302.06675, alg. 2).
/// @tparam State how M is stored
template <class State = float>
struct lion_momentum {
  using state_type = State;  ///< one element per weight

  /// The numerator. @tparam T compute type @param[in,out] m momentum @param[in] g gradient
  /// @param[in] s scalars @return beta1 m + (1 - beta1) g, of the old m
  template <class T>
  TIEROPT_HOST_DEVICE T operator()(T& m, T g, step_scalars<T> const& s) const {
    T const numerator = fma(s.one_minus_beta1, g, mul(s.beta1, m));
    m = fma(s.one_minus_beta2, g, mul(s.beta2, m));
    return numerator;
  }
};

/// The factor that a momentum part asks for.
/// @tparam Part momentum part
/// @param[in] beta1 decay
/// @param[in] beta1_power beta1^k, or 0
/// @return its update_gain, or 1
template <class Part>
TIEROPT_HOST_DEVICE double momentum_gain(double beta1, double beta1_power) {
  if constexpr (requires { Part::update_gain(beta1, beta1_power); }) {
    return Part::update_gain(beta1, beta1_power);
  } else {
    return 1.0;
  }
}

/// Looks one step ahead: the numerator is what the momentum's own rule makes of its new state and
/// the same gradient, beta1 M + (1 - beta1) g for an average (Nesterov 1983; as in Muon and SGD).
/// @tparam Momentum the momentum that is stored
template <class Momentum>
struct nesterov {
  static_assert(momentum_policy<Momentum>,
                "[tieropt-nesterov] nesterov looks ahead with a momentum: give it one, such as "
                "ema_momentum<float>; see tieropt/functor/momentum.hpp");

  using state_type = typename Momentum::state_type;  ///< the momentum's

  /// The numerator. @tparam T compute type @param[in,out] m momentum @param[in] g gradient
  /// @param[in] s scalars @return the momentum's rule once more, not stored
  template <class T>
  TIEROPT_HOST_DEVICE T operator()(T& m, T g, step_scalars<T> const& s) const {
    Momentum{}(m, g, s);
    T ahead = m;
    return Momentum{}(ahead, g, s);
  }

  /// The bias correction of the state that was not stored. @param[in] beta1 decay
  /// @param[in] beta1_power beta1^k @return the momentum's, for beta1^(k + 1)
  TIEROPT_HOST_DEVICE static double update_gain(double beta1, double beta1_power) {
    return momentum_gain<Momentum>(beta1, mul(beta1, beta1_power));
  }
};

/// The momentum takes the gradient in; its numerator is what is divided by the root (Adam's way).
struct of_gradient {
  static constexpr bool takes_update = false;  ///< the first of the moments
};

/// The momentum takes in the update after clip and learning rate, and gives what is subtracted:
/// M <- beta1 M + (1 - beta1) lr U (Adafactor with beta1, arXiv 1804.04235, as implemented).
struct of_update {
  static constexpr bool takes_update = true;  ///< the last thing before the weight
};

/// A momentum_input.
template <class Part>
concept momentum_input_policy = requires {
  { Part::takes_update } -> cuda::std::convertible_to<bool>;
};

/// Whether a momentum part stores anything.
template <class Part>
inline constexpr bool keeps_momentum = !cuda::std::is_same_v<typename Part::state_type, none>;

/// A momentum part whose numerator can be formed again from what is stored.
template <class Part>
concept recallable_momentum = requires(Part const part, float m, step_scalars<float> const& s) {
  { part.recall(m, s) } -> cuda::std::same_as<float>;
};

}  // namespace v0_1
}  // namespace tieropt
