// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stochastic rounding is exact: up with the probability of the fraction, and never anywhere else.

#include <tieropt/precision/random.hpp>
#include <tieropt/precision/storage.hpp>

#include "support/catch.hpp"
#include "support/exact_format.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

template <class T>
testing::binary_format const format_of{};
template <>
testing::binary_format const format_of<tieropt::bf16> = testing::bf16_format;
template <>
testing::binary_format const format_of<tieropt::fp16> = testing::fp16_format;

template <class T>
std::uint16_t raw_of(T x) {
  std::uint16_t raw;
  std::memcpy(&raw, &x, sizeof raw);
  return raw;
}

/// A draw whose upper 16 bits are given: of 16 bits, or the most significant ones of 32.
template <class T>
std::uint32_t draw(std::uint32_t bits) {
  return bits << (tieropt::draw_bits_of<tieropt::storage<T>> - 16);
}

/// Values whose rounding is delicate: inside binades, next to powers of two, subnormals.
template <class T>
std::vector<float> delicate_values() {
  auto const f = format_of<T>;
  std::vector<float> values;
  auto const at = [&](double base, double steps) {  // `steps` spacings above a representable value
    float const x = static_cast<float>(base + steps * f.quantum(base));
    for (float const y : {x, -x}) values.push_back(y);
  };
  for (double const base : {1.0, 1.25, 0.75, 100.0, 3.0517578125e-05 * 3, 0.0078125}) {
    for (double const steps : {0.25, 0.5, 0.125, 0.9375, 0.001953125}) at(base, steps);
  }
  for (int const e : {-10, 0, 7}) {  // just below and just above a power of two
    double const p = std::ldexp(1.0, e);
    at(p - f.quantum(p) / 2, 0.75);
    at(p - f.quantum(p) / 2, 0.5);
    at(p, 0.0625);
  }
  double const least = f.template smallest<double>();
  for (double const steps : {0.25, 0.75, 1.5, 2.125, 6.9375}) {
    values.push_back(static_cast<float>(steps * least));
    values.push_back(static_cast<float>(-steps * least));
  }
  double const normal = std::ldexp(1.0, f.min_exponent);
  at(normal - least, 0.25);  // between the largest subnormal and the smallest normal
  at(normal, 0.25);
  at(f.template largest<double>(), 0.25);  // towards infinity
  return values;
}

/// The neighbour of x away from zero; infinity beyond the largest value.
double away(testing::binary_format f, double x) {
  double const low = f.below(std::fabs(x));
  double const next = low + f.quantum(low);
  return std::copysign(next > f.largest<double>() ? std::numeric_limits<double>::infinity() : next,
                       x);
}
double towards(testing::binary_format f, double x) {
  return std::copysign(f.below(std::fabs(x)), x);
}
/// How far x is from its neighbour towards zero, in spacings.
double fraction(testing::binary_format f, double x) {
  double const low = f.below(std::fabs(x));
  return (std::fabs(x) - low) / f.quantum(low);
}

}  // namespace

TEMPLATE_TEST_CASE("a representable value never moves", "[stochastic]", tieropt::bf16,
                   tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  int moved = 0;
  for (unsigned raw = 0; raw < 65536; ++raw) {
    TestType const x{static_cast<std::uint16_t>(raw)};
    float const value = codec::template decode<float>(x);
    std::uint16_t const want = std::isnan(value) ? 0x7FFF : static_cast<std::uint16_t>(raw);
    for (std::uint32_t const r :
         {0u, 1u, draw<TestType>(0x7FFF), draw<TestType>(0x8000), draw<TestType>(0x10000) - 2,
          draw<TestType>(0x10000) - 1, draw<TestType>(raw * 40503u & 0xFFFFu)}) {
      if (raw_of(codec::stochastic(value, r)) != want) ++moved;
      if (raw_of(codec::stochastic(static_cast<double>(value), r)) != want) ++moved;
    }
  }
  CHECK(moved == 0);
}

TEMPLATE_TEST_CASE("over all 65536 draws exactly the fraction rounds away from zero",
                   "[stochastic]", tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  auto const f = format_of<TestType>;
  for (float const x : delicate_values<TestType>()) {
    std::uint16_t const up = testing::encode16(f, away(f, x));
    std::uint16_t const down = testing::encode16(f, towards(f, x));
    int ups = 0, strange = 0, ups_of_double = 0;
    for (std::uint32_t r = 0; r < 65536; ++r) {
      std::uint16_t const got = raw_of(codec::stochastic(x, draw<TestType>(r)));
      ups += got == up;
      strange += got != up && got != down;
      ups_of_double += raw_of(codec::stochastic(static_cast<double>(x), draw<TestType>(r))) == up;
    }
    INFO("x " << x << " fraction " << fraction(f, x));
    CHECK(strange == 0);
    // With the lower bits zero, finer fractions than 16 bits are cut to 16 bits.
    CHECK(ups == static_cast<int>(std::floor(fraction(f, x) * 65536)));
    CHECK(ups_of_double == ups);
  }
}

TEST_CASE("fractions of fp16 subnormals are cut to 31 bits, those of normals are not",
          "[stochastic]") {
  using codec = tieropt::storage<tieropt::fp16>;
  double const least = testing::fp16_format.smallest<double>();
  struct {
    double steps;
    std::uint16_t below;
    std::uint32_t first;  // the first draw that rounds away from zero
  } const cases[] = {{std::ldexp(1.0, -31), 0, 0xFFFFFFFEu},
                     {std::ldexp(3.0, -32), 0, 0xFFFFFFFEu},
                     {1 - std::ldexp(1.0, -24), 0, 0x100u},
                     {5 + std::ldexp(1.0, -21), 5, 0xFFFFF800u},
                     {1024 + std::ldexp(1.0, -13), 1024, 0xFFF80000u},
                     {2048 + std::ldexp(3.0, -12), 2048, 0xFFE80000u}};
  for (auto const& c : cases) {
    float const x = static_cast<float>(c.steps * least);
    INFO("x = " << c.steps << " of the smallest value");
    CHECK(raw_of(codec::stochastic(x, c.first - 1)) == c.below);
    CHECK(raw_of(codec::stochastic(x, c.first)) == c.below + 1);
  }
  CHECK(raw_of(codec::stochastic(static_cast<float>(std::ldexp(least, -32)), 0xFFFFFFFFu)) == 0);
}

TEMPLATE_TEST_CASE("over a million keyed draws P(up) is the fraction within four deviations",
                   "[stochastic]", tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  auto const f = format_of<TestType>;
  constexpr int n = 1000000;
  std::uint64_t tensor = 0;
  for (float const x : delicate_values<TestType>()) {
    std::uint64_t const key = tieropt::rounding_key(20260103, ++tensor, 1);
    tieropt::element_bits const bits{key, 0};
    auto const draw_of = [&](std::uint32_t i) {
      bool const wide = tieropt::draw_bits_of<codec> == 32;
      return wide ? tieropt::wide_bits(key, i) : bits.element(i);
    };
    std::uint16_t const up = testing::encode16(f, away(f, x));
    int ups = 0;
    for (std::uint32_t i = 0; i < n; ++i) ups += raw_of(codec::stochastic(x, draw_of(i))) == up;
    double const p = fraction(f, x);
    INFO("x " << x << " P(up) " << p << " counted " << ups << " of " << n << " seed 20260103");
    CHECK(std::fabs(ups - p * n) <= 4 * std::sqrt(n * p * (1 - p)) + 1);
  }
}

TEMPLATE_TEST_CASE("the mean of stochastic rounding is the value itself", "[stochastic]",
                   tieropt::bf16, tieropt::fp16) {
  // Averaged over all draws the result is exact where 16 bits hold the fraction.
  using codec = tieropt::storage<TestType>;
  for (float const x :
       {1.00390625f, -1.00390625f, 0.998046875f, -3.0009765625f, 1.5001220703125f}) {
    double sum = 0;
    for (std::uint32_t r = 0; r < 65536; ++r) {
      sum += codec::template decode<double>(codec::stochastic(x, draw<TestType>(r)));
    }
    INFO("x " << x);
    CHECK(sum / 65536 == static_cast<double>(x));
  }
}

TEMPLATE_TEST_CASE("infinity stays infinity and NaN stays NaN", "[stochastic]", tieropt::bf16,
                   tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  auto const f = format_of<TestType>;
  float const infinity = std::numeric_limits<float>::infinity();
  std::uint16_t const stored = testing::encode16(f, infinity);
  for (std::uint32_t r = 0; r < 65536; r += 13) {
    REQUIRE(raw_of(codec::stochastic(infinity, draw<TestType>(r))) == stored);
    REQUIRE(raw_of(codec::stochastic(-infinity, draw<TestType>(r))) == (stored | 0x8000));
    REQUIRE(raw_of(codec::stochastic(std::numeric_limits<float>::quiet_NaN(), draw<TestType>(r))) ==
            0x7FFF);
  }
  REQUIRE(raw_of(codec::stochastic(1e300, 0)) == stored);
  REQUIRE(raw_of(codec::stochastic(-1e300, 0)) == (stored | 0x8000));
}

TEMPLATE_TEST_CASE("beyond the largest value the fraction goes to infinity, zero below one spacing",
                   "[stochastic]", tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  auto const f = format_of<TestType>;
  double const top = f.template largest<double>();
  std::uint16_t const infinity = testing::encode16(f, std::numeric_limits<double>::infinity());
  for (std::uint32_t const r : {0u, 0x7FFFu, 0xFFFFu}) {
    CHECK(raw_of(codec::stochastic(static_cast<float>(top), draw<TestType>(r))) == infinity - 1);
  }
  float const quarter = static_cast<float>(top + f.quantum(top) / 4);
  CHECK(raw_of(codec::stochastic(quarter, draw<TestType>(0xBFFF))) == infinity - 1);
  CHECK(raw_of(codec::stochastic(quarter, draw<TestType>(0xC000))) == infinity);
  // FLT_MAX is 1 - 2^-16 spacings above the largest bf16, and far beyond the largest fp16.
  float const flt_max = std::numeric_limits<float>::max();
  bool const wide = f.max_exponent == 127;
  CHECK(raw_of(codec::stochastic(flt_max, 0)) == (wide ? infinity - 1 : infinity));
  CHECK(raw_of(codec::stochastic(flt_max, draw<TestType>(1))) == infinity);
  float const tiny = std::numeric_limits<float>::denorm_min();
  CHECK(raw_of(codec::stochastic(tiny, 0)) == 0);
  CHECK(raw_of(codec::stochastic(-tiny, 0)) == 0x8000);
  CHECK(raw_of(codec::stochastic(tiny, draw<TestType>(0xFFFF))) == (wide ? 1 : 0));
}

TEST_CASE("the rounding tags say whether they draw", "[stochastic]") {
  STATIC_REQUIRE(tieropt::stochastic_rounding::stochastic);
  STATIC_REQUIRE_FALSE(tieropt::nearest_rounding::stochastic);
  STATIC_REQUIRE(tieropt::storage<tieropt::bf16>::draws);
  STATIC_REQUIRE(tieropt::storage<tieropt::fp16>::draws);
}
