// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows 0 to 9 of the device's array of storage, against the host's bits and the reference.

#include "support/storage_cases.hpp"

TEST_CASE("rows 0 to 9 of storage have the host's bits on a device", "[device][storage]") {
  testing::stored::check_rows<testing::stored::names::device, 0, 10>();
}
