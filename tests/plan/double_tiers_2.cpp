// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in double, against the double reference: part 2.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 6 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 6>();
}

TEST_CASE("tier 7 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 7>();
}

TEST_CASE("tier 8 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 8>();
}

TEST_CASE("tier 9 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 9>();
}

TEST_CASE("tier 10 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 10>();
}

TEST_CASE("tier 11 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 11>();
}
