// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whole models on a device: the host's bits for many tensors and every schedule.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <cstdint>
#include <vector>

namespace {

namespace corrected = tieropt::skewadam::corrected;
namespace published = tieropt::skewadam::published;
using tieropt::bf16;

/// More tensors than prepare uploads at once; empty ones first, last and between.
std::vector<std::vector<std::int64_t>> shapes() {
  std::vector<std::vector<std::int64_t>> all{{0}, {128, 1024}, {3, 130, 261}, {0, 7}, {1030}, {}};
  for (std::int64_t i = 0; i < 70; ++i) all.push_back({1 + i % 3, 1 + i % 7 * 5, i * 3 % 50});
  all.push_back({5, 0});
  return all;
}

template <class Tier, class Param, class Grad>
void run() {
  testing::model<Tier, Param, Grad> host{shapes()};
  REQUIRE(host.run(tieropt::serial_executor{}, 2) == "");
  for (auto const how : {tieropt::streaming(), tieropt::cache_resident(1 << 15),
                         tieropt::automatic(std::int64_t{50} << 20)}) {
    testing::model<Tier, Param, Grad> device{shapes()};
    REQUIRE(device.run(testing::executor{}, 2, how) == "");
    CHECK(device.difference(host) == "");
  }
  for (auto const layout : {testing::layout::pitched, testing::layout::strided}) {
    testing::model<Tier, Param, Grad> here{shapes(), layout}, there{shapes(), layout};
    REQUIRE(here.run(testing::executor{}, 1) == "");
    REQUIRE(there.run(tieropt::serial_executor{}, 1) == "");
    CHECK(here.difference(there) == "");
  }
}

}  // namespace

TEST_CASE("a model of the corrected backbone has the host's bits", "[models]") {
  run<corrected::backbone, bf16, bf16>();
}

TEST_CASE("a model of the corrected experts has the host's bits", "[models]") {
  run<corrected::experts, bf16, bf16>();
}

TEST_CASE("a model of the corrected router has the host's bits", "[models]") {
  run<corrected::router, float, bf16>();
}

TEST_CASE("a model of the published backbone has the host's bits", "[models]") {
  run<published::backbone, bf16, float>();
}

TEST_CASE("a model of AdamW has the host's bits", "[models]") {
  run<tieropt::adamw::tensor, bf16, float>();
}
