// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a stored element may be, by the definition of its format; includes no header of the
/// library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace testing::stored {

using std::int64_t;

/// How elements are stored. A quantised element is a code next to the scale of its group.
enum class kind {
  none,
  f64,
  f32,
  bf16,
  fp16,
  e4m3,
  e5m2,
  user,        ///< a user's struct with the bits of bf16
  softsign,    ///< k / (254 - k), k = 0 .. 127, and a sign
  root,        ///< (k / 254)^2, k = 0 .. 254
  block_e4m3,  ///< e4m3 times the scale
  block_e5m2,
};
/// Columns that share a scale.
inline constexpr int64_t group_size = 32;

constexpr bool is_quantised(kind k) { return k >= kind::softsign; }
constexpr bool is_wide(kind k) { return k == kind::f64 || k == kind::f32; }
constexpr bool has_bf16_bits(kind k) { return k == kind::bf16 || k == kind::user; }
constexpr kind element_of_block(kind k) {
  return k == kind::block_e4m3 ? kind::e4m3 : k == kind::block_e5m2 ? kind::e5m2 : k;
}
constexpr int size_of(kind k) {
  switch (k) {
    case kind::none: return 0;
    case kind::f64: return 8;
    case kind::f32: return 4;
    case kind::bf16:
    case kind::user:
    case kind::fp16: return 2;
    default: return 1;
  }
}

/// A binary format by its definition.
struct format {
  int precision;     ///< significant bits
  int min_exponent;  ///< of normal numbers
  int max_exponent;
  double largest;  ///< the largest finite value
  bool infinity;   ///< otherwise finite values saturate, and an infinity becomes NaN

  template <class Real>
  Real quantum(Real x) const {
    int const own = x == 0 ? min_exponent : std::max(std::ilogb(x), min_exponent);
    return std::ldexp(Real{1}, own - (precision - 1));
  }
  /// The largest value of the format that is not above a finite x.
  template <class Real>
  Real below(Real x) const {
    if (x > largest) return largest;
    if (x < -largest) return infinity ? -std::numeric_limits<Real>::infinity() : -largest;
    Real const q = quantum(x);
    return std::floor(x / q) * q;
  }
  template <class Real>
  Real above(Real x) const {
    return -below(-x);
  }
  /// The nearest value to a finite x, ties to even, in magnitude if `away`.
  template <class Real>
  Real nearest(Real x, bool away = false) const {
    Real const a = std::fabs(x), q = quantum(a), steps = a / q, low = std::floor(steps);
    Real const part = steps - low;
    bool const up =
        part > Real(0.5) || (part == Real(0.5) && (away || std::fmod(low, Real{2}) != 0));
    Real y = (up ? low + 1 : low) * q;
    if (y > largest) y = infinity ? std::numeric_limits<Real>::infinity() : Real(largest);
    return std::copysign(y, x);
  }
};

inline format format_of(kind k) {
  switch (element_of_block(k)) {
    case kind::f64: return {53, -1022, 1023, 0x1.fffffffffffffp1023, true};
    case kind::f32: return {24, -126, 127, 0x1.fffffep127, true};
    case kind::fp16: return {11, -14, 15, 65504, true};
    case kind::e4m3: return {4, -6, 8, 448, false};
    case kind::e5m2: return {3, -14, 15, 57344, true};
    default: return {8, -126, 127, 0x1.fep127, true};
  }
}

/// The value of a level of a map, in scales.
inline double softsign_level(int64_t k) {
  return static_cast<double>(k) / static_cast<double>(254 - k);
}
inline double root_level(int64_t k) {
  double const x = static_cast<double>(k) / 254;
  return x * x;
}

/// The bits of an element as a number.
inline std::uint64_t load_bits(void const* p, int size) {
  std::uint64_t u = 0;
  std::memcpy(&u, p, static_cast<std::size_t>(size));
  return u;
}
inline void store_bits(void* p, int size, std::uint64_t u) {
  std::memcpy(p, &u, static_cast<std::size_t>(size));
}

/// The value of a pattern of a small format, read off its fields.
inline double decode_small(kind k, std::uint64_t raw) {
  format const f = format_of(k);
  int const size = size_of(k) * 8, fraction_bits = f.precision - 1;
  std::uint64_t const magnitude = raw & ((std::uint64_t{1} << (size - 1)) - 1);
  auto const exponent = static_cast<int>(magnitude >> fraction_bits);
  auto const fraction = static_cast<double>(magnitude & ((1u << fraction_bits) - 1));
  double const sign = (raw >> (size - 1)) != 0 ? -1.0 : 1.0;
  double const one = std::ldexp(1.0, fraction_bits);
  double const value =
      exponent == 0 ? std::ldexp(fraction, f.min_exponent - fraction_bits)
                    : std::ldexp(one + fraction, f.min_exponent + exponent - 1 - fraction_bits);
  if (value <= f.largest) return sign * value;
  bool const is_infinite = f.infinity && fraction == 0;
  return is_infinite ? sign * std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
}

/// The value of an element; `scale` is that of its group.
inline double decode(kind k, void const* p, double scale = 1) {
  std::uint64_t const raw = load_bits(p, size_of(k));
  switch (k) {
    case kind::none: return 0;
    case kind::f64: {
      double x;
      std::memcpy(&x, p, sizeof x);
      return x;
    }
    case kind::f32: {
      float x;
      std::memcpy(&x, p, sizeof x);
      return x;
    }
    case kind::softsign: {
      auto const code = static_cast<std::int8_t>(raw);
      if (code == -128) return std::numeric_limits<double>::quiet_NaN();
      double const level = softsign_level(code < 0 ? -code : code) * scale;
      return code < 0 ? -level : level;
    }
    case kind::root:
      return raw == 255 ? std::numeric_limits<double>::quiet_NaN()
                        : root_level(static_cast<int64_t>(raw)) * scale;
    case kind::block_e4m3:
    case kind::block_e5m2: return raw == 0 ? 0 : decode_small(element_of_block(k), raw) * scale;
    default: return decode_small(k, raw);
  }
}

/// The pattern of the value of a plain format that is nearest to x. NaN is all ones without a sign.
inline std::uint64_t encode(kind k, double x) {
  if (std::isnan(x)) return ~std::uint64_t{0} >> (65 - 8 * size_of(k));
  if (k == kind::f64) {
    std::uint64_t u;
    std::memcpy(&u, &x, sizeof u);
    return u;
  }
  if (k == kind::f32) {
    float const y = static_cast<float>(x);
    std::uint32_t u;
    std::memcpy(&u, &y, sizeof u);
    return u;
  }
  format const f = format_of(k);
  int const size = size_of(k) * 8, fraction_bits = f.precision - 1;
  std::uint64_t const sign = std::signbit(x) ? std::uint64_t{1} << (size - 1) : 0;
  if (std::isinf(x) && !f.infinity) return encode(k, std::nan(""));
  double const y = std::isinf(x) ? std::fabs(x) : std::fabs(f.nearest(x));
  if (std::isinf(y)) {
    return sign | static_cast<std::uint64_t>(f.max_exponent - f.min_exponent + 2) << fraction_bits;
  }
  int const own = y == 0 ? f.min_exponent - 1 : std::ilogb(y);
  if (own < f.min_exponent) {
    return sign | static_cast<std::uint64_t>(std::ldexp(y, fraction_bits - f.min_exponent));
  }
  auto const fraction = static_cast<std::uint64_t>(std::ldexp(y, fraction_bits - own)) -
                        (std::uint64_t{1} << fraction_bits);
  return sign | static_cast<std::uint64_t>(own - f.min_exponent + 1) << fraction_bits | fraction;
}

/// An fp32 weight in two halves: the upper one is rounded to nearest, ties away from zero or to
/// even; the carry says whether it was rounded up in magnitude.
struct halves {
  std::uint16_t high, low;
  int carry;
};
inline halves split(float x, bool away) {
  if (std::isnan(x)) return {0x7fff, 0, 0};
  std::uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  std::uint32_t const low = u & 0xffffu, odd = (u >> 16) & 1u;
  bool const up = low > 0x8000u || (low == 0x8000u && (away || odd != 0));
  return {static_cast<std::uint16_t>((u >> 16) + (up ? 1 : 0)), static_cast<std::uint16_t>(low),
          up};
}
inline float join(std::uint16_t high, std::uint16_t low, int carry) {
  std::uint32_t const u =
      ((static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(carry)) << 16) | low;
  float x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}

/// The level of a group's map not above or not below a finite x.
template <class Real>
Real level_below(kind k, Real x, Real scale) {
  if (k != kind::softsign && k != kind::root) return format_of(k).below(x / scale) * scale;
  if (x < 0) {
    if (k == kind::root) return 0;
    Real const a = std::fmin(-x / scale, Real{1}),
               n = std::ceil(254 * a / (1 + a) * (1 - Real(1e-15)));
    return -n / (254 - n) * scale;
  }
  Real const a = std::fmin(x / scale, Real{1});
  if (k == kind::softsign) {
    Real const n = std::floor(254 * a / (1 + a) * (1 + Real(1e-15)));
    return n / (254 - n) * scale;
  }
  Real n = std::floor(254 * std::sqrt(a) * (1 + Real(1e-15)));
  if (x > 0 && n < 1) n = 1;  // never 0 for what is above it
  return n * n / (254 * 254) * scale;
}
template <class Real>
Real level_above(kind k, Real x, Real scale) {
  if (k != kind::root) return -level_below(k, -x, scale);
  if (x <= 0) return 0;
  Real const n = std::ceil(254 * std::sqrt(std::fmin(x / scale, Real{1})) * (1 - Real(1e-15)));
  return n * n / (254 * 254) * scale;
}

/// The largest level of a map, in scales.
inline double top_level(kind k) {
  return k == kind::softsign || k == kind::root ? 1 : format_of(k).largest;
}

/// Whether an element that holds `got` may be what a finite value in [low, high] was rounded to.
///
/// A stochastic rounding takes either neighbour. scale: of its group, for a quantised element.
template <class Real>
bool may_hold(kind k, Real got, Real low, Real high, bool nearest, Real scale = 1) {
  if (!is_quantised(k)) {
    format const f = format_of(k);
    if (nearest || is_wide(k)) return f.nearest(low) <= got && got <= f.nearest(high);
    return f.below(low) <= got && got <= f.above(high);
  }
  if (scale == 0) return got == 0 && low <= 0 && high >= 0;
  // The division by the scale and the map's formula are rounded, and double goes through float.
  Real const top = static_cast<Real>(top_level(k)) * scale;
  Real const widest = std::fmax(std::fabs(low), std::fabs(high));
  Real const slack = 8 * Real(0x1p-24) * widest + std::ldexp(Real{1}, -149);
  low = std::fmax(low - slack, -top), high = std::fmin(high + slack, top);
  Real const least = level_below(k, low, scale), most = level_above(k, high, scale);
  Real const fuzz = Real(1e-12) * std::fabs(got);
  if (!(got >= least - fuzz && got <= most + fuzz)) return false;
  bool const first = k == kind::root && got <= Real(1.01) / (254 * 254) * scale;
  if (!nearest || first) return true;  // the first level also serves what is nearer to 0
  Real const half_low = (level_above(k, low, scale) - least) / 2;
  Real const half_high = (most - level_below(k, high, scale)) / 2;
  return got + half_low >= low - slack - fuzz && got - half_high <= high + slack + fuzz;
}

/// Whether a group of which the largest finite magnitude lies in [low, high] may have a scale.
template <class Real>
bool may_scale(kind k, Real got, Real low, Real high) {
  if (got == 0) return low <= 0;
  Real const fuzz = 4 * Real(0x1p-24), top = static_cast<Real>(top_level(k));
  Real const least = std::fmax(low / top * (1 - fuzz) - std::ldexp(Real{1}, -149), Real(0x1p-126));
  Real const most = std::fmax(high / top * (1 + fuzz) + std::ldexp(Real{1}, -149), Real(0x1p-126));
  return high > 0 && got >= least && got <= most;
}

}  // namespace testing::stored
