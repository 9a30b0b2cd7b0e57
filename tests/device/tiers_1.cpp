// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array on a device, against the host's bits and the double reference:
/// part 1.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

namespace scenarios = testing::scenarios;
using testing::rows::device;

TEST_CASE("tier 0 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 0>();
}

TEST_CASE("tier 1 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 1>();
}

TEST_CASE("tier 2 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 2>();
}

TEST_CASE("tier 3 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 3>();
}

TEST_CASE("tier 4 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 4>();
}

TEST_CASE("tier 5 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 5>();
}

TEST_CASE("tier 6 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 6>();
}

TEST_CASE("tier 7 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 7>();
}

TEST_CASE("tier 8 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 8>();
}

TEST_CASE("tier 9 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 9>();
}
