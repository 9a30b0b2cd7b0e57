// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// 16-bit codecs against a conversion written from the definition of the formats.

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
template <class T>
T from_raw(unsigned raw) {
  return T{static_cast<std::uint16_t>(raw)};
}
float float_of(std::uint32_t u) {
  float x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}
std::uint32_t bits_of(float x) {
  std::uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}

/// What must be stored for x.
template <class T>
std::uint16_t expected(double x) {
  return testing::encode16(format_of<T>, format_of<T>.nearest(x));
}

}  // namespace

TEST_CASE("the tests' own rounding agrees with the processor's on float", "[precision]") {
  float const infinity = std::numeric_limits<float>::infinity();
  std::uint64_t state = 99;
  int wrong = 0;
  for (int i = 0; i < 300000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::uint64_t const mixed = (state ^ (state >> 31)) * 0x94D049BB133111EBu;
    double x = static_cast<double>(mixed) * 0x1p-64 - 0.5;
    x = std::ldexp(x, static_cast<int>(state >> 40) % 300 - 160);
    if (testing::fp32_format.nearest(x) != static_cast<float>(x)) ++wrong;
    double const below = testing::fp32_format.below(x), above = testing::fp32_format.above(x);
    if (!(below <= x && x <= above)) ++wrong;
    if (below == x ? above != x : std::nextafter(static_cast<float>(below), infinity) != above)
      ++wrong;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("every 16-bit pattern decodes to the value its fields say", "[precision]",
                   tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  int wrong = 0;
  for (unsigned raw = 0; raw < 65536; ++raw) {
    auto const x = from_raw<TestType>(raw);
    double const want = testing::decode16(format_of<TestType>, static_cast<std::uint16_t>(raw));
    float const f = codec::template decode<float>(x);
    double const d = codec::template decode<double>(x);
    bool const as_float =
        std::isnan(want) ? std::isnan(f) : f == want && std::signbit(f) == std::signbit(want);
    bool const as_double =
        std::isnan(want) ? std::isnan(d) : d == want && std::signbit(d) == std::signbit(want);
    if (!as_float || !as_double) ++wrong;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("every 16-bit pattern survives decoding and rounding to nearest", "[precision]",
                   tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  int wrong = 0;
  for (unsigned raw = 0; raw < 65536; ++raw) {
    auto const x = from_raw<TestType>(raw);
    float const f = codec::template decode<float>(x);
    std::uint16_t const want = std::isnan(f) ? 0x7FFF : static_cast<std::uint16_t>(raw);
    if (raw_of(codec::nearest(f)) != want) ++wrong;
    if (raw_of(codec::nearest(static_cast<double>(f))) != want) ++wrong;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("floats around every 16-bit value round to nearest with ties to even",
                   "[precision]", tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  int wrong = 0;
  std::uint32_t random = 12345;
  // All upper halves of a float, with lower halves at and around the ties of both formats.
  std::vector<std::uint32_t> const lows{0x0000, 0x0001, 0x0FFF, 0x1000, 0x1001,
                                        0x2FFF, 0x3000, 0x3001, 0x7FFF, 0x8000,
                                        0x8001, 0x8FFF, 0x9000, 0xF000, 0xFFFF};
  auto const check = [&](std::uint32_t u) {
    float const x = float_of(u);
    if (raw_of(codec::nearest(x)) != expected<TestType>(x)) ++wrong;
  };
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (std::uint32_t const low : lows) check((high << 16) | low);
    random = random * 1664525u + 1013904223u;
    check((high << 16) | (random >> 16));
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("floats around every tie of neighbours round to nearest with ties to even",
                   "[precision]", tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  int wrong = 0, ties = 0;
  for (unsigned raw = 0; raw < 65536; ++raw) {
    auto const f = format_of<TestType>;
    double const a = testing::decode16(f, static_cast<std::uint16_t>(raw));
    double const b = testing::decode16(f, static_cast<std::uint16_t>(raw + 1));
    if (!std::isfinite(a)) continue;
    // Beyond the largest value the tie lies half a spacing above it.
    double const tie = std::isfinite(b) ? (a + b) / 2 : a + std::copysign(f.quantum(a) / 2, a);
    float const middle = static_cast<float>(tie);
    if (middle != tie || middle == 0) continue;
    ++ties;
    for (float const x :
         {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 2 * middle)}) {
      if (raw_of(codec::nearest(x)) != expected<TestType>(x)) ++wrong;
    }
  }
  CHECK(ties > 60000);
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("doubles next to a tie are rounded once, not by way of float", "[precision]",
                   tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  int wrong = 0, tried = 0;
  for (unsigned raw = 0; raw < 65536; ++raw) {
    auto const f = format_of<TestType>;
    double const a = testing::decode16(f, static_cast<std::uint16_t>(raw));
    if (!std::isfinite(a)) continue;
    double const sign = (raw & 0x8000) != 0 ? -1 : 1;
    double const tie = a + sign * f.quantum(a) / 2;
    for (double const x : {tie, tie * (1 - 0x1p-45), tie * (1 + 0x1p-45), a * (1 + 0x1p-40),
                           a + sign * f.quantum(a) * (1 - 0x1p-40)}) {
      ++tried;
      if (raw_of(codec::nearest(x)) != expected<TestType>(x)) ++wrong;
    }
  }
  CHECK(tried > 300000);
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("overflow rounds to infinity and underflow to a signed zero", "[precision]",
                   tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  auto const f = format_of<TestType>;
  double const top = f.template largest<double>();
  double const tie = top + f.quantum(top) / 2;
  std::uint16_t const infinity = testing::encode16(f, std::numeric_limits<double>::infinity());
  CHECK(raw_of(codec::nearest(top)) == infinity - 1);
  CHECK(raw_of(codec::nearest(tie)) == infinity);
  CHECK(raw_of(codec::nearest(tie * (1 - 0x1p-50))) == infinity - 1);
  CHECK(raw_of(codec::nearest(-tie)) == (infinity | 0x8000));
  CHECK(raw_of(codec::nearest(1e300)) == infinity);
  CHECK(raw_of(codec::nearest(std::numeric_limits<float>::max())) == infinity);
  CHECK(raw_of(codec::nearest(std::numeric_limits<float>::infinity())) == infinity);
  CHECK(raw_of(codec::nearest(-std::numeric_limits<double>::infinity())) == (infinity | 0x8000));
  double const least = f.template smallest<double>();
  CHECK(raw_of(codec::nearest(least)) == 1);
  CHECK(raw_of(codec::nearest(least / 2)) == 0);
  CHECK(raw_of(codec::nearest(-least / 2)) == 0x8000);
  CHECK(raw_of(codec::nearest(least / 2 * (1 + 0x1p-50))) == 1);
  CHECK(raw_of(codec::nearest(-1e-300)) == 0x8000);
}

TEMPLATE_TEST_CASE("every NaN is stored as 0x7FFF", "[precision]", tieropt::bf16, tieropt::fp16) {
  using codec = tieropt::storage<TestType>;
  for (std::uint32_t const u : {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFF800001u, 0x7FFFFFFFu,
                                0xFFFFFFFFu, 0x7FBFFFFFu, 0x7F80FFFFu}) {
    INFO("bits " << u);
    CHECK(raw_of(codec::nearest(float_of(u))) == 0x7FFF);
    CHECK(raw_of(codec::nearest(static_cast<double>(float_of(u)))) == 0x7FFF);
    for (std::uint32_t const r : {0u, 1u, 0x8000u, 0xFFFFu}) {
      CHECK(raw_of(codec::stochastic(float_of(u), r)) == 0x7FFF);
      CHECK(raw_of(codec::stochastic(static_cast<double>(float_of(u)), r)) == 0x7FFF);
    }
  }
}

TEST_CASE("float and double store themselves, and NaN with the device's bits", "[precision]") {
  using single = tieropt::storage<float>;
  using wide = tieropt::storage<double>;
  float const nan = -std::numeric_limits<float>::quiet_NaN();
  CHECK(bits_of(single::nearest(nan)) == 0x7FFFFFFFu);
  CHECK(bits_of(single::nearest(static_cast<double>(nan))) == 0x7FFFFFFFu);
  double const stored = wide::nearest(static_cast<double>(nan));
  std::uint64_t u;
  std::memcpy(&u, &stored, sizeof u);
  CHECK(u == 0x7FFFFFFFFFFFFFFFu);
  for (float const x : {0.0f, -0.0f, 1.5f, -0x1p-149f, std::numeric_limits<float>::max(),
                        -std::numeric_limits<float>::infinity()}) {
    CHECK(bits_of(single::nearest(x)) == bits_of(x));
    CHECK(bits_of(single::stochastic(x, 0xFFFF)) == bits_of(x));
    CHECK(wide::nearest(x) == x);
  }
  CHECK(single::nearest(1.0 + 0x1p-24) == 1.0f);
  CHECK(single::nearest(1.0 + 3 * 0x1p-24) == 1.0f + 0x1p-22f);
  CHECK_FALSE(single::draws);
  CHECK_FALSE(wide::draws);
}
