// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mistakes that narrow states and split weights are known for, each with the smallest input that
/// shows it.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <tieropt/precision/master.hpp>

#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

namespace {

using tieropt::bf16;
using tieropt::fp16;
using tieropt::view;
using int8 = tieropt::softsign_int8;
using uint8 = tieropt::root_uint8;
using fp8_blocks = tieropt::block_scaled<tieropt::fp8_e4m3>;

struct coded : tieropt::tier {
  using momentum = tieropt::ema_momentum<int8>;
  using variance = tieropt::exact_variance<uint8>;
  using eps = tieropt::added_eps;  // nothing is added to squares
  using clip = tieropt::no_clip;
};
struct coded_blocks : coded {
  using variance = tieropt::exact_variance<fp8_blocks>;
};
struct halves : tieropt::adamw::tensor {
  using momentum = tieropt::ema_momentum<fp16>;
  using variance = tieropt::exact_variance<fp16>;
};
template <class Master>
struct split : tieropt::tier {
  using variance = tieropt::no_variance;
  using clip = tieropt::no_clip;
  using rate = tieropt::given_rate;
  using master = Master;
};

testing::executor const executor;

template <class Tier, class Bound>
void step(Bound const& b, tieropt::hyper const& h) {
  std::vector const one{b};
  auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(one);
  REQUIRE(plan.has_value());
  testing::scratch workspace{plan->workspace_bytes()};
  tieropt::hyper const hypers[] = {h};
  REQUIRE(tieropt::prepare(executor, *plan, workspace));
  REQUIRE(tieropt::enqueue(executor, *plan, workspace, hypers, {.seed = 3}));
}

/// One row with codes of both moments.
template <class Variance>
struct coded_row {
  using tier = std::conditional_t<std::is_same_v<Variance, uint8>, coded, coded_blocks>;
  testing::vector<float> param, grad, scales, variance_scales;
  testing::vector<std::int8_t> codes;
  testing::vector<typename Variance::code> variance_codes;
  testing::vector<std::int64_t> steps = testing::vector<std::int64_t>(1);

  explicit coded_row(std::size_t n, float p)
      : param(n, p),
        grad(n),
        scales((n + 31) / 32),
        variance_scales((n + 31) / 32),
        codes(n),
        variance_codes(n) {}
  void step(tieropt::hyper const& h) {
    auto const n = static_cast<std::int64_t>(param.size()), groups = (n + 31) / 32;
    tieropt::bound_tensor<tier, float> b;
    b.param = view(param.data(), 1, n);
    b.grad = view(static_cast<float const*>(grad.data()), 1, n);
    b.momentum = {view(codes.data(), 1, n), view(scales.data(), 1, groups)};
    b.variance.exact = {view(variance_codes.data(), 1, n), view(variance_scales.data(), 1, groups)};
    b.step = view(steps.data(), 1);
    ::step<tier>(b, h);
  }
  float variance(std::size_t i) const {
    return Variance::decode(variance_codes[i], variance_scales[i / 32]);
  }
  float momentum(std::size_t i) const { return int8::decode(codes[i], scales[i / 32]); }
};

}  // namespace

TEMPLATE_TEST_CASE("256 gradients of zero have codes, scales and an update of zero", "[bug log]",
                   uint8, fp8_blocks) {
  coded_row<TestType> row{256, 0.75f};
  for (int k = 0; k < 3; ++k) row.step({.lr = 1});
  for (std::size_t i = 0; i < 256; ++i) {
    REQUIRE(row.codes[i] == 0);
    REQUIRE(std::bit_cast<std::uint8_t>(row.variance_codes[i]) == 0);
    REQUIRE((row.momentum(i) == 0 && row.variance(i) == 0));
    REQUIRE(row.param[i] == 0.75f);
  }
  CHECK(row.scales == testing::vector<float>(8, 0));
}

TEMPLATE_TEST_CASE("a weight without a gradient stays beside one with a large one", "[bug log]",
                   uint8, fp8_blocks) {
  coded_row<TestType> row{33, 0.75f};
  row.grad[4] = 1000;
  for (int k = 0; k < 3; ++k) row.step({.lr = 0.125});
  for (std::size_t i = 0; i < 33; ++i) REQUIRE((row.param[i] == 0.75f) == (i != 4));
}

TEMPLATE_TEST_CASE("second moments of 1e-9 and of 1e6 keep their size in 8 bits", "[bug log]",
                   uint8, fp8_blocks) {
  for (double const v : {1e-9, 1e6, 1e-30}) {
    coded_row<TestType> row{40, 0};
    auto const g = static_cast<float>(std::sqrt(v));
    for (auto& x : row.grad) x = g;
    row.step({.lr = 1, .beta2 = 0});
    for (std::size_t i = 0; i < 40; ++i) {
      REQUIRE(std::fabs(row.variance(i) / v - 1) < 1e-6);  // the largest of a group is exact
      REQUIRE(std::fabs(row.momentum(i) / (0.1 * static_cast<double>(g)) - 1) < 1e-6);
    }
  }
}

TEST_CASE("gradients of zero give no update where fp16 holds everything", "[bug log]") {
  testing::vector<fp16> param(4, fp16{0x3A00}), grad(4), momentum(4), exact(4);
  testing::vector<std::int64_t> steps(1);
  tieropt::bound_tensor<halves, fp16> b;
  b.param = view(param.data(), 2, 2);
  b.grad = view(static_cast<fp16 const*>(grad.data()), 2, 2);
  b.momentum = view(momentum.data(), 2, 2);
  b.variance.exact = view(exact.data(), 2, 2);
  b.step = view(steps.data(), 1);
  for (int k = 0; k < 3; ++k) step<halves>(b, {.lr = 1});
  for (int i = 0; i < 4; ++i) {
    CHECK(param[i].raw == 0x3A00);
    CHECK((momentum[i].raw == 0 && exact[i].raw == 0));
  }
}

TEST_CASE("the bf16 half of a split weight is the nearest, with ties as its master says",
          "[bug log]") {
  testing::vector<bf16> param(1), grad(1);
  testing::vector<std::uint16_t> remainder(1);
  testing::vector<std::uint8_t> carry(1);
  testing::vector<std::int64_t> steps(1);
  auto const bind = [&]<class Tier>(tieropt::bound_tensor<Tier, bf16> b) {
    b.param = view(param.data(), 1, 1);
    b.grad = view(static_cast<bf16 const*>(grad.data()), 1, 1);
    b.master.remainder = view(remainder.data(), 1, 1);
    if constexpr (Tier::master::carries) b.master.carry = view(carry.data(), 1, 1);
    b.step = view(steps.data(), 1);
    return b;
  };
  using even = split<tieropt::carry_master>;
  using away = split<tieropt::remainder_master>;
  // Half way between the bf16 numbers 0x3F80 and 0x3F81.
  float const tie = std::bit_cast<float>(0x3F808000u);
  param[0].raw = 0x3F80, remainder[0] = 0x8000;
  step<even>(bind(tieropt::bound_tensor<even, bf16>{}), {.lr = 1});
  CHECK((param[0].raw == 0x3F80 && remainder[0] == 0x8000 && carry[0] == 0));
  CHECK(tieropt::join_even(param[0].raw, remainder[0], carry[0]) == tie);
  param[0].raw = 0x3F81;
  step<away>(bind(tieropt::bound_tensor<away, bf16>{}), {.lr = 1});
  CHECK((param[0].raw == 0x3F81 && remainder[0] == 0x8000));
  CHECK(tieropt::join_away(param[0].raw, remainder[0]) == tie);
  // A decay far below a bf16 spacing is not lost, and is there to the last bit.
  param[0].raw = 0x3F80, remainder[0] = 0;
  step<even>(bind(tieropt::bound_tensor<even, bf16>{}), {.lr = 3e-4, .weight_decay = 0.05});
  CHECK(param[0].raw == 0x3F80);
  CHECK(tieropt::join_even(param[0].raw, remainder[0], carry[0]) ==
        static_cast<float>(1 - 3e-4 * 0.05));
}
