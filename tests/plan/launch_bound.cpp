// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A launch beyond what an executor takes is refused before the first one.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <vector>

namespace {

using experts = tieropt::skewadam::corrected::experts;
using tieropt::bf16;

/// Takes up to three blocks and counts launches.
struct small_executor {
  static constexpr std::int64_t max_blocks = 3;
  int* launches;
  tieropt::status upload(void* to, void const* from, std::size_t bytes) const {
    return tieropt::serial_executor{}.upload(to, from, bytes);
  }
  template <tieropt::block_body Body>
  tieropt::status launch(std::int64_t blocks, Body const& body) const {
    ++*launches;
    return tieropt::serial_executor{}.launch(blocks, body);
  }
};
static_assert(tieropt::max_blocks_of<small_executor>() == 3);
static_assert(tieropt::max_blocks_of<tieropt::serial_executor>() == INT64_MAX);

}  // namespace

TEST_CASE("more blocks than an executor takes are refused before the first launch", "[bounds]") {
  // Tiles of 128 x 1,024; a fold has one block for the rows and one for a segment of columns.
  struct expectation {
    std::vector<int64_t> shape;
    bool fits;
  };
  for (auto const& [shape, fits] : std::vector<expectation>{{{3 * 128, 8}, true},
                                                            {{3 * 128 + 1, 8}, false},
                                                            {{8, 2 * 1024}, true},
                                                            {{8, 2 * 1024 + 1}, false}}) {
    for (auto const& how : {tieropt::streaming(), tieropt::cache_resident(1 << 30)}) {
      testing::model<experts, bf16> m{{{shape}}};
      m.tensors[0].new_gradient(0);
      auto const before = m.tensors[0];
      std::vector one{m.tensors[0].whole()};
      auto const plan = tieropt::make_plan<tieropt::tier_policy<experts>>(how, one);
      REQUIRE(plan.has_value());
      testing::scratch workspace{plan->workspace_bytes()};
      int launches = 0;
      small_executor const x{&launches};
      REQUIRE(tieropt::prepare(x, *plan, workspace));
      tieropt::hyper const hypers[] = {{}};
      tieropt::step_inputs const inputs{};
      auto const host = tieropt::enqueue(x, *plan, workspace, hypers, inputs);
      INFO("R " << shape[0] << ", C " << shape[1]);
      CHECK(static_cast<bool>(host) == fits);
      if (fits) continue;
      auto const resident =
          tieropt::enqueue(x, *plan, workspace, tieropt::resident<tieropt::hyper>{hypers},
                           tieropt::resident<tieropt::step_inputs>{&inputs});
      for (auto const& s : {host, resident}) {
        CHECK(s.code == tieropt::errc::too_large);
        CHECK(s.range == 0);
      }
      CHECK(launches == 0);
      CHECK(m.tensors[0].difference(before) == "");
    }
  }
}

TEST_CASE("a schedule of smaller groups has smaller launches", "[bounds]") {
  testing::model<experts, bf16> m{{{8, 100, 8}}};
  m.tensors[0].new_gradient(0);
  std::vector one{m.tensors[0].whole()};
  for (auto const& [how, fits] : std::vector{std::pair{tieropt::streaming(), false},
                                             std::pair{tieropt::cache_resident(1), true}}) {
    auto const plan = tieropt::make_plan<tieropt::tier_policy<experts>>(how, one);
    REQUIRE(plan.has_value());
    testing::scratch workspace{plan->workspace_bytes()};
    int launches = 0;
    small_executor const x{&launches};
    REQUIRE(tieropt::prepare(x, *plan, workspace));
    tieropt::hyper const hypers[] = {{}};
    CHECK(static_cast<bool>(tieropt::enqueue(x, *plan, workspace, hypers)) == fits);
    CHECK(launches == (fits ? 2 + 5 * 8 : 0));
  }
}
