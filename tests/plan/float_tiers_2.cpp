// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in float, against the double reference: part 2.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 7 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 7>();
}

TEST_CASE("tier 8 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 8>();
}

TEST_CASE("tier 9 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 9>();
}

TEST_CASE("tier 10 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 10>();
}

TEST_CASE("tier 11 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 11>();
}

TEST_CASE("tier 12 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 12>();
}

TEST_CASE("tier 13 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 13>();
}
