// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What rests stays as it is, bit for bit; what has seen only zeros moves by nothing.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace {

using backbone = tieropt::skewadam::corrected::backbone;
using experts = tieropt::skewadam::corrected::experts;
using published = tieropt::skewadam::published::backbone;
using router = tieropt::skewadam::corrected::router;
using adamw = tieropt::adamw::tensor;

testing::executor const executor;
tieropt::hyper const usual{.lr = 0.01, .weight_decay = 0.1};

template <class Tier>
using tensor = testing::owned_tensor<Tier, float, float>;

template <class Tier>
std::string step(std::vector<typename tensor<Tier>::bound>& tensors,
                 tieropt::step_inputs const& inputs = {.seed = 3}, tieropt::hyper h = usual) {
  return testing::step_of<Tier>(executor, tensors, h, inputs);
}
template <class Tier>
std::string step(typename tensor<Tier>::bound const& b,
                 tieropt::step_inputs const& inputs = {.seed = 3}, tieropt::hyper h = usual) {
  std::vector one{b};
  return step<Tier>(one, inputs, h);
}

/// A tensor that has taken two steps.
template <class Tier>
tensor<Tier> seasoned(std::vector<std::int64_t> const& shape) {
  tensor<Tier> t{shape, 4};
  for (int k = 0; k < 2; ++k) {
    t.new_gradient(k);
    REQUIRE(step<Tier>(t.whole()) == "");
  }
  t.new_gradient(2);
  return t;
}

/// Elements [first, last) of a buffer.
template <class T>
std::vector<double> range(testing::buffer<T> const& b, std::int64_t first, std::int64_t last) {
  auto const all = b.values();
  return {all.begin() + first, all.begin() + last};
}

}  // namespace

TEMPLATE_TEST_CASE("a tensor without a gradient rests", "[resting]", backbone, published, router,
                   adamw) {
  auto t = seasoned<TestType>({3, 5, 7});
  auto const before = t;
  auto b = t.whole();
  b.grad = {};
  REQUIRE(step<TestType>(b) == "");
  CHECK(t.difference(before) == "");
  b = t.whole();
  b.grad.data = nullptr;
  REQUIRE(step<TestType>(b) == "");
  CHECK(t.difference(before) == "");
  REQUIRE(step<TestType>(t.whole()) == "");
  CHECK(t.difference(before) == "step");
}

TEMPLATE_TEST_CASE("found_inf rests everything", "[resting]", backbone, published, router, adamw) {
  auto t = seasoned<TestType>({3, 5, 7});
  auto const before = t;
  t.grad[17] = std::numeric_limits<float>::infinity();
  t.grad[40] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(step<TestType>(t.whole(), {.found_inf = 1}) == "");
  CHECK(t.difference(before) == "");
}

TEMPLATE_TEST_CASE("a resident number that is not finite rests everything", "[resting]", backbone,
                   adamw) {
  auto t = seasoned<TestType>({3, 5, 7});
  auto const before = t;
  std::vector one{t.whole()};
  auto const plan = tieropt::make_plan<tieropt::tier_policy<TestType>>(one);
  REQUIRE(plan.has_value());
  testing::scratch workspace{plan->workspace_bytes()};
  REQUIRE(tieropt::prepare(executor, *plan, workspace));
  double const bad = std::numeric_limits<double>::quiet_NaN();
  auto const take = [&](tieropt::hyper const& h, tieropt::step_inputs const& inputs) {
    testing::vector<tieropt::hyper> const hypers{h};
    testing::vector<tieropt::step_inputs> const one_input{inputs};
    return tieropt::enqueue(executor, *plan, workspace,
                            tieropt::resident<tieropt::hyper>{hypers.data()},
                            tieropt::resident<tieropt::step_inputs>{one_input.data()});
  };
  for (auto const& h : {tieropt::hyper{.lr = bad}, tieropt::hyper{.beta1 = bad},
                        tieropt::hyper{.beta2 = bad}, tieropt::hyper{.eps = bad},
                        tieropt::hyper{.clip = 1 / 0.0}, tieropt::hyper{.weight_decay = bad}}) {
    REQUIRE(take(h, {}));
    CHECK(t.difference(before) == "");
  }
  for (auto const& in :
       {tieropt::step_inputs{.grad_scale = bad}, tieropt::step_inputs{.clip_factor = -1 / 0.0},
        tieropt::step_inputs{.found_inf = 1}}) {
    REQUIRE(take(usual, in));
    CHECK(t.difference(before) == "");
  }
  auto host = before;
  REQUIRE(step<TestType>(host.whole()) == "");
  REQUIRE(take(usual, {.seed = 3}));
  CHECK(t.difference(host) == "");
}

TEMPLATE_TEST_CASE("a matrix that is not active rests, and the others do not notice", "[resting]",
                   backbone, router, adamw) {
  auto t = seasoned<TestType>({4, 5, 7});
  auto const before = t;
  auto all = t;
  REQUIRE(step<TestType>(all.whole()) == "");
  testing::vector<int> const active{1, 0, -5, 0};
  auto b = t.whole();
  b.active = tieropt::view(active.data(), 4);
  REQUIRE(step<TestType>(b) == "");
  for (std::int64_t e = 0; e < 4; ++e) {
    auto const& want = active[static_cast<std::size_t>(e)] != 0 ? all : before;
    INFO("matrix " << e);
    CHECK(t.step[static_cast<std::size_t>(e)] == want.step[static_cast<std::size_t>(e)]);
    CHECK(range(t.param, e * 35, e * 35 + 35) == range(want.param, e * 35, e * 35 + 35));
    if (t.momentum.size() > 0) {
      CHECK(range(t.momentum, e * 35, e * 35 + 35) == range(want.momentum, e * 35, e * 35 + 35));
    }
    if (t.factored()) {
      CHECK(range(t.row, e * 5, e * 5 + 5) == range(want.row, e * 5, e * 5 + 5));
      CHECK(range(t.col, e * 7, e * 7 + 7) == range(want.col, e * 7, e * 7 + 7));
    } else {
      CHECK(range(t.exact, e * 35, e * 35 + 35) == range(want.exact, e * 35, e * 35 + 35));
    }
  }
}

TEST_CASE("a step that was rested leaves no trace in later ones", "[resting]") {
  // bf16: the rounding bits too depend on the steps that were taken, not on the calls.
  using tensor16 = testing::owned_tensor<backbone, tieropt::bf16, tieropt::bf16>;
  tensor16 rested{{2, 9, 11}, 4}, straight{{2, 9, 11}, 4};
  auto const take = [](tensor16& t, int gradient, bool present) {
    t.new_gradient(gradient);
    std::vector one{t.whole()};
    if (!present) one[0].grad = {};
    return testing::step_of<backbone>(executor, one, usual, {.seed = 8});
  };
  REQUIRE(take(rested, 0, true) == "");
  REQUIRE(take(rested, 5, false) == "");
  REQUIRE(take(rested, 1, true) == "");
  REQUIRE(take(straight, 0, true) == "");
  REQUIRE(take(straight, 1, true) == "");
  CHECK(rested.difference(straight) == "");
}

TEMPLATE_TEST_CASE("empty tensors may stand anywhere", "[resting]", backbone, published, router,
                   adamw) {
  std::vector<std::vector<std::int64_t>> const empty{{0}, {0, 5}, {5, 0}, {0, 3, 4}, {2, 0, 4}};
  auto alone = seasoned<TestType>({6, 7});
  auto const start = alone;
  REQUIRE(step<TestType>(alone.whole()) == "");
  for (std::size_t place = 0; place <= empty.size(); ++place) {
    auto t = start;
    std::vector<tensor<TestType>> none;
    for (auto const& shape : empty) none.emplace_back(shape, 9);
    std::vector<typename tensor<TestType>::bound> all;
    for (std::size_t i = 0; i < none.size(); ++i) {
      if (i == place) all.push_back(t.whole());
      all.push_back(none[i].whole());
      all.back().param.data = i % 2 == 0 ? nullptr : all.back().param.data;
    }
    if (place == empty.size()) all.push_back(t.whole());
    INFO("place " << place);
    REQUIRE(step<TestType>(all) == "");
    CHECK(t.difference(alone) == "");
    for (std::size_t i = 0; i < none.size(); ++i) {
      CHECK(none[i].difference(tensor<TestType>{empty[i], 9}) == "");
    }
  }
}

TEST_CASE("a plan of no tensors, or of empty ones alone, does nothing", "[resting]") {
  std::vector<tensor<backbone>::bound> none;
  CHECK(step<backbone>(none) == "");
  tensor<backbone> t{{5, 0}, 1};
  t.new_gradient(0);
  CHECK(step<backbone>(t.whole()) == "");
  CHECK(t.step[0] == 0);
}

TEMPLATE_TEST_CASE("gradients that were all zero so far give no update and no NaN", "[resting]",
                   backbone, experts, published, router, adamw) {
  for (auto const& shape : std::vector<std::vector<std::int64_t>>{{5, 7}, {9}, {2, 3, 4}}) {
    tensor<TestType> t{shape, 4};
    auto const before = t;
    for (int k = 1; k <= 3; ++k) {  // the gradient is zero from the start
      REQUIRE(step<TestType>(t.whole(), {.seed = 3}, {.lr = 0.5}) == "");
      CHECK(t.param == before.param);
      CHECK(t.step[0] == k);
    }
    for (auto const& values :
         {t.row.values(), t.col.values(), t.exact.values(), t.momentum.values()}) {
      for (double const v : values) REQUIRE((v >= 0 && v < 1e-20));
    }
    // Decay still applies: p (1 - lr wd), one rounding.
    REQUIRE(step<TestType>(t.whole(), {.seed = 3}, {.lr = 0.5, .weight_decay = 0.25}) == "");
    for (std::int64_t i = 0; i < t.param.size(); ++i) {
      REQUIRE(t.param[i] == before.param[i] * 0.875f);
    }
  }
}

TEST_CASE("one matrix of zeros beside others gets no update", "[resting]") {
  tensor<experts> t{{3, 5, 7}, 4};
  auto const before = t;
  t.new_gradient(0);
  for (std::int64_t i = 35; i < 70; ++i) t.grad[i] = 0;
  REQUIRE(step<experts>(t.whole(), {.seed = 3}, {.lr = 0.5}) == "");
  CHECK(range(t.param, 35, 70) == range(before.param, 35, 70));
  CHECK(range(t.param, 0, 35) != range(before.param, 0, 35));
  CHECK(t.step == testing::vector<std::int64_t>{1, 1, 1});
}

TEMPLATE_TEST_CASE("a zero gradient still applies the momentum that is left", "[resting]", backbone,
                   published, adamw) {
  tensor<TestType> t{{5, 7}, 4};
  t.new_gradient(0);
  REQUIRE(step<TestType>(t.whole(), {.seed = 3}, {.lr = 0.5}) == "");
  auto const before = t;
  t.grad.fill([](std::int64_t) { return 0.0; });
  REQUIRE(step<TestType>(t.whole(), {.seed = 3}, {.lr = 0.5}) == "");
  int moved = 0;
  for (std::int64_t i = 0; i < t.param.size(); ++i) {
    moved += t.param[i] != before.param[i];
    REQUIRE(t.momentum[i] == 0.9f * before.momentum[i]);
  }
  CHECK(moved == t.param.size());
}

TEST_CASE("a NaN in one matrix of a corrected tier does not reach another", "[resting]") {
  auto clean = seasoned<backbone>({3, 5, 7});
  auto dirty = clean;
  dirty.grad[40] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(step<backbone>(clean.whole()) == "");
  REQUIRE(step<backbone>(dirty.whole()) == "");
  for (std::int64_t const e : {0, 2}) {
    CHECK(range(dirty.param, e * 35, e * 35 + 35) == range(clean.param, e * 35, e * 35 + 35));
    CHECK(range(dirty.row, e * 5, e * 5 + 5) == range(clean.row, e * 5, e * 5 + 5));
  }
  CHECK(std::isnan(dirty.param[40]));
}
