// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in float, against the double reference: part 5.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 27 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 27>();
}

TEST_CASE("tier 28 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 28>();
}

TEST_CASE("tier 29 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 29>();
}

TEST_CASE("tier 30 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 30>();
}

TEST_CASE("tier 31 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 31>();
}

TEST_CASE("tier 32 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 32>();
}
