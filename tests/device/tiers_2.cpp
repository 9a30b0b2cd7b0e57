// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiers of the covering array on a device, against the host's bits and the double reference:
/// part 2.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

namespace scenarios = testing::scenarios;
using testing::rows::device;

TEST_CASE("tier 10 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 10>();
}

TEST_CASE("tier 11 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 11>();
}

TEST_CASE("tier 12 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 12>();
}

TEST_CASE("tier 13 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 13>();
}

TEST_CASE("tier 14 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 14>();
}

TEST_CASE("tier 15 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 15>();
}

TEST_CASE("tier 16 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 16>();
}

TEST_CASE("tier 17 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 17>();
}

TEST_CASE("tier 18 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 18>();
}

TEST_CASE("tier 19 of the device's array has the host's bits", "[device]") {
  scenarios::run<device, 19>();
}
