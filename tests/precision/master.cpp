// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Masters in two halves: nothing is lost, and the upper half is the nearest bfloat16.

#include <tieropt/precision/master.hpp>

#include "support/catch.hpp"
#include "support/exact_format.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

std::uint32_t bits_of(float x) { return tieropt::bits(x); }

/// Calls f(x) for floats of every upper half, with lower halves at and around the ties, and others.
template <class F>
void for_each_float(F const& f) {
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (std::uint32_t const low : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      f(tieropt::from_bits(high << 16 | low));
    }
  }
  for (std::uint64_t u = 0; u < std::uint64_t{1} << 32; u += 8191) {
    f(tieropt::from_bits(static_cast<std::uint32_t>(u)));
  }
}

/// The nearest bfloat16, by double arithmetic; beyond the largest one its spacing goes on.
double nearest(float x, bool away) {
  testing::binary_format const wider{8, -126, 128};  // so that infinity is a value like others
  double const q = testing::bf16_format.quantum(static_cast<double>(x));
  double const steps = std::fabs(x) / q, low = std::floor(steps), part = steps - low;
  bool const up = part > 0.5 || (part == 0.5 && (away || std::fmod(low, 2.0) != 0));
  double const y = (low + (up ? 1 : 0)) * q;
  return std::copysign(y > wider.largest<double>() ? HUGE_VAL : y, x);
}

double value_of(std::uint16_t high) {
  double const x = testing::decode16(testing::bf16_format, high);
  return std::isinf(x) ? std::copysign(0x1p128, x) : x;
}

}  // namespace

TEST_CASE("two halves with ties away from zero give the float back", "[master]") {
  int wrong = 0, unrounded = 0;
  for_each_float([&](float x) {
    auto const s = tieropt::split_away(x);
    float const y = tieropt::join_away(s.high, s.low);
    if (std::isnan(x)) {
      if (s.high != 0x7FFF || s.low != 0 || !std::isnan(y)) ++wrong;
      return;
    }
    if (bits_of(y) != bits_of(x)) ++wrong;
    if (std::isfinite(x) && value_of(s.high) != nearest(x, true)) ++unrounded;
    if (std::signbit(x) != (s.high >= 0x8000)) ++unrounded;
  });
  CHECK(wrong == 0);
  CHECK(unrounded == 0);
}

TEST_CASE("two halves and a carry with ties to even give the float back", "[master]") {
  int wrong = 0, unrounded = 0;
  for_each_float([&](float x) {
    auto const s = tieropt::split_even(x);
    float const y = tieropt::join_even(s.high, s.low, s.carry);
    if (std::isnan(x)) {
      if (s.high != 0x7FFF || s.low != 0 || s.carry != 0 || !std::isnan(y)) ++wrong;
      return;
    }
    if (bits_of(y) != bits_of(x) || s.carry > 1) ++wrong;
    if (s.high != tieropt::bf16_format::nearest(x)) ++unrounded;
    if (std::isfinite(x) && value_of(s.high) != nearest(x, false)) ++unrounded;
  });
  CHECK(wrong == 0);
  CHECK(unrounded == 0);
}

TEST_CASE("a tie is where the two ways to split differ", "[master]") {
  float const x = tieropt::from_bits(0x3F808000u);
  auto const even = tieropt::split_even(x);
  CHECK(even.high == 0x3F80);
  CHECK(even.low == 0x8000);
  CHECK(even.carry == 0);
  auto const away = tieropt::split_away(x);
  CHECK(away.high == 0x3F81);
  CHECK(away.low == 0x8000);
  CHECK(tieropt::split_even(tieropt::from_bits(0x3F818000u)).high == 0x3F82);
  CHECK(tieropt::split_even(tieropt::from_bits(0x3F818000u)).carry == 1);
}

TEST_CASE("infinities, zeros and the largest float survive both splits", "[master]") {
  float const infinity = std::numeric_limits<float>::infinity();
  for (float const x : {infinity, -infinity, 0.0f, -0.0f, std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::lowest(), 0x1p-149f, -0x1p-149f}) {
    auto const away = tieropt::split_away(x);
    auto const even = tieropt::split_even(x);
    INFO("x " << x);
    CHECK(bits_of(tieropt::join_away(away.high, away.low)) == bits_of(x));
    CHECK(bits_of(tieropt::join_even(even.high, even.low, even.carry)) == bits_of(x));
    CHECK(away.high == even.high);  // none of them is a tie
  }
  CHECK(tieropt::split_away(std::numeric_limits<float>::max()).high == 0x7F80);
}
