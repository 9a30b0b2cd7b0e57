// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows 12 to 20 of the covering array of storage, against a dense twin and the reference.

#include "support/storage_cases.hpp"

TEST_CASE("rows 12 to 20 store what the reference rounds to, whatever the layout", "[storage]") {
  testing::stored::check_rows<testing::stored::names::host, 12, 21>();
}
