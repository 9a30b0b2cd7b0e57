// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in float, against the double reference: part 6.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 33 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 33>();
}

TEST_CASE("tier 34 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 34>();
}

TEST_CASE("tier 35 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 35>();
}

TEST_CASE("tier 36 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 36>();
}

TEST_CASE("tier 37 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 37>();
}

TEST_CASE("tier 38 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 38>();
}
