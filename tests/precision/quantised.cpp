// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Codes with a scale: levels, errors, and the exact expectation over all 2^32 draws.

#include <tieropt/precision/quantised.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using tieropt::block_scaled;
using tieropt::fp8_e4m3;
using tieropt::fp8_e5m2;
using tieropt::root_uint8;
using tieropt::softsign_int8;

float const flt_max = std::numeric_limits<float>::max();
float const infinity = std::numeric_limits<float>::infinity();
float const not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class S>
constexpr bool is_root = std::is_same_v<S, root_uint8>;

/// The bits of a code, from 0.
template <class S>
unsigned bits_of(typename S::code c) {
  unsigned u = 0;
  std::memcpy(&u, &c, sizeof c);
  return u;
}
template <class S>
typename S::code code_of(unsigned u) {
  typename S::code c;
  std::memcpy(&c, &u, sizeof c);
  return c;
}
template <class S>
constexpr unsigned codes = 1u << (8 * sizeof(typename S::code));

/// Numbers in [0, 1] of many sizes.
std::vector<double> parts() {
  std::vector<double> values{1, 0.5, 0.25, 1 - 0x1p-23, 0x1p-20, 0x1p-40};
  std::uint64_t state = 7;
  for (int i = 0; i < 400; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double const u = static_cast<double>(state >> 11) * 0x1p-53;
    values.push_back(std::pow(u, 1 << (i % 5)));
  }
  return values;
}
std::vector<float> const scales{1, 3.7f, 0x1p-126f, 1e-20f, 0x1.234567p67f, 0x1p125f};

/// The mean of what is stored over all draws, found by bisection between the two codes.
template <class S>
struct expectation {
  typename S::code first, last;  // of draw 0 and of draw 2^32 - 1
  double mean, gap;
  bool only_two = true;

  expectation(float x, float scale, float inverse) {
    auto const code = [&](std::uint64_t r) {
      return S::stochastic(x, inverse, static_cast<std::uint32_t>(r));
    };
    std::uint64_t low = 0, high = std::uint64_t{1} << 32;  // the first draw that gives `last`
    first = code(0), last = code(high - 1);
    while (low < high) {
      std::uint64_t const middle = (low + high) / 2;
      if (bits_of<S>(code(middle)) == bits_of<S>(last)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    double const share = static_cast<double>(low) * 0x1p-32;
    double const a = S::decode(first, scale), b = S::decode(last, scale);
    mean = a * share + b * (1 - share);
    gap = std::fabs(a - b);
    for (std::uint64_t r = 3; r < std::uint64_t{1} << 32; r = r * 3 + 1) {
      auto const want = r < low ? first : last;
      only_two = only_two && bits_of<S>(code(r)) == bits_of<S>(want);
    }
  }
};

}  // namespace

TEST_CASE("the levels are those of the maps, increasing up to the scale", "[quantised]") {
  for (float const scale : scales) {
    INFO("scale " << scale);
    int wrong = 0;
    for (int k = 0; k <= 127; ++k) {
      float const x = softsign_int8::decode(static_cast<tieropt::int8_t>(k), scale);
      double const want = static_cast<double>(scale) * k / (254 - k);
      if (std::fabs(x - want) > want * 0x1p-23 + 0x1p-149) ++wrong;
      if (softsign_int8::decode(static_cast<tieropt::int8_t>(-k), scale) != -x) ++wrong;
      if (k > 0 && !(softsign_int8::decode(static_cast<tieropt::int8_t>(k - 1), scale) < x))
        ++wrong;
    }
    CHECK(softsign_int8::decode(127, scale) == scale);
    CHECK(softsign_int8::decode(-127, scale) == -scale);
    for (int k = 0; k <= 254; ++k) {
      float const x = root_uint8::decode(static_cast<tieropt::uint8_t>(k), scale);
      double const want = static_cast<double>(scale) * k * k / 64516;
      if (std::fabs(x - want) > want * 0x1p-22 + 0x1p-149) ++wrong;
      if (k > 0 && !(root_uint8::decode(static_cast<tieropt::uint8_t>(k - 1), scale) < x)) ++wrong;
    }
    CHECK(root_uint8::decode(254, scale) == scale);
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("the nearest of all levels is stored", "[quantised]", softsign_int8, root_uint8,
                   block_scaled<fp8_e4m3>, block_scaled<fp8_e5m2>) {
  using state = TestType;
  for (float const scale : scales) {
    float const inverse = state::inverse(scale);
    float top = 0;
    for (unsigned c = 0; c < codes<state>; ++c) {
      float const x = state::decode(code_of<state>(c), scale);
      if (std::isfinite(x)) top = std::fmax(top, x);
    }
    for (double const part : parts()) {
      for (double const sign : {1.0, -1.0}) {
        if (sign < 0 && is_root<state>) continue;
        float const x = static_cast<float>(sign * part * top);
        float const stored = state::decode(state::nearest(x, inverse), scale);
        double best = HUGE_VAL;
        for (unsigned c = is_root<state> && x > 0 ? 1 : 0; c < codes<state>; ++c) {
          double const y = state::decode(code_of<state>(c), scale);
          if (std::isfinite(y)) best = std::fmin(best, std::fabs(y - x));
        }
        INFO("scale " << scale << " x " << x << " stored " << stored << " best error " << best);
        CHECK(std::fabs(static_cast<double>(stored) - x) <=
              best + std::fabs(x) * 0x1p-20 + 0x1p-149);
      }
    }
  }
}

TEMPLATE_TEST_CASE("the error of block-scaled 16-bit elements is half a spacing", "[quantised]",
                   tieropt::fp16, tieropt::bf16) {
  using state = block_scaled<TestType>;
  int const precision = std::is_same_v<TestType, tieropt::fp16> ? 11 : 8;
  float const largest = 12345.678f, scale = state::scale(largest), inverse = state::inverse(scale);
  double const least = state::codec::template decode<double>(code_of<state>(1)) * scale;
  for (double const part : parts()) {
    float const x = static_cast<float>(-part * largest);
    double const bound = std::fabs(x) * (std::ldexp(1.0, -precision) + 0x1p-21) + least / 2;
    double const error = state::decode(state::nearest(x, inverse), scale) - static_cast<double>(x);
    INFO("x " << x << " error " << error);
    CHECK(std::fabs(error) <= bound);
    expectation<state> const e{x, scale, inverse};
    CHECK(std::fabs(e.mean - x) <= std::fabs(x) * 0x1p-20 + least * 0x1p-30);
    CHECK(e.only_two);
  }
}

TEMPLATE_TEST_CASE("over all 2^32 draws the mean of what is stored is the value", "[quantised]",
                   softsign_int8, root_uint8, block_scaled<fp8_e4m3>, block_scaled<fp8_e5m2>) {
  using state = TestType;
  for (float const scale : scales) {
    float const inverse = state::inverse(scale);
    float top = 0;
    for (unsigned c = 0; c < codes<state>; ++c) {
      float const x = state::decode(code_of<state>(c), scale);
      if (std::isfinite(x)) top = std::fmax(top, x);
    }
    double const level_1 = state::decode(code_of<state>(1), scale);
    for (double const part : parts()) {
      for (double const sign : {1.0, -1.0}) {
        if (is_root<state> && (sign < 0 || part * top < level_1)) continue;
        float const x = static_cast<float>(sign * part * top);
        expectation<state> const e{x, scale, inverse};
        INFO("scale " << scale << " x " << x << " mean " << e.mean << " gap " << e.gap);
        // Some roundings in float; a cut of 31 bits; of subnormal levels, multiples of 2^-149.
        CHECK(std::fabs(e.mean - x) <=
              std::fabs(x) * 0x1p-21 + e.gap * 0x1p-22 + level_1 * 0x1p-30 + 0x1p-149);
        CHECK(e.only_two);
        unsigned const apart = (bits_of<state>(e.first) - bits_of<state>(e.last)) & 0xFF;
        CHECK((apart == 0 || apart == 1 || apart == 0xFF));  // neighbours
      }
    }
  }
}

TEST_CASE("a variance above zero never has code 0, one below counts as zero", "[quantised]") {
  for (float const scale : scales) {
    float const inverse = root_uint8::inverse(scale);
    for (float const x : {0x1p-149f, scale * 1e-12f, scale * 1e-6f, scale * 1.4e-5f}) {
      if (x == 0) continue;
      INFO("scale " << scale << " x " << x);
      CHECK(root_uint8::nearest(x, inverse) == 1);
      for (std::uint32_t const r : {0u, 1u, 0x80000000u, 0xFFFFFFFFu}) {
        auto const code = root_uint8::stochastic(x, inverse, r);
        CHECK((code == 1 || (code == 2 && x > scale * 1e-5f)));
      }
    }
    for (float const x : {0.0f, -0.0f, -scale, -0x1p-149f}) {
      CHECK(root_uint8::nearest(x, inverse) == 0);
      CHECK(root_uint8::stochastic(x, inverse, 0) == 0);
    }
  }
  CHECK(root_uint8::magnitude(-1.0f) == 0);
  CHECK(root_uint8::magnitude(2.0f) == 2);
  CHECK(softsign_int8::magnitude(-2.0f) == 2);
}

TEMPLATE_TEST_CASE("the largest of a group has the top code, for every draw, and is kept",
                   "[quantised]", softsign_int8, root_uint8, block_scaled<fp8_e4m3>,
                   block_scaled<fp8_e5m2>, block_scaled<tieropt::fp16>,
                   block_scaled<tieropt::bf16>) {
  using state = TestType;
  unsigned const top =
      bits_of<state>(state::nearest(flt_max, state::inverse(state::scale(flt_max))));
  CHECK(std::isinf(state::decode(code_of<state>(top), 1.0f)) == false);
  std::uint64_t seed = 3;
  float const least = std::string{state::map_name} == "linear"
                          ? state::decode(code_of<state>(top), 0x1p-126f) * 2
                          : 0x1p-126f;
  for (int i = 0; i < 20000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    float largest = tieropt::from_bits(static_cast<std::uint32_t>(seed >> 33));
    if (i == 0) largest = flt_max;
    if (i == 1) largest = least;
    if (!std::isfinite(largest) || largest < least) continue;
    float const scale = state::scale(largest), inverse = state::inverse(scale);
    INFO("largest " << largest);
    REQUIRE(std::isfinite(scale));
    REQUIRE(std::isfinite(inverse));
    REQUIRE(bits_of<state>(state::nearest(largest, inverse)) == top);
    for (std::uint32_t const r : {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
      REQUIRE(bits_of<state>(state::stochastic(largest, inverse, r)) == top);
    }
    double const back = state::decode(code_of<state>(top), scale);
    REQUIRE(back <= largest);
    REQUIRE(back >= largest * (1 - 0x1p-22));
  }
}

TEMPLATE_TEST_CASE("zero is exact, tiny and huge groups stay finite", "[quantised]", softsign_int8,
                   root_uint8, block_scaled<fp8_e4m3>, block_scaled<fp8_e5m2>,
                   block_scaled<tieropt::fp16>, block_scaled<tieropt::bf16>) {
  using state = TestType;
  CHECK(state::scale(0.0f) == 0);
  CHECK(state::inverse(0.0f) == 0);
  for (float const largest : {0.0f, 0x1p-149f, 0x1p-127f, 0x1p-126f, 1.0f, 0x1p126f, flt_max}) {
    float const scale = state::scale(largest), inverse = state::inverse(scale);
    INFO("largest " << largest << " scale " << scale << " inverse " << inverse);
    CHECK(std::isfinite(inverse));
    CHECK((largest == 0 ? scale == 0 : scale >= 0x1p-126f));
    CHECK((largest == 0 || (inverse > 0 && static_cast<double>(inverse) * scale >= 1)));
    for (std::uint32_t const r : {0u, 0x80000000u, 0xFFFFFFFFu}) {
      CHECK(bits_of<state>(state::stochastic(0.0f, inverse, r)) == 0);
      float const x = state::decode(state::stochastic(largest, inverse, r), scale);
      CHECK(std::isfinite(x));
      CHECK(x <= std::fmax(largest, scale));
    }
    CHECK(bits_of<state>(state::nearest(0.0f, inverse)) == 0);
    CHECK(state::decode(code_of<state>(0), scale) == 0);
    CHECK(std::isfinite(state::decode(state::nearest(largest, inverse), scale)));
  }
}

TEMPLATE_TEST_CASE("what is not finite counts nothing and is stored as NaN", "[quantised]",
                   softsign_int8, root_uint8, block_scaled<fp8_e4m3>, block_scaled<fp8_e5m2>,
                   block_scaled<tieropt::fp16>, block_scaled<tieropt::bf16>) {
  using state = TestType;
  bool const keeps_infinity =
      std::string{state::map_name} == "linear" && std::string{state::name} != "F8_E4M3";
  for (float const x : {not_a_number, -not_a_number, infinity, -infinity}) {
    CHECK(state::magnitude(x) == 0);
    for (float const scale : {0.0f, 0x1p-126f, 1.0f, 1e30f}) {
      float const inverse = state::inverse(scale);
      for (std::uint32_t const r : {0u, 0xFFFFFFFFu}) {
        for (auto const code : {state::nearest(x, inverse), state::stochastic(x, inverse, r)}) {
          float const y = state::decode(code, scale);
          INFO("x " << x << " scale " << scale << " decodes to " << y);
          CHECK((keeps_infinity && std::isinf(x) ? y == x : std::isnan(y)));
        }
      }
    }
  }
}

TEST_CASE("quantised states have names, codes and maps", "[quantised]") {
  CHECK(std::string{softsign_int8::name} == "I8");
  CHECK(std::string{root_uint8::name} == "U8");
  CHECK(std::string{block_scaled<fp8_e5m2>::name} == "F8_E5M2");
  CHECK(softsign_int8::nearest(not_a_number, 1.0f) == -128);
  CHECK(root_uint8::nearest(not_a_number, 1.0f) == 255);
  STATIC_REQUIRE(tieropt::quantised_state<softsign_int8>);
  STATIC_REQUIRE(tieropt::quantised_state<root_uint8>);
  STATIC_REQUIRE(tieropt::quantised_state<block_scaled<tieropt::bf16>>);
  STATIC_REQUIRE_FALSE(tieropt::quantised_state<float>);
  STATIC_REQUIRE_FALSE(tieropt::quantised_state<tieropt::bf16>);
}
