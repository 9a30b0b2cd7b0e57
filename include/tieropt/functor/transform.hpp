// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What becomes of the update, element by element, before it is clipped. Layer: functor.
///
/// A transform of a user's own is an empty type with
/// - `template <class T> static T apply(T update, T grad)`;
/// - `static constexpr bool homogeneous`: whether apply(a u, g) = a apply(u, g) for a > 0. Factors
/// of
///   the whole update or of a row may then be multiplied in afterwards;
/// - `static constexpr bool reads_grad`: whether it looks at the gradient.
#pragma once

#include <tieropt/precision/arithmetic.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// The update stays.
struct no_transform {
  static constexpr bool homogeneous = true;  ///< scales with the update
  static constexpr bool reads_grad = false;  ///< the update alone
  /// The update. @tparam T compute type @param[in] u update @return u
  template <class T>
  TIEROPT_HOST_DEVICE static T apply(T u, T) {
    return u;
  }
};

/// The update's sign, 0 of 0 (signSGD, arXiv 1802.04434; Lion, arXiv 2302.06675).
struct sign_update {
  static constexpr bool homogeneous = false;  ///< of size 1, whatever the update
  static constexpr bool reads_grad = false;   ///< the update alone
  /// The sign. @tparam T compute type @param[in] u update @return -1, 0 or 1; NaN of NaN
  template <class T>
  TIEROPT_HOST_DEVICE static T apply(T u, T) {
    return is_zero(u) || is_nan(u) ? u : unit_of(u);
  }
};

/// The update where it agrees with the gradient, else 0 (cautious optimizers, arXiv 2411.16085);
/// with cautious_scale as its clip, what is left makes up for what is gone.
struct cautious_update {
  static constexpr bool homogeneous = true;  ///< scales with the update
  static constexpr bool reads_grad = true;   ///< agrees with it, or not
  /// The masked update. @tparam T compute type @param[in] u update @param[in] g gradient
  /// @return u if u and g have one sign, else 0; NaN of NaN
  template <class T>
  TIEROPT_HOST_DEVICE static T apply(T u, T g) {
    bool const agree = !is_zero(g) && !is_nan(g) && bits(unit_of(u)) == bits(unit_of(g));
    return agree || is_nan(u) || is_zero(u) ? u : T(0);
  }
};

/// A transform: see the head of this file.
template <class Part, class T = float>
concept transform_policy = cuda::std::is_empty_v<Part> && requires(T x) {
  { Part::homogeneous } -> cuda::std::convertible_to<bool>;
  { Part::reads_grad } -> cuda::std::convertible_to<bool>;
  { Part::apply(x, x) } -> cuda::std::same_as<T>;
};

}  // namespace v0_1
}  // namespace tieropt
