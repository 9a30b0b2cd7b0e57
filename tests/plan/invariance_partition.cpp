// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same bits however the work is cut: into plans, into matrices, into shards of rows.

#include "support/catch.hpp"
#include "support/model.hpp"

namespace {

using backbone = tieropt::skewadam::corrected::backbone;
using experts = tieropt::skewadam::corrected::experts;
using router = tieropt::skewadam::corrected::router;
using tieropt::bf16;

testing::executor const executor;

/// A hundred tensors, most of them small, some empty, some wider than a tile.
std::vector<std::vector<int64_t>> hundred() {
  std::vector<std::vector<int64_t>> all;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto const pick = [&](std::uint64_t what, int64_t n) {
      return static_cast<int64_t>(testing::scramble(what, i) % static_cast<std::uint64_t>(n));
    };
    switch (i % 5) {
      case 0: all.push_back({pick(1, 400)}); break;
      case 1: all.push_back({1 + pick(2, 40), pick(3, 90)}); break;
      case 2: all.push_back({1 + pick(4, 3), 1 + pick(5, 20), 1 + pick(6, 30)}); break;
      case 3: all.push_back({1 + pick(7, 140), 1 + pick(8, 20)}); break;
      default: all.push_back({1 + pick(9, 4), 1000 + pick(10, 100)}); break;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("one plan of a hundred tensors equals a hundred plans of one", "[invariance]") {
  testing::model<backbone, bf16> together{hundred()}, alone{hundred()};
  REQUIRE(together.run(executor, 2) == "");
  for (auto& t : alone.tensors) {
    for (int k = 0; k < 2; ++k) {
      t.new_gradient(k);
      std::vector one{t.whole()};
      REQUIRE(testing::step_of<backbone>(executor, one, alone.hyper, {.seed = alone.seed}) == "");
    }
  }
  CHECK(together.difference(alone) == "");
}

TEST_CASE("one plan of three ranges equals three plans", "[invariance]") {
  std::vector<std::vector<int64_t>> const dense{{33, 65}, {70}}, stacks{{4, 20, 30}}, gate{{8, 16}};
  testing::model<backbone, bf16> backbone_alone{dense}, backbone_together{dense};
  testing::model<experts, bf16> experts_alone{stacks}, experts_together{stacks};
  testing::model<router, float> router_alone{gate}, router_together{gate};
  REQUIRE(backbone_alone.run(executor, 2) == "");
  REQUIRE(experts_alone.run(executor, 2) == "");
  REQUIRE(router_alone.run(executor, 2) == "");
  for (int k = 0; k < 2; ++k) {
    std::vector<tieropt::bound_tensor<backbone, bf16>> a;
    std::vector<tieropt::bound_tensor<experts, bf16>> b;
    std::vector<tieropt::bound_tensor<router, float>> c;
    for (auto& t : backbone_together.tensors) t.new_gradient(k), a.push_back(t.whole());
    for (auto& t : experts_together.tensors) t.new_gradient(k), b.push_back(t.whole());
    for (auto& t : router_together.tensors) t.new_gradient(k), c.push_back(t.whole());
    for (auto& t : c) t.group = 1;
    auto const plan = tieropt::make_plan<tieropt::skewadam::corrected::policy>(a, b, c);
    REQUIRE(plan.has_value());
    testing::scratch workspace{plan->workspace_bytes()};
    REQUIRE(tieropt::prepare(executor, *plan, workspace));
    tieropt::hyper const hypers[] = {backbone_together.hyper, router_together.hyper};
    REQUIRE(tieropt::enqueue(executor, *plan, workspace, hypers, {.seed = 9}));
  }
  CHECK(backbone_alone.difference(backbone_together) == "");
  CHECK(experts_alone.difference(experts_together) == "");
  CHECK(router_alone.difference(router_together) == "");
}

TEMPLATE_TEST_CASE("a stack of matrices equals its matrices one by one", "[invariance]", backbone,
                   experts) {
  // Odd matrices: their first elements take either half of a draw.
  testing::model<TestType, bf16> stacked{{{5, 13, 27}, {3, 129, 35}}},
      apart{{{5, 13, 27}, {3, 129, 35}}};
  REQUIRE(stacked.run(executor, 2) == "");
  for (int k = 0; k < 2; ++k) {
    std::vector<tieropt::bound_tensor<TestType, bf16>> matrices;
    for (auto& t : apart.tensors) {
      t.new_gradient(k);
      for (int64_t e = 0; e < t.param.E(); ++e) matrices.push_back(t.part(e, 0, t.param.R()));
    }
    REQUIRE(testing::step_of<TestType>(executor, matrices, apart.hyper, {.seed = apart.seed}) ==
            "");
  }
  CHECK(stacked.difference(apart) == "");
}

TEST_CASE("shards of rows round like the whole tensor", "[invariance]") {
  // Without statistics over rows nothing but the rounding bits ties elements together.
  using tier = tieropt::adamw::tensor;
  testing::model<tier, bf16, float> whole{{{29, 37}}}, sharded{{{29, 37}}};
  REQUIRE(whole.run(executor, 1) == "");
  auto& t = sharded.tensors[0];
  t.new_gradient(0);
  testing::vector<int64_t> steps(4, 0);
  std::vector<tieropt::bound_tensor<tier, bf16, float>> shards;
  int64_t const cuts[] = {0, 1, 8, 15, 29};
  for (std::size_t i = 0; i < 4; ++i) {
    shards.push_back(t.part(0, cuts[i], cuts[i + 1]));
    shards.back().step = tieropt::view(&steps[i], 1);
  }
  REQUIRE(testing::step_of<tier>(executor, shards, sharded.hyper, {.seed = sharded.seed}) == "");
  t.step[0] = steps[3];
  CHECK(whole.difference(sharded) == "");
}

TEST_CASE("pieces of a vector round like the whole vector", "[invariance]") {
  // Cut at odd places: a piece may start with the upper half of a draw.
  using tier = tieropt::adamw::tensor;
  testing::model<tier, bf16, float> whole{{{1500}}}, pieces{{{1500}}};
  REQUIRE(whole.run(executor, 1) == "");
  auto& t = pieces.tensors[0];
  t.new_gradient(0);
  testing::vector<int64_t> steps(5, 0);
  std::vector<tieropt::bound_tensor<tier, bf16, float>> bound;
  int64_t const cuts[] = {0, 7, 300, 1025, 1026, 1500};
  for (std::size_t i = 0; i < 5; ++i) {
    int64_t const at = cuts[i], n = cuts[i + 1] - at;
    bound.emplace_back();
    auto& b = bound.back();
    b.param = tieropt::view(t.param.data() + at, n);
    b.grad = tieropt::view(std::as_const(t.grad).data() + at, n);
    b.momentum = tieropt::view(t.momentum.data() + at, n);
    b.variance.exact = tieropt::view(t.exact.data() + at, n);
    b.step = tieropt::view(&steps[i], 1);
    b.key = t.key;
    b.first_element = at;
  }
  REQUIRE(testing::step_of<tier>(executor, bound, pieces.hyper, {.seed = pieces.seed}) == "");
  t.step[0] = steps[4];
  CHECK(whole.difference(pieces) == "");
}

TEST_CASE("every element rounds by the bits of its global index", "[invariance]") {
  // The same step on float parameters shows the value before the rounding.
  std::vector<std::vector<int64_t>> const shapes{{3, 5, 7}, {1031}, {2, 17, 1025}};
  testing::model<backbone, bf16, bf16> rounded{shapes};
  testing::model<backbone, float, bf16> exact{shapes};
  for (int64_t const first : {int64_t{0}, int64_t{1}, (int64_t{1} << 33) - 12}) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      auto& a = rounded.tensors[i];
      auto& b = exact.tensors[i];
      a.new_gradient(static_cast<int>(first % 7));
      b.new_gradient(static_cast<int>(first % 7));
      b.param.fill([&](int64_t j) { return testing::element<bf16>::decode(a.param[j]); });
      std::vector one{a.whole()};
      std::vector other{b.whole()};
      one[0].first_element = first;
      REQUIRE(testing::step_of<backbone>(executor, one, rounded.hyper, {.seed = 77}) == "");
      REQUIRE(testing::step_of<backbone>(executor, other, rounded.hyper, {.seed = 77}) == "");
      tieropt::element_bits const bits{tieropt::rounding_key(77, static_cast<std::uint64_t>(a.key),
                                                             static_cast<std::uint64_t>(a.step[0])),
                                       static_cast<std::uint64_t>(first)};
      int wrong = 0;
      for (int64_t j = 0; j < a.param.size(); ++j) {
        auto const want = tieropt::storage<bf16>::stochastic(
            b.param[j], bits.element(static_cast<std::uint32_t>(j)));
        wrong += a.param[j].raw != want.raw;
      }
      INFO("tensor " << i << ", first element " << first);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("another key rounds in another way", "[invariance]") {
  using tier = tieropt::adamw::tensor;
  testing::model<tier, bf16, float> a{{{29, 37}}}, b{{{29, 37}}};
  a.tensors[0].new_gradient(0);
  b.tensors[0].new_gradient(0);
  std::vector one{a.tensors[0].whole()}, other{b.tensors[0].whole()};
  other[0].key = 77;
  REQUIRE(testing::step_of<tier>(executor, one, a.hyper, {.seed = 1}) == "");
  REQUIRE(testing::step_of<tier>(executor, other, b.hyper, {.seed = 1}) == "");
  CHECK(a.difference(b) == "param of tensor 0");
}

TEST_CASE("all layouts give the bits of the row-major one", "[invariance]") {
  std::vector<std::vector<int64_t>> const shapes{{3, 20, 50}, {40}, {130, 261}};
  testing::model<backbone, bf16> dense{shapes};
  REQUIRE(dense.run(executor, 2) == "");
  for (auto const how :
       {testing::layout::column_major, testing::layout::padded, testing::layout::strided}) {
    testing::model<backbone, bf16> other{shapes, how};
    REQUIRE(other.run(executor, 2) == "");
    INFO("layout " << static_cast<int>(how));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      auto &a = dense.tensors[i], &b = other.tensors[i];
      CHECK(a.param.values() == b.param.values());
      CHECK(a.momentum.values() == b.momentum.values());
      CHECK(a.row.values() == b.row.values());
      CHECK(a.col.values() == b.col.values());
      CHECK(a.exact.values() == b.exact.values());
    }
  }
}
