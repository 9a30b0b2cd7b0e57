// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in float, against the double reference: part 4.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 21 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 21>();
}

TEST_CASE("tier 22 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 22>();
}

TEST_CASE("tier 23 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 23>();
}

TEST_CASE("tier 24 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 24>();
}

TEST_CASE("tier 25 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 25>();
}

TEST_CASE("tier 26 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 26>();
}
