// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rows 0 to 4 of the covering array of storage on every executor, against a dense twin and the
/// reference.

#include "support/storage_cases.hpp"

TEST_CASE("rows 0 to 4 store what the reference rounds to, whatever the layout on every executor",
          "[storage]") {
  testing::stored::check_rows<testing::stored::names::host, 0, 5, true>();
}
