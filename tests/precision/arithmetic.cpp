// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The arithmetic of the library: one rounding an operation, fused where it says so.

#include <tieropt/precision/arithmetic.hpp>

#include "support/catch.hpp"

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace {

/// Values of a fixed generator: any finite bit pattern of T.
template <class T>
class finite_values {
 public:
  explicit finite_values(std::uint64_t seed) : state_{seed} {}
  T operator()() {
    for (;;) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      std::uint64_t const mixed = (state_ ^ (state_ >> 29)) * 0xBF58476D1CE4E5B9u;
      T x;
      std::memcpy(&x, reinterpret_cast<char const*>(&mixed) + 8 - sizeof(T), sizeof(T));
      if (std::isfinite(x)) return x;
    }
  }

 private:
  std::uint64_t state_;
};

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
}

}  // namespace

TEST_CASE("a product that feeds a sum is rounded first", "[precision]") {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last term is lost by a rounded product, kept by an fma.
  float const volatile x = 1.0f + 0x1p-12f;
  float const a = x;
  CHECK(tieropt::add(tieropt::mul(a, a), -1.0f) == 0x1p-11f);
  CHECK(tieropt::fma(a, a, -1.0f) == 0x1p-11f + 0x1p-24f);
  double const volatile y = 1.0 + 0x1p-27;
  double const b = y;
  CHECK(tieropt::add(tieropt::mul(b, b), -1.0) == 0x1p-26);
  CHECK(tieropt::fma(b, b, -1.0) == 0x1p-26 + 0x1p-54);
}

TEST_CASE("a product keeps the sign of zero", "[precision]") {
  CHECK(std::signbit(tieropt::mul(-0.0f, 1.0f)));
  CHECK_FALSE(std::signbit(tieropt::mul(-0.0f, -1.0f)));
  CHECK(std::signbit(tieropt::mul(-0.0, 1.0)));
  CHECK_FALSE(std::signbit(tieropt::mul(0x1p-100f, 0x1p-100f)));
  CHECK(std::signbit(tieropt::mul(-0x1p-100f, 0x1p-100f)));
}

TEST_CASE("float operations equal the double result rounded once", "[precision]") {
  // A product of two floats is exact in double; +, /, sqrt of floats are innocuous in double
  // (53 >= 2 * 24 + 2), so that rounding the double once is the correct rounding.
  finite_values<float> next{20260101};
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    float const a = next(), b = next(), c = std::fabs(a);
    double const x = a, y = b;
    if (!same(tieropt::mul(a, b), static_cast<float>(x * y))) ++wrong;
    if (!same(tieropt::add(a, b), static_cast<float>(x + y))) ++wrong;
    if (!same(tieropt::sqrt(c), static_cast<float>(std::sqrt(static_cast<double>(c))))) ++wrong;
    if (b != 0) {
      double const q = x / y;  // a subnormal quotient would be rounded twice
      if (std::fabs(q) >= 0x1p-126 && !same(tieropt::div(a, b), static_cast<float>(q))) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a quotient and a root are the nearest double", "[precision]") {
  // The residual of the nearest value is at most half an ulp: |a - q b| <= ulp(q) / 2 |b|.
  finite_values<double> next{20260102};
  auto const fraction = [&next] {  // in (-1, -0.5] or [0.5, 1): no exponent gets in the way
    int exponent = 0;
    return std::frexp(next(), &exponent);
  };
  int tried = 0;
  for (int i = 0; i < 200000; ++i) {
    double const a = fraction(), b = fraction(), r = std::fabs(a);
    if (a == 0 || b == 0) continue;
    ++tried;
    double const q = tieropt::div(a, b);
    double const half = std::ldexp(1.0, std::ilogb(q) - 53);
    REQUIRE(std::fabs(std::fma(-q, b, a)) <= half * std::fabs(b));
    double const s = tieropt::sqrt(r);
    double const half_s = std::ldexp(1.0, std::ilogb(s) - 53);
    REQUIRE(std::fabs(std::fma(-s, s, r)) <= 2 * half_s * s + half_s * half_s);
  }
  CHECK(tried > 190000);
}

TEST_CASE("the larger of two is the other one where one is NaN", "[precision]") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(tieropt::max(nan, 2.0f) == 2.0f);
  CHECK(tieropt::max(2.0f, nan) == 2.0f);
  CHECK(tieropt::max(-1.0f, -2.0f) == -1.0f);
  CHECK(tieropt::max(1.0, 3.0) == 3.0);
  CHECK(tieropt::bits(tieropt::max(-0.0f, 0.0f)) == 0);
  CHECK(tieropt::bits(tieropt::max(0.0f, -0.0f)) == 0);
  CHECK(tieropt::bits(tieropt::max(-0.0, 0.0)) == 0);
  CHECK(tieropt::bits(tieropt::max(-0.0f, -0.0f)) == 0x80000000u);
  CHECK(tieropt::is_nan(nan));
  CHECK_FALSE(tieropt::is_nan(std::numeric_limits<float>::infinity()));
}

TEST_CASE("narrowing rounds to nearest and widening is exact", "[precision]") {
  CHECK(tieropt::to<float>(1.0 + 0x1p-24) == 1.0f);
  CHECK(tieropt::to<float>(1.0 + 0x1p-24 + 0x1p-50) == 1.0f + 0x1p-23f);
  CHECK(tieropt::to<float>(1e300) == std::numeric_limits<float>::infinity());
  CHECK(tieropt::to<double>(0x1p-149f) == 0x1p-149);
}
