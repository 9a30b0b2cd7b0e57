// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mistakes that optimizers are known for, each with the smallest input that shows it.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace {

using experts = tieropt::skewadam::corrected::experts;    // factored, eps inside
using published = tieropt::skewadam::published::experts;  // factored, eps as a floor
using router = tieropt::skewadam::corrected::router;      // exact, eps inside
using adamw = tieropt::adamw::tensor;                     // momentum, exact, eps added
using tieropt::bf16;
using tieropt::fp16;

testing::executor const executor;

template <class Tier, class Param = float>
using tensor = testing::owned_tensor<Tier, Param, Param>;

template <class Tier, class Param>
void step(tensor<Tier, Param>& t, tieropt::hyper const& h,
          tieropt::step_inputs const& inputs = {.seed = 3}) {
  std::vector one{t.whole()};
  REQUIRE(testing::step_of<Tier>(executor, one, h, inputs) == "");
}

/// A tensor whose weights are all p and whose gradients are all g.
template <class Tier, class Param = float>
tensor<Tier, Param> uniform(std::vector<std::int64_t> const& shape, double p, double g) {
  tensor<Tier, Param> t{shape, 4};
  t.param.fill([&](std::int64_t) { return p; });
  t.grad.fill([&](std::int64_t) { return g; });
  return t;
}

}  // namespace

TEST_CASE("found_inf rests a factored matrix of two by two at any gradient scale", "[bug log]") {
  tensor<experts> t{{2, 2}, 4};
  t.new_gradient(0);
  step(t, {});
  auto const before = t;
  t.grad[3] = std::numeric_limits<float>::infinity();
  for (double const scale : {1.0, 1024.0}) {
    step(t, {}, {.grad_scale = scale, .found_inf = 1});
    CHECK(t.difference(before) == "");
  }
}

TEST_CASE("empty tensors hold nothing back, wherever the tables are cut", "[bug log]") {
  auto const list = [](int before, int after) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(before), 1);
    sizes.push_back(0);
    sizes.insert(sizes.end(), static_cast<std::size_t>(after), 1);
    return sizes;
  };
  for (auto const& sizes : {std::vector<std::int64_t>{1, 1, 0, 1, 0}, list(35, 20), list(31, 2),
                            list(32, 1), list(31, 0), list(32, 0), list(63, 1)}) {
    std::vector<tensor<experts>> tensors;
    for (auto const n : sizes) tensors.push_back(uniform<experts>({n}, 0, 0.5));
    std::vector<tensor<experts>::bound> all;
    for (auto& t : tensors) all.push_back(t.whole());
    REQUIRE(testing::step_of<experts>(executor, all, {.lr = 0.25}, {}) == "");
    for (auto const& t : tensors) {
      CHECK(t.step[0] == t.param.size());
      if (t.param.size() > 0) CHECK(std::fabs(t.param[0] + 0.25) < 1e-6);
    }
  }
}

TEST_CASE("a decay below half a unit of bf16 acts with its probability", "[bug log]") {
  auto t = uniform<router, bf16>({256, 256}, 1, 0);
  step(t, {.lr = 3e-4, .weight_decay = 0.05});
  double const p = (1 - static_cast<double>(static_cast<float>(1 - 3e-4 * 0.05))) * 256, n = 65536;
  int fell = 0;
  for (double const x : t.param.values()) {
    REQUIRE((x == 1 || x == 1 - 0x1p-8));  // one rounding: a neighbour, if any
    fell += x != 1;
  }
  INFO(fell << " of " << n << " fell, expected " << n * p);
  CHECK(std::fabs(fell - n * p) < 4 * std::sqrt(n * p * (1 - p)));
}

TEST_CASE("a weight that its type can hold stays where the update is zero", "[bug log]") {
  for (double const p : {1.5, 1.0, -0x1p-120}) {
    auto t = uniform<router, bf16>({16, 16}, p, 0);
    auto const before = t;
    for (int k = 0; k < 8; ++k) step(t, {.lr = 1});
    CHECK(t.param == before.param);
  }
}

TEST_CASE("nothing is rounded before the one rounding, so that two seeds differ", "[bug log]") {
  // 1 - 0.001 is a quarter of the way from 1 to the next bf16.
  auto const rounded = [](std::uint64_t seed) {
    auto t = uniform<router, bf16>({16, 16}, 1, 0.5);
    step(t, {.lr = 1e-3}, {.seed = seed});
    return t.param.values();
  };
  auto const a = rounded(1), b = rounded(2);
  CHECK(a != b);
  for (auto const& values : {a, b}) {
    int fell = 0;
    for (double const x : values) {
      REQUIRE((x == 1 || x == 1 - 0x1p-8));
      fell += x != 1;
    }
    CHECK(std::fabs(fell - 256 * 0.256) < 4 * std::sqrt(256 * 0.256 * 0.744));
  }
}

TEMPLATE_TEST_CASE("no NaN becomes a number, whatever its bits and the draw", "[bug log]", bf16,
                   fp16, tieropt::fp8_e4m3, tieropt::fp8_e5m2) {
  using codec = tieropt::storage<TestType>;
  for (std::uint32_t const nan :
       {0x7FFFFFFFu, 0xFFFFFFFFu, 0x7F800001u, 0xFF800001u, 0x7FC00000u}) {
    float const x = std::bit_cast<float>(nan);
    for (std::uint32_t const r : {0u, 1u, 0x7FFFu, 0xFFFFu, 0x10000u, 0xFFFFFFFFu}) {
      CHECK(std::isnan(codec::template decode<float>(codec::stochastic(x, r))));
    }
    CHECK(std::isnan(codec::template decode<float>(codec::nearest(x))));
  }
}

TEST_CASE("gradients of zero give no update in fp16, whose own numbers end above eps",
          "[bug log]") {
  auto t = uniform<adamw, fp16>({2, 2}, 0.75, 0);
  auto const before = t;
  for (int k = 0; k < 3; ++k) step(t, {.lr = 1});
  CHECK(t.param == before.param);
  CHECK(t.exact == before.exact);
  CHECK(t.momentum == before.momentum);
}

TEST_CASE("the update of small gradients is what the place of eps makes of it", "[bug log]") {
  // Gradients of 1e-3 at step 1 with beta2 = 0.999: the second moment is 1e-9, below eps = 1e-8.
  auto floored = uniform<published>({2, 2}, 0, 1e-3);
  auto inside = uniform<experts>({2, 2}, 0, 1e-3);
  auto added = uniform<adamw>({2, 2}, 0, 1e-3);
  step(floored, {.lr = 1});
  step(inside, {.lr = 1});
  step(added, {.lr = 1});
  for (int i = 0; i < 4; ++i) {
    CHECK(std::fabs(floored.param[i] + 10 * std::sqrt(1e-3)) < 1e-6);  // 0.316
    CHECK(std::fabs(inside.param[i] + 1) < 1e-6);
    CHECK(std::fabs(added.param[i] + 1e-3 / (1e-3 + 1e-8)) < 1e-6);
  }
}

TEST_CASE("factors of any rank belong to one leading index each", "[bug log]") {
  for (auto const& shape : std::vector<std::vector<std::int64_t>>{{2, 3, 4}, {2, 2, 3, 3}}) {
    auto stack = uniform<experts>(shape, 0.5, 0.1);
    for (std::int64_t i = 0; i < stack.param.size() / 2; ++i) stack.grad[i] = 0.2f;
    auto apart = stack;
    for (int k = 0; k < 2; ++k) {
      step(stack, {});
      std::vector<tensor<experts>::bound> matrices;
      for (std::int64_t e = 0; e < apart.param.E(); ++e) {
        matrices.push_back(apart.part(e, 0, apart.param.R()));
      }
      REQUIRE(testing::step_of<experts>(executor, matrices, {}, {.seed = 3}) == "");
    }
    CHECK(stack.difference(apart) == "");
  }
}

TEST_CASE("one hot expert leaves weights and factors of the others alone", "[bug log]") {
  auto cold = uniform<experts>({8, 128, 256}, 0.5, 0), hot = cold;
  for (std::int64_t i = 3 * 128 * 256; i < 4 * 128 * 256; ++i) hot.grad[i] = 1;
  step(cold, {});
  step(hot, {});
  auto const others = [](auto const& b) {
    auto all = b.values();
    auto const one = static_cast<std::ptrdiff_t>(all.size() / 8);
    all.erase(all.begin() + 3 * one, all.begin() + 4 * one);
    return all;
  };
  CHECK(others(hot.param) == std::vector<double>(7 * 128 * 256, 0.5));
  CHECK(others(hot.row) == others(cold.row));
  CHECK(others(hot.col) == others(cold.col));
  CHECK(hot.param[3 * 128 * 256] < 0.5f);
  CHECK(hot.step == testing::vector<std::int64_t>(8, 1));  // once, however many blocks read it
}

TEST_CASE("every tensor counts its own steps, once a call, whatever its types", "[bug log]") {
  tensor<experts> wide{{3, 2}, 1};
  tensor<router, bf16> narrow{{3, 2}, 2}, alone{{3, 2}, 2};
  using policy = tieropt::tier_policy<experts, router>;
  for (int k = 0; k < 2; ++k) {
    wide.new_gradient(k);
    narrow.new_gradient(k);
    std::vector a{wide.whole()};
    std::vector b{narrow.whole()};
    if (k == 0) b[0].grad = {};
    auto const plan = tieropt::make_plan<policy>(a, b);
    REQUIRE(plan.has_value());
    testing::scratch workspace{plan->workspace_bytes()};
    tieropt::hyper const hypers[] = {{}};
    REQUIRE(tieropt::prepare(executor, *plan, workspace));
    REQUIRE(tieropt::enqueue(executor, *plan, workspace, hypers, {.seed = 3}));
  }
  CHECK(wide.step[0] == 2);
  CHECK(narrow.step[0] == 1);
  alone.new_gradient(1);
  step(alone, {});
  CHECK(narrow.difference(alone) == "");
}

TEST_CASE("betas that differ beyond 8 or 24 bits give second moments that differ", "[bug log]") {
  for (double const beta2 : {0.999, 0.9999, 1 - 1e-9}) {
    auto t = uniform<router>({1, 1}, 0, 1);
    step(t, {.beta2 = beta2});
    CHECK(t.exact[0] == static_cast<float>(1 - beta2));
  }
}

TEST_CASE("a scaled gradient, unscaled once, gives the bits of one that was not", "[bug log]") {
  tensor<experts> plain{{3, 5}, 4};
  plain.new_gradient(0);
  auto scaled = plain, clipped = plain, halved = plain;
  for (std::int64_t i = 0; i < 15; ++i) scaled.grad[i] *= 1024, halved.grad[i] *= 0.5f;
  step(plain, {});
  step(scaled, {}, {.seed = 3, .grad_scale = 1024});
  CHECK(scaled.difference(plain) == "");
  step(clipped, {}, {.seed = 3, .clip_factor = 0.5});  // before the moments
  step(halved, {});
  CHECK(clipped.difference(halved) == "");
  CHECK(clipped.difference(plain) == "row");
}

TEMPLATE_TEST_CASE("gradients are read and not written", "[bug log]", experts, router, adamw) {
  tensor<TestType> t{{2, 3, 5}, 4};
  t.new_gradient(0);
  auto const before = t.grad;
  step(t, {.weight_decay = 0.1}, {.grad_scale = 8, .clip_factor = 0.5});
  CHECK(t.grad == before);
}

TEST_CASE("one row or one column, factored, has the exact second moment", "[bug log]") {
  for (auto const& shape :
       std::vector<std::vector<std::int64_t>>{{1, 4}, {4, 1}, {1, 1}, {}, {4}}) {
    tensor<experts> factored{shape, 4};
    tensor<router> exact{shape, 4};
    for (int k = 0; k < 3; ++k) {
      factored.new_gradient(k);
      exact.new_gradient(k);
      step(factored, {.lr = 1});
      step(exact, {.lr = 1});
    }
    INFO("extents " << Catch::Detail::stringify(shape));
    auto const& along = shape.size() < 2 ? factored.exact
                        : shape[0] == 1  ? factored.col
                                         : factored.row;
    CHECK(along == exact.exact);
    for (std::int64_t i = 0; i < exact.param.size(); ++i) {
      CHECK(std::fabs(factored.param[i] - exact.param[i]) <= 4e-6);  // of updates up to 3 in all
    }
  }
}

TEST_CASE("a mask of nothing but zeros is a step of nothing", "[bug log]") {
  tensor<experts> t{{3, 2, 2}, 4};
  t.new_gradient(0);
  auto const before = t;
  testing::vector<int> const none(3, 0);
  std::vector one{t.whole()};
  one[0].active = tieropt::view(none.data(), 3);
  REQUIRE(testing::step_of<experts>(executor, one, {}, {}) == "");
  CHECK(t.difference(before) == "");
}

TEST_CASE("a view that is none is not read, whatever its address", "[bug log]") {
  tensor<experts> t{{2, 2}, 4};
  t.new_gradient(0);
  auto const before = t;
  int const active[1]{};
  std::vector one{t.whole()};
  one[0].active = tieropt::view(active, 1);
  one[0].active.rank = -1;  // so that it steps
  one[0].grad.rank = -1;    // so that it rests
  REQUIRE(testing::step_of<experts>(executor, one, {}, {}) == "");
  CHECK(t.difference(before) == "");
  one[0].grad.rank = 2;
  REQUIRE(testing::step_of<experts>(executor, one, {}, {}) == "");
  CHECK(t.step[0] == 1);
}

TEST_CASE("factors and counters of nine dimensions, or of too many elements, are refused",
          "[bug log]") {
  tensor<experts> t{{2, 2}, 4};
  auto const planned = [&](auto const& change) {
    std::vector one{t.whole()};
    change(one[0]);
    auto const plan = tieropt::make_plan<tieropt::tier_policy<experts>>(one);
    return plan ? tieropt::errc::ok : plan.error().code;
  };
  CHECK(planned([](auto&) {}) == tieropt::errc::ok);
  CHECK(planned([](auto& b) { b.variance.row.rank = 9; }) == tieropt::errc::rank);
  CHECK(planned([](auto& b) { b.step.rank = 10; }) == tieropt::errc::rank);
  CHECK(planned([](auto& b) {
          b.variance.col.extent[0] = b.variance.col.extent[1] = std::int64_t{1} << 40;
        }) == tieropt::errc::too_large);
  CHECK(planned([](auto& b) { b.step.extent[0] = INT64_MIN; }) == tieropt::errc::shape);
}

TEST_CASE("an idle expert rests, and catches up with the decays that it missed", "[bug log]") {
  auto t = uniform<experts>({2, 2, 2}, 0.5, 0);
  auto const before = t;
  testing::vector<int> active{0, 1};
  testing::vector<std::int64_t> missed(2, 0);
  tieropt::hyper const h{.lr = 0.25, .weight_decay = 0.5};
  auto const go = [&] {
    std::vector one{t.whole()};
    one[0].active = tieropt::view(std::as_const(active).data(), 2);
    one[0].missed = tieropt::view(missed.data(), 2);
    REQUIRE(testing::step_of<experts>(executor, one, h, {}) == "");
  };
  for (int k = 0; k < 3; ++k) go();
  CHECK(t.step == testing::vector<std::int64_t>{0, 3});
  CHECK(missed == testing::vector<std::int64_t>{3, 0});
  for (int i = 0; i < 4; ++i) CHECK(t.param[i] == 0.5f);
  for (int i = 0; i < 2; ++i) CHECK((t.row[i] == before.row[i] && t.col[i] == before.col[i]));
  active[0] = 1;
  go();
  CHECK(t.step == testing::vector<std::int64_t>{1, 4});
  CHECK(missed == testing::vector<std::int64_t>{0, 0});
  for (int i = 0; i < 8; ++i) CHECK(t.param[i] == 0.5f * 0.875f * 0.875f * 0.875f * 0.875f);
}

TEST_CASE("a copy of the state goes on as the original would have", "[bug log]") {
  tensor<router, bf16> straight{{5, 7}, 4}, saved{{5, 7}, 4};
  for (int k = 0; k < 6; ++k) {
    straight.new_gradient(k);
    step(straight, {});
    if (k == 2)
      saved.param = straight.param, saved.exact = straight.exact, saved.step = straight.step;
  }
  for (int k = 3; k < 6; ++k) {
    saved.new_gradient(k);
    step(saved, {});
  }
  CHECK(saved.difference(straight) == "");
}
