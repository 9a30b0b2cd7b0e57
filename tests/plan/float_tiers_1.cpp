// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array, computed in float, against the double reference: part 1.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

TEST_CASE("tier 0 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 0>();
}

TEST_CASE("tier 1 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 1>();
}

TEST_CASE("tier 2 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 2>();
}

TEST_CASE("tier 3 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 3>();
}

TEST_CASE("tier 4 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 4>();
}

TEST_CASE("tier 5 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 5>();
}

TEST_CASE("tier 6 of the float array stays within the derived bounds", "[reference]") {
  testing::scenarios::run<testing::rows::single, 6>();
}
