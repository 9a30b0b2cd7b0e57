// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The schedule that the planner is told for a device.

#include <tieropt/plan/device_schedule.cuh>

#include "support/catch.hpp"

TEST_CASE("a device's schedule counts on most of its L2", "[schedule]") {
  int l2 = 0;
  REQUIRE(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0) == cudaSuccess);
  auto const how = tieropt::schedule_for_device(0);
  REQUIRE(how.has_value());
  CHECK(how->order == tieropt::schedule::kind::automatic);
  CHECK(how->cache_bytes <= l2);
  CHECK(how->cache_bytes >= l2 / 6 * 5);
}

TEST_CASE("a device that is not there has no schedule", "[schedule]") {
  auto const how = tieropt::schedule_for_device(1000);
  REQUIRE_FALSE(how.has_value());
  CHECK(how.error().code == tieropt::errc::device);
  CHECK(how.error().native == cudaErrorInvalidDevice);
  cudaGetLastError();
}
