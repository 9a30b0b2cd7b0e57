// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Powers against those of long double.

#include <tieropt/precision/power.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>

TEST_CASE("powers of beta are rounded once", "[precision]") {
  // 1 - beta^k magnifies the error of beta^k; long double is ten bits finer than what is tested.
  for (double const b : {0.9, 0.95, 0.98, 0.99, 0.999, 0.9999, 1e-3, 1 - 0x1p-53, 0.5}) {
    for (std::int64_t const k : {1, 2, 3, 7, 10, 31, 100, 255, 1000, 4095, 5000}) {
      long double const exact = std::pow(static_cast<long double>(b), static_cast<long double>(k));
      if (exact < 0x1p-900L) continue;
      double const got = tieropt::power(b, k);
      long double const ulp = std::ldexp(1.0L, std::ilogb(exact) - 52);
      INFO("b " << b << " k " << k);
      CHECK(std::fabs(static_cast<long double>(got) - exact) <= 0.51L * ulp);
    }
    CHECK(tieropt::power(b, 0) == 1.0);
    CHECK(tieropt::power(b, 1) == b);
  }
  CHECK(tieropt::power(0.0, 0) == 1.0);
  CHECK(tieropt::power(0.0, 5) == 0.0);
  CHECK(tieropt::power(0.9, 1000000) == 0.0);
}

TEST_CASE("real powers are within a unit in the last place", "[precision]") {
  double worst = 0;
  auto const check = [&](double x, double y) {
    long double const want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    double const unit = std::ldexp(1.0, std::ilogb(want) - 52);
    double const error = static_cast<double>(std::fabs(tieropt::real_power(x, y) - want)) / unit;
    if (error > worst) worst = error;
    INFO(x << " to the power " << y);
    REQUIRE(error < 1);
  };
  for (double const y : {-0.8, -0.5, -1.0, -0.1, 0.3, 2.5}) {
    for (std::int64_t k = 1; k < 1000000; k = k < 2000 ? k + 1 : k + k / 64) {
      check(static_cast<double>(k), y);
    }
  }
  std::uint64_t seed = 20260129;
  for (int i = 0; i < 100000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double const x = std::ldexp(1 + static_cast<double>(seed >> 44) * 0x1p-20, (i % 200) - 100);
    check(x, std::ldexp(static_cast<double>(static_cast<std::int64_t>(seed) >> 20), -40) / 8);
  }
  CHECK(worst > 0.5);
}

TEST_CASE("real powers have their limits", "[precision]") {
  CHECK(tieropt::real_power(1.0, -0.8) == 1.0);
  CHECK(tieropt::real_power(4.0, -0.5) == 0.5);
  CHECK(tieropt::real_power(9.2e18, -1e3) == 0.0);
  CHECK(tieropt::real_power(3.0, 1e4) == HUGE_VAL);
  CHECK(std::isnan(tieropt::real_power(3.0, NAN)));
}
