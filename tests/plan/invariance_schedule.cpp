// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same bits for any schedule; its launches and bytes are what the plan says.

#include "support/catch.hpp"
#include "support/counting.hpp"
#include "support/model.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace {

using backbone = tieropt::skewadam::corrected::backbone;
using published = tieropt::skewadam::published::experts;
using adamw = tieropt::adamw::tensor;
using tieropt::bf16;

std::vector<std::vector<std::int64_t>> const& shapes() {
  static std::vector<std::vector<std::int64_t>> const all{
      {5, 20, 70}, {0, 4}, {130, 1030}, {900}, {3, 0, 2}, {2, 129, 33}, {}};
  return all;
}

std::vector<tieropt::schedule> schedules() {
  return {tieropt::cache_resident(0),
          tieropt::cache_resident(1 << 13),
          tieropt::cache_resident(1 << 16),
          tieropt::cache_resident(std::numeric_limits<std::int64_t>::max() / 4),
          tieropt::automatic(1 << 16),
          tieropt::automatic(std::int64_t{50} << 20)};
}

}  // namespace

TEMPLATE_TEST_CASE("every schedule gives the bits of the streaming one", "[invariance]", backbone,
                   published, adamw) {
  testing::model<TestType, bf16, bf16> streaming{shapes()};
  REQUIRE(streaming.run(testing::executor{}, 2) == "");
  for (auto const& how : schedules()) {
    testing::model<TestType, bf16, bf16> other{shapes()};
    std::int64_t launches = 0;
    REQUIRE(other.run(testing::counting_executor{launches}, 2, how) == "");
    INFO("cache of " << how.cache_bytes << " bytes");
    CHECK(streaming.difference(other) == "");
    std::vector<typename testing::owned_tensor<TestType, bf16, bf16>::bound> all;
    for (auto& t : other.tensors) all.push_back(t.whole());
    auto const plan = tieropt::make_plan<tieropt::tier_policy<TestType>>(how, all);
    REQUIRE(plan.has_value());
    CHECK(2 * plan->launches() == launches);
  }
}

TEST_CASE("groups are as many matrices as fit, at least one", "[schedule]") {
  // A backbone matrix of (20, 70) in bf16 with an fp32 momentum takes 8 bytes an element.
  testing::model<backbone, bf16, bf16> m{{{5, 20, 70}}};
  std::vector all{m.tensors[0].whole()};
  std::int64_t const matrix = 20 * 70 * 8;
  auto const launches = [&](tieropt::schedule how) {
    auto const plan = tieropt::make_plan<tieropt::skewadam::corrected::policy>(how, all);
    REQUIRE(plan.has_value());
    return plan->launches();
  };
  CHECK(launches(tieropt::streaming()) == 7);
  CHECK(launches(tieropt::cache_resident(1)) == 2 + 5 * 5);
  CHECK(launches(tieropt::cache_resident(matrix)) == 2 + 5 * 5);
  CHECK(launches(tieropt::cache_resident(2 * matrix - 1)) == 2 + 5 * 5);
  CHECK(launches(tieropt::cache_resident(2 * matrix)) == 2 + 5 * 3);
  CHECK(launches(tieropt::cache_resident(5 * matrix)) == 2 + 5);
}

TEST_CASE("a tensor with one clip is never divided", "[schedule]") {
  testing::model<published, bf16, bf16> m{{{5, 20, 70}, {2, 20, 70}}};
  std::vector all{m.tensors[0].whole(), m.tensors[1].whole()};
  auto const plan =
      tieropt::make_plan<tieropt::skewadam::published::policy>(tieropt::cache_resident(1), all);
  REQUIRE(plan.has_value());
  CHECK(plan->launches() == 2 + 5 * 2);
}

TEST_CASE("what stays in the cache is not moved again", "[schedule]") {
  // Expert tier, bf16: 10 bytes streaming, of which the gradient's second and third reading stay.
  using experts = tieropt::skewadam::corrected::experts;
  testing::model<experts, bf16, bf16> m{{{4, 64, 64}}};
  std::vector all{m.tensors[0].whole()};
  auto const traffic = [&](tieropt::schedule how) {
    auto const plan = tieropt::make_plan<tieropt::skewadam::corrected::policy>(how, all);
    REQUIRE(plan.has_value());
    return plan->traffic_bytes();
  };
  std::int64_t const n = 4 * 64 * 64;
  std::int64_t const streaming = traffic(tieropt::streaming());
  CHECK(traffic(tieropt::cache_resident(1 << 20)) == streaming - 4 * n);
  CHECK(traffic(tieropt::cache_resident(1)) == streaming);
  // A handful of kilobytes are not worth a launch; streaming is one group as good as any.
  CHECK(traffic(tieropt::automatic(64 * 64 * 4)) == streaming);
}
