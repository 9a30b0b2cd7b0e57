// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Binary floating-point formats by their definition: rounding and bit patterns without any bit
/// trick.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace testing {

/// An IEEE-like format: `precision` significant bits, normal exponents `min_exponent` to
/// `max_exponent`.
struct binary_format {
  int precision;
  int min_exponent;
  int max_exponent;

  /// The distance of the format's neighbours around a finite x (inside x's own binade).
  template <class Real>
  Real quantum(Real x) const {
    int exponent = min_exponent;
    if (x != Real{0}) {
      int const own = std::ilogb(x);
      if (own > exponent) exponent = own;
    }
    return std::ldexp(Real{1}, exponent - (precision - 1));
  }
  template <class Real>
  Real largest() const {
    return std::ldexp(Real{2} - std::ldexp(Real{1}, 1 - precision), max_exponent);
  }
  /// The smallest positive value.
  template <class Real>
  Real smallest() const {
    return std::ldexp(Real{1}, min_exponent - (precision - 1));
  }
  template <class Real>
  bool represents(Real x) const {
    if (std::isnan(x) || std::isinf(x)) return true;
    Real const steps = x / quantum(x);
    return steps == std::trunc(steps) && std::fabs(x) <= largest<Real>();
  }
  /// The largest representable value that is not above x; minus infinity below the range.
  template <class Real>
  Real below(Real x) const {
    if (std::isnan(x) || std::isinf(x)) return x;
    if (x < -largest<Real>()) return -std::numeric_limits<Real>::infinity();
    if (x > largest<Real>()) return largest<Real>();
    Real const q = quantum(x);
    return std::copysign(std::floor(x / q) * q, x);
  }
  /// The smallest representable value that is not below x; infinity above the range.
  template <class Real>
  Real above(Real x) const {
    return -below(-x);
  }
  /// To the nearest representable value, ties to the even one, overflow to infinity.
  template <class Real>
  Real nearest(Real x) const {
    if (std::isnan(x) || std::isinf(x)) return x;
    Real const q = quantum(x);
    Real const steps = x / q;  // exact: a power of two
    Real const low = std::floor(steps);
    Real const part = steps - low;
    bool const odd = std::fmod(low, Real{2}) != Real{0};
    Real const near = part > Real{0.5} || (part == Real{0.5} && odd) ? low + 1 : low;
    Real const y = std::copysign(near * q, x);
    if (std::fabs(y) > largest<Real>()) {
      return std::copysign(std::numeric_limits<Real>::infinity(), x);
    }
    return y;
  }
};

inline constexpr binary_format bf16_format{8, -126, 127};
inline constexpr binary_format fp16_format{11, -14, 15};
inline constexpr binary_format fp32_format{24, -126, 127};
inline constexpr binary_format fp64_format{53, -1022, 1023};

/// The value of a 16-bit pattern, read off its fields.
inline double decode16(binary_format f, std::uint16_t raw) {
  int const fraction_bits = f.precision - 1;
  int const fraction = raw & ((1 << fraction_bits) - 1);
  int const exponent = (raw & 0x7FFF) >> fraction_bits;
  double const sign = (raw & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == f.max_exponent + 1 - f.min_exponent + 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, f.min_exponent - fraction_bits);
  return sign *
         std::ldexp((1 << fraction_bits) + fraction, f.min_exponent + exponent - 1 - fraction_bits);
}

/// The 16-bit pattern of a representable value; NaN is the all-ones pattern with a clear sign.
inline std::uint16_t encode16(binary_format f, double x) {
  if (std::isnan(x)) return 0x7FFF;
  int const fraction_bits = f.precision - 1;
  int const sign = std::signbit(x) ? 0x8000 : 0;
  int const top = f.max_exponent - f.min_exponent + 2;
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | (top << fraction_bits));
  double const a = std::fabs(x);
  int exponent = 0;
  double steps = std::ldexp(a, fraction_bits - f.min_exponent);
  if (a != 0 && std::ilogb(a) >= f.min_exponent) {
    exponent = std::ilogb(a) - f.min_exponent + 1;
    steps = std::ldexp(a, fraction_bits - std::ilogb(a)) - std::ldexp(1.0, fraction_bits);
  }
  return static_cast<std::uint16_t>(sign | (exponent << fraction_bits) | static_cast<int>(steps));
}

}  // namespace testing
