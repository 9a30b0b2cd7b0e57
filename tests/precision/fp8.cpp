// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The 8-bit codecs against a table of all values, and codecs of one byte that users write.

#include <tieropt/precision/storage.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

struct user_fp8 {
  unsigned char bits[1];
};

/// 64ths, without a name and without a word on its draws.
struct fixed_point {
  signed char steps;
};

namespace {

using tieropt::fp8_e4m3;
using tieropt::fp8_e5m2;
double const infinity = std::numeric_limits<double>::infinity();
float const not_a_number = std::numeric_limits<float>::quiet_NaN();

/// A format by its definition.
struct definition {
  int fraction_bits, bias, top;  // top: the largest finite pattern
  bool infinite;
  double value(int code) const {
    int const exponent = code >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
    if (exponent == 0) return std::ldexp(fraction, 1 - bias - fraction_bits);
    return std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  }
  /// What is stored for x, by comparing x with all values.
  int nearest(double x) const {
    if (std::isnan(x) || (std::isinf(x) && !infinite)) return 0x7F;
    double const a = std::fabs(x);
    int const sign = std::signbit(x) ? 0x80 : 0;
    // One step beyond the largest value begins infinity.
    if (infinite && a >= (value(top) + value(top + 1)) / 2) return sign | (top + 1);
    int best = 0;
    for (int code = 1; code <= top; ++code) {
      double const now = std::fabs(a - value(code)), before = std::fabs(a - value(best));
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    return sign | best;
  }
};

template <class T>
definition const format = definition{};
template <>
definition const format<fp8_e4m3> = definition{3, 7, 0x7E, false};
template <>
definition const format<fp8_e5m2> = definition{2, 15, 0x7B, true};

template <class T>
int stored(float x) {
  return tieropt::storage<T>::nearest(x).raw;
}
template <class T>
int stored(double x) {
  return tieropt::storage<T>::nearest(x).raw;
}
template <class T, class C>
int drawn(C x, std::uint32_t r) {
  return tieropt::storage<T>::stochastic(x, r).raw;
}
template <class T>
T element(int raw) {
  return T{static_cast<std::uint8_t>(raw)};
}

/// How many of the 2^32 draws store `up`, by bisection: the larger draws do.
template <class T, class C>
std::uint64_t count_ups(C x, int up) {
  std::uint64_t low = 0, high = std::uint64_t{1} << 32;  // the first draw that stores it
  while (low < high) {
    std::uint64_t const middle = (low + high) / 2;
    if (drawn<T>(x, static_cast<std::uint32_t>(middle)) == up) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return (std::uint64_t{1} << 32) - low;
}

}  // namespace

template <>
struct tieropt::storage<user_fp8> : tieropt::storage_as<user_fp8, tieropt::e4m3_format> {};

template <>
struct tieropt::storage<fixed_point> {
  static constexpr bool draws = true;
  template <tieropt::compute_type C>
  static C decode(fixed_point const& x) {
    return static_cast<C>(x.steps) / 64;
  }
  template <tieropt::compute_type C>
  static fixed_point nearest(C x) {
    return {static_cast<signed char>(std::lrint(x * 64))};
  }
  template <tieropt::compute_type C>
  static fixed_point stochastic(C x, std::uint32_t r) {
    return {static_cast<signed char>(std::floor(x * 64 + static_cast<C>(r) / 65536))};
  }
};

TEMPLATE_TEST_CASE("every 8-bit pattern decodes to its value and survives rounding", "[precision]",
                   fp8_e4m3, fp8_e5m2) {
  using codec = tieropt::storage<TestType>;
  for (int raw = 0; raw < 256; ++raw) {
    int const code = raw & 0x7F;
    double const sign = raw < 128 ? 1 : -1;
    float const x = codec::template decode<float>(element<TestType>(raw));
    INFO("pattern " << raw << " decodes to " << x);
    bool const infinite = format<TestType>.infinite && code == format<TestType>.top + 1;
    int want = raw;
    if (code <= format<TestType>.top) {
      CHECK(x == sign * format<TestType>.value(code));
      CHECK(std::signbit(x) == (raw >= 128));
    } else if (infinite) {
      CHECK(x == sign * infinity);
    } else {
      CHECK(std::isnan(x));
      want = 0x7F;
    }
    double const d = codec::template decode<double>(element<TestType>(raw));
    CHECK((std::isnan(x) ? std::isnan(d) : d == x));
    CHECK(stored<TestType>(x) == want);
    CHECK(stored<TestType>(d) == want);
    for (std::uint32_t const r : {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0x12345678u}) {
      CHECK(drawn<TestType>(x, r) == want);
      CHECK(drawn<TestType>(d, r) == want);
    }
  }
}

TEMPLATE_TEST_CASE("around every boundary of neighbours 8 bits round to nearest, ties to even",
                   "[precision]", fp8_e4m3, fp8_e5m2) {
  definition const f = format<TestType>;
  for (int code = 0; code <= f.top; ++code) {
    double const tie = (f.value(code) + f.value(code + 1)) / 2;
    REQUIRE(static_cast<float>(tie) == tie);
    for (double const sign : {1.0, -1.0}) {
      float const middle = static_cast<float>(sign * tie);
      INFO("tie " << middle);
      CHECK(stored<TestType>(middle) == f.nearest(middle));
      float const below = std::nextafter(middle, 0.0f), above = std::nextafter(middle, 2 * middle);
      CHECK(stored<TestType>(below) == f.nearest(below));
      CHECK(stored<TestType>(above) == f.nearest(above));
      // Once, not by way of float.
      for (double const x : {sign * tie, sign * tie * (1 - 0x1p-50), sign * tie * (1 + 0x1p-50)}) {
        CHECK(stored<TestType>(x) == f.nearest(x));
      }
    }
  }
}

TEMPLATE_TEST_CASE("floats of every size round to the nearest 8-bit value", "[precision]", fp8_e4m3,
                   fp8_e5m2) {
  int wrong = 0;
  for (std::uint32_t high = 0; high < 65536; high += 3) {
    for (std::uint32_t const low : {0u, 1u, 0x8000u, 0x9E37u}) {
      std::uint32_t const u = high << 16 | low;
      float x;
      std::memcpy(&x, &u, sizeof x);
      if (stored<TestType>(x) != format<TestType>.nearest(x)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("of all 2^32 draws the share of the fraction rounds away from zero",
                   "[stochastic]", fp8_e4m3, fp8_e5m2) {
  definition const f = format<TestType>;
  int const least_normal = 1 << f.fraction_bits;
  int const codes = f.infinite ? f.top + 1 : f.top;  // without infinity nothing lies above the top
  for (int code = 0; code < codes; ++code) {
    double const a = f.value(code), spacing = f.value(code + 1) - a;
    for (double const part : {0.5, 0.25, 0.9375, 0x1p-10, 1 - 0x1p-10, 0.3, 0x1p-40}) {
      float const x = static_cast<float>(a + part * spacing);
      double const fraction = (x - a) / spacing;  // exact
      double const draws =
          code < least_normal ? std::floor(fraction * 0x1p31) * 2 : fraction * 0x1p32;
      for (int const sign : {0, 0x80}) {
        float const y = sign != 0 ? -x : x;
        INFO("x " << y << " fraction " << fraction);
        if (fraction == 0) {
          CHECK(drawn<TestType>(y, 0xFFFFFFFF) == (sign | code));
          continue;
        }
        REQUIRE(fraction < 1);
        int const up = sign | (code + 1);
        auto const ups = count_ups<TestType>(y, up);
        CHECK(static_cast<double>(ups) == draws);
        CHECK(count_ups<TestType>(static_cast<double>(y), up) == ups);
        for (std::uint32_t r = 1; r != 0; r = r * 5 < r ? 0 : r * 5) {  // and no others
          bool const rounds_up = r >= (std::uint64_t{1} << 32) - ups;
          CHECK(drawn<TestType>(y, r) == (rounds_up ? up : (sign | code)));
        }
      }
    }
  }
}

TEST_CASE("counted one by one, the deciding bits round exactly the fraction up", "[stochastic]") {
  int ups = 0, others = 0;
  for (std::uint32_t r = 0; r < 1u << 21; ++r) {
    int const raw = drawn<fp8_e5m2>(-1.25f - 0x3p-20f, r << 11);
    ups += raw == 0xBE;
    others += raw != 0xBE && raw != 0xBD;
  }
  CHECK(ups == 3 << 3);  // 3 2^-20 of a spacing of 2^-2, times 2^21
  CHECK(others == 0);
  ups = 0;
  for (std::uint32_t r = 0; r < 1u << 20; ++r) {
    ups += drawn<fp8_e4m3>(3.25f + 5 * 0x1p-22f, r << 12) == 0x46;
  }
  CHECK(ups == 5);
}

TEST_CASE("e4m3 saturates at 448 and has no infinity; NaN stays", "[precision]") {
  float const huge = std::numeric_limits<float>::max();
  for (double const x : {448.0, 463.0, 464.0, 465.0, 1000.0, double{huge}, 1e300}) {
    INFO("x " << x);
    CHECK(stored<fp8_e4m3>(x) == 0x7E);
    CHECK(stored<fp8_e4m3>(-x) == 0xFE);
    for (std::uint32_t const r : {0u, 0x80000000u, 0xFFFFFFFFu}) {
      CHECK(drawn<fp8_e4m3>(x, r) == 0x7E);
      CHECK(drawn<fp8_e4m3>(-x, r) == 0xFE);
      if (x <= huge) CHECK(drawn<fp8_e4m3>(static_cast<float>(x), r) == 0x7E);
    }
  }
  for (float const x :
       {static_cast<float>(infinity), static_cast<float>(-infinity), not_a_number, -not_a_number}) {
    for (std::uint32_t const r : {0u, 0xFFFFFFFFu}) {
      CHECK(drawn<fp8_e4m3>(x, r) == 0x7F);
      CHECK(drawn<fp8_e4m3>(static_cast<double>(x), r) == 0x7F);
    }
    CHECK(stored<fp8_e4m3>(x) == 0x7F);
    CHECK(stored<fp8_e4m3>(static_cast<double>(x)) == 0x7F);
  }
}

TEST_CASE("e5m2 overflows to infinity; NaN stays", "[precision]") {
  for (double const x : {65536.0, 1e10, 1e300, infinity}) {
    for (std::uint32_t const r : {0u, 0xFFFFFFFFu}) {
      CHECK(drawn<fp8_e5m2>(x, r) == 0x7C);
      CHECK(drawn<fp8_e5m2>(-static_cast<float>(x), r) == 0xFC);
    }
    CHECK(stored<fp8_e5m2>(x) == 0x7C);
    CHECK(stored<fp8_e5m2>(-static_cast<float>(x)) == 0xFC);
  }
  for (std::uint32_t const r : {0u, 0xFFFFFFFFu}) {
    CHECK(drawn<fp8_e5m2>(not_a_number, r) == 0x7F);
    CHECK(drawn<fp8_e5m2>(-static_cast<double>(not_a_number), r) == 0x7F);
  }
  CHECK(stored<fp8_e5m2>(-not_a_number) == 0x7F);
}

TEST_CASE("a user's type of one byte takes a format, or a codec of its own", "[precision]") {
  for (float const x : {0.0f, 1.1f, -500.0f, 0.001f, not_a_number}) {
    CHECK(tieropt::storage<user_fp8>::nearest(x).bits[0] == stored<fp8_e4m3>(x));
    CHECK(tieropt::storage<user_fp8>::stochastic(x, 0xABCDEF01u).bits[0] ==
          drawn<fp8_e4m3>(x, 0xABCDEF01u));
  }
  STATIC_REQUIRE(tieropt::storable<user_fp8>);
  STATIC_REQUIRE(tieropt::storable<fixed_point>);
  CHECK(tieropt::storage<fixed_point>::decode<float>(fixed_point{-3}) == -3 / 64.0f);
}

TEST_CASE("codecs have the names of safetensors and say how much they draw", "[precision]") {
  using tieropt::codec_name, tieropt::draw_bits_of, tieropt::storage;
  CHECK(std::string{codec_name<double>()} == "F64");
  CHECK(std::string{codec_name<float>()} == "F32");
  CHECK(std::string{codec_name<tieropt::bf16>()} == "BF16");
  CHECK(std::string{codec_name<tieropt::fp16>()} == "F16");
  CHECK(std::string{codec_name<fp8_e4m3>()} == "F8_E4M3");
  CHECK(std::string{codec_name<fp8_e5m2>()} == "F8_E5M2");
  CHECK(std::string{codec_name<user_fp8>()} == "F8_E4M3");
  CHECK(std::string{codec_name<fixed_point>()} == "");
  STATIC_REQUIRE(draw_bits_of<storage<tieropt::bf16>> == 16);
  STATIC_REQUIRE(draw_bits_of<storage<tieropt::fp16>> == 32);
  STATIC_REQUIRE(draw_bits_of<storage<fp8_e4m3>> == 32);
  STATIC_REQUIRE(draw_bits_of<storage<user_fp8>> == 32);
  STATIC_REQUIRE(draw_bits_of<storage<fixed_point>> == 16);
}

TEST_CASE("the largest value of a format is the one before infinity or NaN", "[precision]") {
  CHECK(tieropt::e4m3_format::max() == 448);
  CHECK(tieropt::e5m2_format::max() == 57344);
  CHECK(tieropt::fp16_format::max() == 65504);
  CHECK(tieropt::bf16_format::max() == tieropt::bf16_format::decode(0x7F7F));
}
