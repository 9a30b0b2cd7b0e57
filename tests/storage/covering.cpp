// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The covering arrays of storage cover: every two levels that can meet do so in some row.

#include "support/catch.hpp"
#include "support/storage_engine.hpp"

#include <iterator>
#include <set>

namespace stored = testing::stored;
using testing::pairwise::missing;
using testing::pairwise::row;

namespace {

template <class Rows>
std::vector<row> levels_of(Rows const& rows) {
  std::vector<row> all;
  for (auto const& r : rows) all.push_back(r.levels());
  return all;
}
template <class Rows>
std::vector<row> device_levels_of(Rows const& rows) {
  std::vector<row> all;
  for (auto const& r : rows) all.push_back(r.device_levels());
  return all;
}

}  // namespace

TEST_CASE("every two levels of storage, masters, passes, roundings and faults meet", "[pairwise]") {
  CHECK(std::size(stored::names::host) <= 80);
  CHECK(missing(stored::row_space(), levels_of(stored::names::host)) == "");
}

TEST_CASE("on a device, every two ways to read, write and rest meet", "[pairwise]") {
  CHECK(std::size(stored::names::device) <= 20);
  CHECK(missing(stored::device_space(), device_levels_of(stored::names::device)) == "");
  // And every level of the finer axes occurs.
  auto const levels = levels_of(stored::names::device);
  auto const space = stored::row_space();
  for (int axis = 0; axis < space.axes(); ++axis) {
    std::set<int> met;
    for (row const& r : levels) met.insert(r[static_cast<std::size_t>(axis)]);
    INFO("axis " << axis);
    CHECK(static_cast<int>(met.size()) == space.levels[static_cast<std::size_t>(axis)]);
  }
  for (row const& r : levels) CHECK(space.fits(r));
}

TEST_CASE("a row of storage that is left out is missed", "[pairwise]") {
  auto host = levels_of(stored::names::host);
  auto device = device_levels_of(stored::names::device);
  host.pop_back(), device.pop_back();
  CHECK(missing(stored::row_space(), host) != "");
  CHECK(missing(stored::device_space(), device) != "");
}

TEST_CASE("halves of a float under a parameter that is no bf16 are noticed", "[pairwise]") {
  stored::row split = stored::names::host[0], updates = stored::names::host[0];
  split.param = stored::kind::fp16, split.master = stored::master_kind::carry;
  updates.momentum = stored::kind::none, updates.shape = stored::shape_kind::of_update;
  CHECK_FALSE(stored::row_space().fits(split.levels()));
  CHECK_FALSE(stored::row_space().fits(updates.levels()));
}

TEST_CASE("scenarios take every listed size as rows and as columns, in every layout",
          "[generator]") {
  auto const c = stored::case_of<stored::names::host, 9>();
  std::set<std::int64_t> rows, columns;
  std::set<int> dims, ranks;
  for (int i = 0; i < 44; ++i) {
    auto const s = stored::make_scenario(c, i, 20261130 + 1000 * static_cast<std::uint64_t>(i));
    for (auto const& b : s.tensors) {
      rows.insert(b.R()), columns.insert(b.C()), dims.insert(b.dims);
      ranks.insert(static_cast<int>(b.shape.extents.size()));
    }
  }
  for (std::int64_t const n : {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025}) {
    INFO("size " << n);
    CHECK(columns.count(n) == 1);
  }
  CHECK(rows.count(255) + rows.count(1025) + rows.count(256) > 0);
  CHECK(dims.size() == 4);
  CHECK(ranks == std::set<int>{1, 2, 3, 4});
}
