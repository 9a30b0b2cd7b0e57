// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows 10 to 19 of the device's array of storage, against the host's bits and the reference.

#include "support/storage_cases.hpp"

TEST_CASE("rows 10 to 19 of storage have the host's bits on a device", "[device][storage]") {
  testing::stored::check_rows<testing::stored::names::device, 10, 20>();
}
