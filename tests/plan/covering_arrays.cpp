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

TEST_CASE("every two levels of the tiers that run on a device meet", "[pairwise]") {
  std::vector<testing::pairwise::row> levels;
  for (auto const& row : rows::device) levels.push_back(row.levels());
  CHECK(levels.size() <= 20);
  // What is stored in double is computed in double: axes momentum, variance, param, grad.
  auto const allowed = [](int a, int x, int b, int y) {
    bool const wide = a == 0 ? x == 2 : a == 1 ? x >= 2 : (a == 7 || a == 8) && x == 3;
    return !(b == 9 && y == 0 && wide);
  };
  CHECK(missing({{3, 4, 3, 3, 2, 2, 2, 4, 4, 2}, allowed}, levels) == "");
  levels.pop_back();
  CHECK(missing({{3, 4, 3, 3, 2, 2, 2, 4, 4, 2}, allowed}, levels) != "");
}

TEST_CASE("every two levels of tiers and run-time axes meet", "[pairwise]") {
  namespace scenarios = testing::scenarios;
  CHECK(missing(scenarios::space<rows::single>(), scenarios::all<rows::single>()) == "");
  CHECK(missing(scenarios::space<rows::wide>(), scenarios::all<rows::wide>()) == "");
  CHECK(missing(scenarios::space<rows::device>(), scenarios::all<rows::device>()) == "");
}

TEST_CASE("a row that is left out is missed", "[pairwise]") {
  std::vector<testing::pairwise::row> levels;
  for (auto const& row : rows::single) levels.push_back(row.levels());
  levels.pop_back();
  CHECK(missing({{2, 2, 3, 3, 2, 2, 2, 3, 3}}, levels) != "");
}
