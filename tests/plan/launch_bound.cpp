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
/// One tensor, prepared for the executor above.
struct prepared {
  testing::model<experts, bf16> m;
  std::vector<testing::model<experts, bf16>::tensor::bound> one;
  int launches = 0;
  small_executor x{&launches};

  explicit prepared(std::vector<int64_t> const& shape) : m{{shape}} {
    m.tensors[0].new_gradient(0);
    one.push_back(m.tensors[0].whole());
  }
  /// Calls step(plan, workspace) with a schedule's plan. @return its status
  template <class F>
  tieropt::status with(tieropt::schedule how, F const& step) {
    auto const plan = tieropt::make_plan<tieropt::tier_policy<experts>>(how, one);
    REQUIRE(plan.has_value());
    testing::scratch workspace{plan->workspace_bytes()};
    REQUIRE(tieropt::prepare(x, *plan, workspace));
    return step(*plan, workspace);
  }
  tieropt::status host_step(tieropt::schedule how) {
    return with(how, [&](auto const& plan, auto& workspace) {
      tieropt::hyper const hypers[] = {{}};
      return tieropt::enqueue(x, plan, workspace, hypers);
    });
  }
  tieropt::status resident_step(tieropt::schedule how) {
    return with(how, [&](auto const& plan, auto& workspace) {
      tieropt::hyper const h;
      tieropt::step_inputs const in;
      return tieropt::enqueue(x, plan, workspace, tieropt::resident<tieropt::hyper>{&h},
                              tieropt::resident<tieropt::step_inputs>{&in});
    });
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
      prepared p{shape};
      auto const before = p.m.tensors[0];
      auto const host = p.host_step(how);
      INFO("R " << shape[0] << ", C " << shape[1]);
      CHECK(static_cast<bool>(host) == fits);
      if (fits) continue;
      for (auto const& s : {host, p.resident_step(how)}) {
        CHECK(s.code == tieropt::errc::too_large);
        CHECK(s.range == 0);
      }
      CHECK(p.launches == 0);
      CHECK(p.m.tensors[0].difference(before) == "");
    }
  }
}

TEST_CASE("a schedule of smaller groups has smaller launches", "[bounds]") {
  prepared p{{8, 100, 8}};
  CHECK_FALSE(static_cast<bool>(p.host_step(tieropt::streaming())));
  CHECK(p.launches == 0);
  CHECK(static_cast<bool>(p.host_step(tieropt::cache_resident(1))));
  CHECK(p.launches == 2 + 5 * 8);
}
