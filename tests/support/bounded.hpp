// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A number with how far another computation of it may be off; includes no header of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace testing {

/// A value, and the largest error of a computation in the type that the tests examine: float next
/// to double, double next to long double.
///
/// Every operation adds one rounding of its own result, u |x|, to what its operands bring along;
/// products and quotients may also underflow. An exact zero stays one.
template <class Real>
struct bounded {
  static constexpr bool narrow = std::is_same_v<Real, double>;
  /// Unit roundoff of the examined type, and half of its smallest number.
  static constexpr Real unit = narrow ? Real(0x1p-24) : Real(0x1p-53);
  static constexpr Real least = narrow ? Real(0x1p-150) : Real(0x1p-1000L * 0x1p-75L);

  Real value = 0;
  Real error = 0;

  constexpr bounded() = default;
  constexpr bounded(Real exact) : value{exact} {}
  constexpr bounded(Real v, Real e) : value{v}, error{e} {}

  /// Whether it is off zero, whatever the error.
  bool is_nonzero() const { return std::fabs(value) > error; }
  bool is_zero() const { return value == 0 && error == 0; }
  /// The same with the error of n more roundings.
  bounded rounded(int n = 1) const {
    return {value, error + static_cast<Real>(n) * unit * std::fabs(value)};
  }
  /// The same in a state whose unit roundoff is larger, or 0.
  bounded stored(double state_unit) const {
    if (state_unit == 0 || is_zero()) return *this;
    return {value, error + static_cast<Real>(state_unit) * std::fabs(value) + Real(0x1p-150)};
  }

  bounded operator-() const { return {-value, error}; }
  friend bounded operator+(bounded a, bounded b) {
    Real const v = a.value + b.value;
    return {v, a.error + b.error + unit * std::fabs(v)};
  }
  friend bounded operator-(bounded a, bounded b) { return a + -b; }
  friend bounded operator*(bounded a, bounded b) {
    if (a.is_zero() || b.is_zero()) return {};
    Real const v = a.value * b.value, magnitude = std::fabs(v);
    return {v, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error +
                   unit * magnitude + least};
  }
  friend bounded operator/(bounded a, bounded b) {
    if (a.is_zero()) return {};
    Real const v = a.value / b.value, magnitude = std::fabs(v), left = std::fabs(b.value) - b.error;
    if (!(left > 0)) return {v, std::numeric_limits<Real>::infinity()};
    return {v, (a.error + magnitude * b.error) / left + unit * magnitude + least};
  }
  friend bounded sqrt(bounded a) {
    if (a.is_zero()) return {};
    Real const v = std::sqrt(a.value), low = a.value > a.error ? a.value - a.error : Real{0};
    return {v, std::fmin(a.error / (v + std::sqrt(low)), std::sqrt(a.error)) + unit * v};
  }
  friend bounded max(bounded a, bounded b) {
    return {std::fmax(a.value, b.value), std::fmax(a.error, b.error)};
  }
};

/// A sum of which every addend goes through a known number of roundings.
template <class Real>
struct bounded_sum {
  Real value = 0, error = 0, magnitude = 0;

  void add(bounded<Real> x) {
    value += x.value;
    error += x.error;
    magnitude += std::fabs(x.value);
  }
  bounded<Real> total(int roundings) const {
    return {value, error + static_cast<Real>(roundings) * bounded<Real>::unit * magnitude};
  }
};

/// Binary logarithm, rounded up.
inline int depth_of(std::int64_t n) {
  int d = 0;
  while ((std::int64_t{1} << d) < n) ++d;
  return d;
}
inline std::int64_t blocks_of(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }
/// Roundings on the way of one addend through a running sum of n, at most `most` values; the first
/// is added to 0, which is exact.
inline int run_roundings(std::int64_t n, std::int64_t most) {
  return static_cast<int>(std::max<std::int64_t>(std::min(n, most) - 1, 0));
}
/// The same through the tree of neighbours; adding zeros is exact.
inline int tree_roundings(std::int64_t n, std::int64_t most) { return depth_of(std::min(n, most)); }
/// The same through a sum of n values in row order: 4 running sums of the columns equal mod 256,
/// the tree of 256, the tree of segments of 1,024.
inline int row_sum_roundings(std::int64_t n) {
  return run_roundings(blocks_of(n, 256), 4) + tree_roundings(n, 256) +
         depth_of(blocks_of(n, 1024));
}
/// The same in column order: 16 rows of a leaf, 8 leaves, tiles of 128 rows.
inline int col_sum_roundings(std::int64_t n) {
  return run_roundings(n, 16) + tree_roundings(blocks_of(n, 16), 8) + depth_of(blocks_of(n, 128));
}
/// The same over n matrices: the rows of a segment, the leaves of a tile, the tiles.
inline int norm_roundings(std::int64_t R, std::int64_t C, std::int64_t n) {
  return row_sum_roundings(std::min<std::int64_t>(C, 1024)) +
         col_sum_roundings(std::min<std::int64_t>(R, 128)) +
         row_sum_roundings(blocks_of(R, 128) * blocks_of(C, 1024) * n);
}

}  // namespace testing
