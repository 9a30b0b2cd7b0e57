// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in double, against the double reference: part 3.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 12 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 12>();
}

TEST_CASE("tier 13 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 13>();
}

TEST_CASE("tier 14 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 14>();
}

TEST_CASE("tier 15 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 15>();
}

TEST_CASE("tier 16 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 16>();
}

TEST_CASE("tier 17 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 17>();
}
