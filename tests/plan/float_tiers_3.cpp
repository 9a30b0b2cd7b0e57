// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in float, against the double reference: part 3.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 14 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 14>();
}

TEST_CASE("tier 15 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 15>();
}

TEST_CASE("tier 16 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 16>();
}

TEST_CASE("tier 17 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 17>();
}

TEST_CASE("tier 18 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 18>();
}

TEST_CASE("tier 19 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 19>();
}

TEST_CASE("tier 20 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 20>();
}
