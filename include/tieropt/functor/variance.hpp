// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Second moments: exact per element, or factored into rows and columns. Layer: functor.
///
/// A part of a user's own is any empty type with a `state_type`, `static constexpr bool factored`
/// and `template <class T> void operator()(T& state, T square, step_scalars<T> const&) const`.
/// It is called per element with the squared gradient (exact), or per row and per column with the
/// mean square (factored).
#pragma once

#include <tieropt/functor/state.hpp>

namespace tieropt {
inline namespace v0_1 {

/// V <- beta2 V + (1 - beta2) g^2 for every element (Adam, arXiv 1412.6980, alg. 1).
/// @tparam State how V is stored
template <class State = float>
struct exact_variance {
  using state_type = State;                ///< one element per weight
  static constexpr bool factored = false;  ///< per element

  /// Blends a square in. @tparam T compute type @param[in,out] v second moment
  /// @param[in] square squared gradient @param[in] s scalars
  template <class T>
  TIEROPT_HOST_DEVICE void operator()(T& v, T square, step_scalars<T> const& s) const {
    v = fma(s.beta2, v, mul(s.one_minus_beta2, square));
  }
};

/// The same average of the mean squares of rows and columns: v_rc = R_r C_c / mean(R)
/// (Adafactor, arXiv 1804.04235, alg. 4).
/// @tparam State how R and C are stored
template <class State = float>
struct factored_variance {
  using state_type = State;               ///< R + C elements per (R, C) matrix
  static constexpr bool factored = true;  ///< per row and column

  /// Blends a mean square in. @tparam T compute type @param[in,out] v factor
  /// @param[in] square mean square @param[in] s scalars
  template <class T>
  TIEROPT_HOST_DEVICE void operator()(T& v, T square, step_scalars<T> const& s) const {
    exact_variance<State>{}(v, square, s);
  }
};

/// No second moment: the update is its numerator, and eps has no effect (Lion, SGD, Muon).
struct no_variance {
  using state_type = none;                 ///< nothing is stored
  static constexpr bool factored = false;  ///< nothing is

  /// Never called. @tparam T compute type
  template <class T>
  TIEROPT_HOST_DEVICE void operator()(none&, T, step_scalars<T> const&) const {}
};

/// As vector_variance of a factored tier: tensors below rank 2 are an error.
struct refuse {
  using state_type = float;                ///< never stored
  static constexpr bool factored = false;  ///< takes the place of an exact variance

  /// Never called. @tparam T compute type
  template <class T>
  TIEROPT_HOST_DEVICE void operator()(T&, T, step_scalars<T> const&) const {}
};

/// Whether a variance part stores anything.
template <class Part>
inline constexpr bool keeps_variance = !cuda::std::is_same_v<typename Part::state_type, none>;

/// A variance part: see the head of this file.
template <class Part, class T = float>
concept variance_policy = requires {
  typename Part::state_type;
  { Part::factored } -> cuda::std::convertible_to<bool>;
}
&&cuda::std::is_empty_v<Part> && !updates_a_copy<Part, T> &&
    requires(Part const part, state_operand<Part, T>& state, T square, step_scalars<T> const& s) {
  { part(state, square, s) } -> cuda::std::same_as<void>;
};

}  // namespace v0_1
}  // namespace tieropt
