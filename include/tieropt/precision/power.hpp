// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Powers with the same bits on every side: pow differs between host and device. Layer: precision.
#pragma once

#include <tieropt/precision/arithmetic.hpp>

namespace tieropt {
inline namespace v0_1 {

/// b^k, rounded once: repeated squaring of pairs of doubles, the same bits on host and device.
///
/// pow differs between the two, and plain squaring is a few ulps off, which 1 - b^k magnifies.
/// @param[in] b base
/// @param[in] k exponent, at least 0
/// @return the double nearest to b^k, but for rare ties
TIEROPT_HOST_DEVICE double power(double b, int64_t k) {
  struct pair {
    double high, low;  // their sum is the value
  };
  auto const product = [](pair x, pair y) {
    double const p = mul(x.high, y.high);
    double const rest = fma(x.low, y.high, fma(x.high, y.low, fma(x.high, y.high, -p)));
    double const high = add(p, rest);
    return pair{high, add(add(p, -high), rest)};
  };
  pair result{1, 0}, square{b, 0};
  for (; k > 0; k >>= 1) {
    if (k & 1) result = product(result, square);
    square = product(square, square);
  }
  return result.high;
}

/// x^y for a positive normal x, within a unit in the last place for |y log x| up to 50: k^-y of any
/// step for y up to 1.
///
/// exp(y log x) with logarithm and exponent carried as pairs of doubles; log x = 2 atanh((x - 1) /
/// (x + 1)) near 1, by its series.
/// @param[in] x base, positive and normal
/// @param[in] y exponent
/// @return x^y; 0 below 2^-1021 and infinity above 2^1022
TIEROPT_HOST_DEVICE double real_power(double x, double y) {
  constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;  // 32 + 53 bits
  constexpr double inverse_ln2 = 0x1.71547652b82fep+0, whole = 0x1.8p52;
  constexpr uint64_t fraction = (uint64_t{1} << 52) - 1;
  auto const sum = [](double a, double b, double& rest) {  // |a| >= |b|, or a = 0
    double const s = add(a, b);
    rest = add(b, -add(s, -a));
    return s;
  };
  // x = 2^e m with m in [0.7, 1.4]
  uint64_t const u = bits(x);
  auto e = static_cast<double>(static_cast<int64_t>(u >> 52) - 1023);
  double m = from_bits((u & fraction) | (uint64_t{1023} << 52));
  if (m > 0x1.6a09e667f3bcdp+0) {
    m = mul(m, 0.5);
    e = add(e, 1.0);
  }
  // s = (m - 1) / (m + 1)
  double divisor_rest, n = add(m, -1.0);
  double const divisor = m > 1 ? sum(m, 1.0, divisor_rest) : sum(1.0, m, divisor_rest);
  double const s = div(n, divisor);
  double const s_rest = div(fma(-s, divisor_rest, fma(-s, divisor, n)), divisor);
  // 2 atanh(s) = 2 s (1 + z / 3 + z^2 / 5 + ...)
  double const z = mul(s, s);
  double series = 1.0 / 25;
  for (int i = 23; i >= 3; i -= 2) series = fma(series, z, div(1.0, static_cast<double>(i)));
  double low;
  double const high = sum(mul(e, ln2_high), mul(2.0, s), low);
  low = add(low, fma(e, ln2_low, mul(2.0, fma(s, mul(z, series), s_rest))));
  double log_rest;
  double const log = sum(high, low, log_rest);
  // y log x = n ln 2 + r
  double const p = mul(y, log), p_rest = fma(y, log_rest, fma(y, log, -p));
  n = add(add(mul(p, inverse_ln2), whole), -whole);
  if (!(n >= -1021)) return n != n ? n : 0.0;
  if (n > 1022) return from_bits(uint64_t{2047} << 52);
  double r_rest;
  double const r = sum(fma(-n, ln2_high, p), fma(-n, ln2_low, p_rest), r_rest);
  // exp(r) = 1 + r + r^2 (1 / 2 + r / 6 + ...)
  double tail = 1.0;
  for (int i = 15; i >= 3; --i) tail = fma(tail, div(r, static_cast<double>(i)), 1.0);
  double const result = add(1.0, add(r, fma(mul(r, r), mul(0.5, tail), r_rest)));
  return mul(result, from_bits(static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52));
}

}  // namespace v0_1
}  // namespace tieropt
