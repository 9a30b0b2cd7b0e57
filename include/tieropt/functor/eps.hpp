// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where eps goes: it decides what the denominator of the update is. Layer: functor.
///
/// An eps part says, for numbers only:
/// - `default_value`; `separable`: whether the factored denominator is a product of row and column;
/// - `square_offset(s)`: what is added to the squared gradient before it is averaged;
/// - `mean_floor<T>()`: the least value of the mean of the row factors;
/// - exact: `radicand(v, s)`, then `quotient(m, root, s)` with the root of the radicand;
/// - factored: `row(r, mean, s)` and `col(c, s)`, then `factored_quotient(m, row, col, s)`, which
///   leaves the row out where separable: the kernel applies it once per row;
/// - `update_gain(beta2_power)`: the part of the bias correction that is outside the root.
#pragma once

#include <tieropt/functor/step_scalars.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The smallest normal number: keeps 0 / 0 out of the row ratio.
/// @tparam T compute type @return 2^-126 or 2^-1022
template <class T>
TIEROPT_HOST_DEVICE constexpr T smallest_normal() {
  if constexpr (sizeof(T) == 4) {
    return T(0x1p-126);
  } else {
    return T(0x1p-1022);
  }
}

/// Eps parts whose denominator is the root alone: row and column values are reciprocals of roots.
struct root_denominator {
  static constexpr bool separable = true;  ///< 1/sqrt(row) times 1/sqrt(col)

  /// The update. @tparam T compute type @param[in] m numerator @param[in] root of the radicand
  /// @return m / root
  template <class T>
  TIEROPT_HOST_DEVICE static T quotient(T m, T root, step_scalars<T> const&) {
    return div(m, root);
  }
  /// The update without its row. @tparam T compute type @param[in] m numerator
  /// @param[in] col column value @return m col
  template <class T>
  TIEROPT_HOST_DEVICE static T factored_quotient(T m, T, T col, step_scalars<T> const&) {
    return mul(m, col);
  }
};

/// Inside the average, Adafactor's eps1: S = g^2 + eps, v / (1 - beta2^k) (arXiv 1804.04235, alg.
/// 4).
struct inside_eps : root_denominator {
  static constexpr double default_value = 1e-30;  ///< Adafactor's

  /// Added to the square. @tparam T compute type @param[in] s scalars @return eps
  template <class T>
  TIEROPT_HOST_DEVICE static T square_offset(step_scalars<T> const& s) {
    return s.eps;
  }
  /// Least mean of the row factors. @tparam T compute type @return the smallest normal number
  template <class T>
  TIEROPT_HOST_DEVICE static T mean_floor() {
    return smallest_normal<T>();
  }
  /// What goes under the root. @tparam T compute type @param[in] v second moment
  /// @param[in] s scalars @return v / (1 - beta2^k)
  template <class T>
  TIEROPT_HOST_DEVICE static T radicand(T v, step_scalars<T> const& s) {
    return mul(v, s.correction2);
  }
  /// Value of a row; two roots, since the ratio of a row without gradients can underflow.
  /// @tparam T compute type @param[in] r row factor @param[in] mean of the row factors
  /// @param[in] s scalars @return 1 / sqrt(r / mean / (1 - beta2^k))
  template <class T>
  TIEROPT_HOST_DEVICE static T row(T r, T mean, step_scalars<T> const& s) {
    return div(sqrt(mean), sqrt(mul(r, s.correction2)));
  }
  /// Value of a column. @tparam T compute type @param[in] c column factor @return 1 / sqrt(c)
  template <class T>
  TIEROPT_HOST_DEVICE static T col(T c, step_scalars<T> const&) {
    return div(T(1), sqrt(c));
  }
  /// Correction outside the root. @return 1
  TIEROPT_HOST_DEVICE static double update_gain(double) { return 1.0; }
};

/// Floors under the root of moments that are not bias-corrected, as SkewAdam is published
/// (arXiv 2607.19058 and its code): sqrt(max(V, eps)); factored: sqrt(max(R / max(mean R, 1e-15),
/// eps)) sqrt(max(C, eps)). The correction sqrt(1 - beta2^k) is in the step.
struct floored_eps : root_denominator {
  static constexpr double default_value = 1e-8;  ///< SkewAdam's

  /// Added to the square. @tparam T compute type @return 0
  template <class T>
  TIEROPT_HOST_DEVICE static T square_offset(step_scalars<T> const&) {
    return T(0);
  }
  /// Least mean of the row factors. @tparam T compute type @return 1e-15
  template <class T>
  TIEROPT_HOST_DEVICE static T mean_floor() {
    return T(1e-15);
  }
  /// What goes under the root. @tparam T compute type @param[in] v second moment
  /// @param[in] s scalars @return max(v, eps)
  template <class T>
  TIEROPT_HOST_DEVICE static T radicand(T v, step_scalars<T> const& s) {
    return max(v, s.eps);
  }
  /// Value of a row. @tparam T compute type @param[in] r row factor
  /// @param[in] mean of the row factors @param[in] s scalars @return 1 / sqrt(max(r / mean, eps))
  template <class T>
  TIEROPT_HOST_DEVICE static T row(T r, T mean, step_scalars<T> const& s) {
    return div(T(1), sqrt(max(div(r, mean), s.eps)));
  }
  /// Value of a column. @tparam T compute type @param[in] c column factor @param[in] s scalars
  /// @return 1 / sqrt(max(c, eps))
  template <class T>
  TIEROPT_HOST_DEVICE static T col(T c, step_scalars<T> const& s) {
    return div(T(1), sqrt(max(c, s.eps)));
  }
  /// Correction outside the root. @param[in] beta2_power beta2^k @return sqrt(1 - beta2^k)
  TIEROPT_HOST_DEVICE static double update_gain(double beta2_power) {
    return sqrt(add(1.0, -beta2_power));
  }
};

/// Added to the root, Adam's: m / (sqrt(v / (1 - beta2^k)) + eps) (arXiv 1412.6980, alg. 1).
struct added_eps {
  static constexpr double default_value = 1e-8;  ///< Adam's
  static constexpr bool separable = false;       ///< a sum is no product

  /// Added to the square. @tparam T compute type @return 0
  template <class T>
  TIEROPT_HOST_DEVICE static T square_offset(step_scalars<T> const&) {
    return T(0);
  }
  /// Least mean of the row factors. @tparam T compute type @return the smallest normal number
  template <class T>
  TIEROPT_HOST_DEVICE static T mean_floor() {
    return smallest_normal<T>();
  }
  /// What goes under the root. @tparam T compute type @param[in] v second moment @return v
  template <class T>
  TIEROPT_HOST_DEVICE static T radicand(T v, step_scalars<T> const&) {
    return v;
  }
  /// The update. @tparam T compute type @param[in] m numerator @param[in] root of v
  /// @param[in] s scalars @return m / (root / sqrt(1 - beta2^k) + eps)
  template <class T>
  TIEROPT_HOST_DEVICE static T quotient(T m, T root, step_scalars<T> const& s) {
    return div(m, fma(root, s.root_correction2, s.eps));
  }
  /// Value of a row. @tparam T compute type @param[in] r row factor
  /// @param[in] mean of the row factors @param[in] s scalars
  /// @return sqrt(r / mean / (1 - beta2^k))
  template <class T>
  TIEROPT_HOST_DEVICE static T row(T r, T mean, step_scalars<T> const& s) {
    return mul(div(sqrt(r), sqrt(mean)), s.root_correction2);
  }
  /// Value of a column. @tparam T compute type @param[in] c column factor @return sqrt(c)
  template <class T>
  TIEROPT_HOST_DEVICE static T col(T c, step_scalars<T> const&) {
    return sqrt(c);
  }
  /// The update. @tparam T compute type @param[in] m numerator @param[in] row row value
  /// @param[in] col column value @param[in] s scalars @return m / (row col + eps)
  template <class T>
  TIEROPT_HOST_DEVICE static T factored_quotient(T m, T row, T col, step_scalars<T> const& s) {
    return div(m, fma(row, col, s.eps));
  }
  /// Correction outside the root. @return 1
  TIEROPT_HOST_DEVICE static double update_gain(double) { return 1.0; }
};

/// An eps part: see the head of this file.
template <class Part, class T = float>
concept eps_policy = requires(T x, step_scalars<T> const& s) {
  { Part::default_value } -> cuda::std::convertible_to<double>;
  { Part::separable } -> cuda::std::convertible_to<bool>;
  { Part::square_offset(s) } -> cuda::std::same_as<T>;
  { Part::template mean_floor<T>() } -> cuda::std::same_as<T>;
  { Part::radicand(x, s) } -> cuda::std::same_as<T>;
  { Part::quotient(x, x, s) } -> cuda::std::same_as<T>;
  { Part::row(x, x, s) } -> cuda::std::same_as<T>;
  { Part::col(x, s) } -> cuda::std::same_as<T>;
  { Part::factored_quotient(x, x, x, s) } -> cuda::std::same_as<T>;
  { Part::update_gain(0.5) } -> cuda::std::same_as<double>;
};

}  // namespace v0_1
}  // namespace tieropt
