// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in double, against the double reference: part 1.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 0 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 0>();
}

TEST_CASE("tier 1 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 1>();
}

TEST_CASE("tier 2 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 2>();
}

TEST_CASE("tier 3 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 3>();
}

TEST_CASE("tier 4 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 4>();
}

TEST_CASE("tier 5 of the double array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::wide, 5>();
}
