// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The covering arrays cover: every two levels of every two axes meet in some row.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

namespace rows = testing::rows;
using testing::pairwise::missing;

TEST_CASE("every two levels of the tiers computed in float meet", "[pairwise]") {
  std::vector<testing::pairwise::row> levels;
  for (auto const& row : rows::single) {
    CHECK_FALSE(row.wide_operand());
    levels.push_back(row.levels());
  }
  CHECK(missing({{2, 2, 3, 3, 2, 2, 2, 3, 3}}, levels) == "");
}

TEST_CASE("every two levels of the tiers computed in double meet", "[pairwise]") {
  std::vector<testing::pairwise::row> levels;
  bool asked_for = false, by_operand = false;
  for (auto const& row : rows::wide) {
    (row.wide_operand() ? by_operand : asked_for) = true;
    levels.push_back(row.levels());
  }
  CHECK(missing({{3, 4, 3, 3, 2, 2, 2, 4, 4}}, levels) == "");
  CHECK(asked_for);
  CHECK(by_operand);
}

TEST_CASE("every two levels of tiers and run-time axes meet", "[pairwise]") {
  namespace scenarios = testing::scenarios;
  CHECK(missing(scenarios::space<false>(), scenarios::all<false>()) == "");
  CHECK(missing(scenarios::space<true>(), scenarios::all<true>()) == "");
}

TEST_CASE("a row that is left out is missed", "[pairwise]") {
  std::vector<testing::pairwise::row> levels;
  for (auto const& row : rows::single) levels.push_back(row.levels());
  levels.pop_back();
  CHECK(missing({{2, 2, 3, 3, 2, 2, 2, 3, 3}}, levels) != "");
}
