// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The covering arrays cover: every two levels of every two axes meet in some row.

#include "support/catch.hpp"
#include "support/scenarios.hpp"

#include <iterator>

namespace rows = testing::rows;
using testing::pairwise::missing;
using testing::pairwise::row;

namespace {

template <class Rows>
std::vector<row> levels_of(Rows const& list) {
  std::vector<row> levels;
  for (auto const& tier : list) levels.push_back(tier.levels());
  return levels;
}

template <class Rows>
std::vector<row> storage_of(Rows const& list) {
  std::vector<row> levels;
  for (auto const& tier : list) levels.push_back(tier.storage_levels());
  return levels;
}

/// The axes of tier_row::storage_levels: what is stored in double is computed in double.
testing::pairwise::space storage_space(int computes) {
  auto const allowed = [](int a, int x, int b, int y) {
    bool const wide = a == 0 ? x == 2 : a == 1 ? x >= 2 : (a == 7 || a == 8) && x == 3;
    return !(b == 9 && y == 0 && wide);
  };
  return {{3, 4, 3, 3, 2, 2, 2, 4, 4, computes}, allowed};
}

/// The levels of some axis that no row has, or the forbidden pairs of a row, as text.
template <class Rows>
std::string absent(Rows const& list) {
  testing::pairwise::space const space = testing::tier_space(4);
  std::string text;
  for (int a = 0; a < space.axes(); ++a) {
    for (int x = 0; x < space.levels[a]; ++x) {
      bool occurs = false;
      for (row const& r : levels_of(list)) occurs = occurs || r[a] == x;
      if (!occurs) text += "axis " + std::to_string(a) + "=" + std::to_string(x) + "; ";
    }
  }
  for (row const& r : levels_of(list)) text += space.fits(r) ? "" : "a forbidden pair; ";
  return text;
}

}  // namespace

TEST_CASE("every two levels of the tiers computed in float meet", "[pairwise]") {
  for (auto const& tier : rows::single) CHECK_FALSE(tier.computes_double());
  CHECK(std::size(rows::single) <= 45);
  CHECK(missing(testing::tier_space(3), levels_of(rows::single)) == "");
}

TEST_CASE("every two ways to store of the tiers computed in double meet", "[pairwise]") {
  bool asked_for = false, by_operand = false;
  std::vector<row> levels = storage_of(rows::wide);
  for (auto const& tier : rows::wide) {
    CHECK(tier.computes_double());
    (tier.wide_operand() ? by_operand : asked_for) = true;
  }
  for (row& r : levels) r[9] = 0;
  CHECK(missing({{3, 4, 3, 3, 2, 2, 2, 4, 4, 1}}, levels) == "");
  CHECK(asked_for);
  CHECK(by_operand);
  CHECK(absent(rows::wide) == "");
}

TEST_CASE("every two ways to store of the tiers that run on a device meet", "[pairwise]") {
  std::vector<row> levels = storage_of(rows::device);
  CHECK(levels.size() <= 20);
  CHECK(missing(storage_space(2), levels) == "");
  CHECK(absent(rows::device) == "");
  levels.pop_back();
  CHECK(missing(storage_space(2), levels) != "");
}

TEST_CASE("every two levels of tiers and run-time axes meet", "[pairwise]") {
  namespace scenarios = testing::scenarios;
  CHECK(missing(scenarios::space<rows::single>(), scenarios::all<rows::single>()) == "");
  CHECK(missing(scenarios::space<rows::wide>(), scenarios::all<rows::wide>()) == "");
  CHECK(missing(scenarios::space<rows::device>(), scenarios::all<rows::device>()) == "");
}

TEST_CASE("a row that is left out is missed", "[pairwise]") {
  std::vector<row> levels = levels_of(rows::single);
  levels.pop_back();
  CHECK(missing(testing::tier_space(3), levels) != "");
}

TEST_CASE("a tier that the library refuses is noticed", "[pairwise]") {
  testing::tier_row updates = rows::single[0], scopes = rows::single[0];
  updates.momentum = rows::m_0, updates.of_update = true;
  scopes.clip = rows::unit, scopes.scale = rows::s_t;
  CHECK_FALSE(testing::tier_space(3).fits(updates.levels()));
  CHECK_FALSE(testing::tier_space(3).fits(scopes.levels()));
}
