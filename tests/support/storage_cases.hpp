// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Test cases over consecutive rows of a covering array.
#pragma once

#include "support/catch.hpp"
#include "support/storage_engine.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace testing::stored {

/// Runs a row through its scenarios.
inline void check_row(row_case const& c, int index) {
  report r;
  std::string const wrong = run_row(c, 0, on_device ? 11 : 22, r);
  INFO("row " << index << ": largest error of float and double " << r.worst_wide
              << " of its bound, " << r.checked << " values");
  CHECK(wrong == "");
  if (!wrong.empty()) return;
  CHECK(r.checked > 10000);
  bool const spreads = c.what.fault <= fault_kind::counted;  // from one fault to a matrix
  CHECK(r.unbounded * (spreads ? 5 : 1000) < r.checked);
  CHECK(r.moved * 10 > r.checked / 10);
  CHECK(r.paths.ragged + r.paths.whole > 0);
  CHECK(r.paths.strided > 0);
  if (!c.what.can_catch_up()) CHECK(r.caught_up == 0);
  if (c.what.can_catch_up() && !on_device) CHECK(r.caught_up > 0);
}

/// Rows First to Last - 1. AllPlaces: on every executor of the host.
template <auto const& Rows, int First, int Last, bool AllPlaces = false>
void check_rows() {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check_row(case_of<Rows, First + static_cast<int>(I), AllPlaces>(),
               First + static_cast<int>(I)),
     ...);
  }
  (std::make_index_sequence<Last - First>{});
}

}  // namespace testing::stored
