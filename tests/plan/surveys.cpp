// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a plan says of norms, faults, masters and narrow states, beside what it does.

#include "support/catch.hpp"
#include "support/counting.hpp"
#include "support/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace {

using tieropt::bf16;
using tieropt::errc;
namespace corrected = tieropt::skewadam::corrected;

struct free_experts : corrected::experts {};
struct norm_experts : corrected::experts {
  using grad_clip = tieropt::global_norm_clip;
};
struct norm_l2_experts : norm_experts {
  using decay = tieropt::l2_decay;
};
struct wary_experts : corrected::experts {
  using fault = tieropt::skip_matrix;
};
struct counting_experts : corrected::experts {
  using fault = tieropt::propagate_counted;
};
struct wary_adamw : tieropt::adamw::tensor {
  using fault = tieropt::skip_step;
};
struct wary_muon : tieropt::muon::matrix_as<float, float> {
  using fault = tieropt::skip_matrix;
  using grad_clip = tieropt::global_norm_clip;
};

/// Launches of a step of one range of three tensors, planned and counted.
template <class Tier>
void check_launches(tieropt::schedule how, std::int64_t expected) {
  using tensor = testing::owned_tensor<Tier, float, float>;
  std::vector<tensor> tensors;
  tensors.reserve(3);
  std::vector<typename tensor::bound> bound;
  for (int k = 0; k < 3; ++k) {
    tensors.emplace_back(std::vector<std::int64_t>{2, 4, 40}, k);
    tensors.back().new_gradient(k);
    bound.push_back(tensors.back().whole());
  }
  auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(how, bound);
  REQUIRE(plan.has_value());
  std::int64_t launches = 0, products = 0;
  testing::counting_executor const counting{launches};
  auto const x = tieropt::with_gemm(counting, testing::counting_gemm{&products});
  testing::scratch workspace{x, plan->workspace_bytes()};
  REQUIRE(tieropt::prepare(x, *plan, workspace));
  tieropt::hyper const hypers[] = {{}};
  REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers, {}));
  CHECK(launches == plan->launches());
  CHECK(launches == expected);
}

constexpr tieropt::schedule together = tieropt::streaming();
// Every matrix is a group of its own: six of them.
tieropt::schedule const apart = tieropt::cache_resident(1);

template <class State>
tieropt::state_size size_of(std::vector<std::int64_t> const& shape) {
  return tieropt::state_bytes<State>(
      cuda::std::span<std::int64_t const>{shape.data(), shape.size()});
}

struct narrow_adamw : tieropt::adamw::tensor {
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::exact_variance<tieropt::root_uint8>;
  using master = tieropt::carry_master;
};
struct whole_adamw : tieropt::adamw::tensor {
  using momentum = tieropt::ema_momentum<bf16>;
  using variance = tieropt::exact_variance<tieropt::block_scaled<tieropt::fp8_e4m3>>;
  using master = tieropt::master_weights<float>;
};

/// A (3, 40) tensor of narrow_adamw with all its buffers.
struct narrow_tensor {
  std::vector<bf16> param = std::vector<bf16>(120), grad = param;
  std::vector<std::int8_t> momentum = std::vector<std::int8_t>(120);
  std::vector<std::uint8_t> exact = std::vector<std::uint8_t>(120);
  std::vector<float> momentum_scales = std::vector<float>(6), exact_scales = momentum_scales;
  std::vector<std::uint16_t> low = std::vector<std::uint16_t>(120);
  std::vector<std::uint8_t> carry = std::vector<std::uint8_t>(15);
  std::int64_t step = 0;

  tieropt::bound_tensor<narrow_adamw, bf16> bound() {
    using tieropt::view;
    return {.param = view(param.data(), 3, 40),
            .grad = view(static_cast<bf16 const*>(grad.data()), 3, 40),
            .momentum = {.codes = view(momentum.data(), 3, 40),
                         .scales = view(momentum_scales.data(), 3, 2)},
            .variance = {.exact = {.codes = view(exact.data(), 3, 40),
                                   .scales = view(exact_scales.data(), 3, 2)}},
            .master = {.remainder = view(low.data(), 3, 40), .carry = view(carry.data(), 3, 5)},
            .step = view(&step, 1)};
  }
};

template <class Bound>
tieropt::status status_of(Bound const& b) {
  std::vector<Bound> const one{b};
  auto const plan = tieropt::make_plan<tieropt::tier_policy<typename Bound::population>>(one);
  return plan ? tieropt::status{} : plan.error();
}
template <class Bound>
errc planned(Bound const& b) {
  return status_of(b).code;
}

}  // namespace

TEST_CASE("norms and faults cost the launches that the plan says", "[surveys]") {
  check_launches<free_experts>(together, 7);
  check_launches<norm_experts>(together, 7 + 4);      // judge, tally, settle, count
  check_launches<norm_l2_experts>(together, 7 + 5);   // and norm
  check_launches<wary_experts>(together, 7 + 2);      // judge, count
  check_launches<counting_experts>(together, 7 + 1);  // count
  check_launches<wary_adamw>(together, 3 + 5);        // norm, judge, tally, settle, count
  check_launches<wary_muon>(together, 6 + 5);         // the same
  check_launches<free_experts>(apart, 2 + 6 * 5);
  check_launches<norm_experts>(apart, 2 + 6 * 4 + 5);  // the squares go over all first
  check_launches<wary_experts>(apart, 2 + 6 * 6 + 1);  // a matrix is judged in its group
  check_launches<wary_adamw>(apart, 2 + 6 + 5);
}

TEST_CASE("a fault part of one range adds a launch to the others where the step rests",
          "[surveys]") {
  testing::owned_tensor<free_experts, float, float> a{{4, 40}, 1};
  testing::owned_tensor<wary_adamw, float, float> b{{4, 40}, 2};
  std::vector const first{a.whole()};
  std::vector const second{b.whole()};
  using policy = tieropt::tier_policy<free_experts, wary_adamw>;
  auto const plan = tieropt::make_plan<policy>(first, second);
  REQUIRE(plan.has_value());
  CHECK(plan->launches() == 7 + 1 + 3 + 5);
}

TEST_CASE("scales, halves and carries are counted to the byte", "[surveys]") {
  auto const narrow = size_of<narrow_adamw>({5, 3, 40});
  CHECK(narrow.momentum == 5 * 3 * (40 + 2 * 4));
  CHECK(narrow.exact == 5 * 3 * (40 + 2 * 4));
  CHECK(narrow.master == 5 * 3 * (40 * 2 + 5));
  auto const whole = size_of<whole_adamw>({257});
  CHECK(whole.momentum == 257 * 2);
  CHECK(whole.exact == 257 + 9 * 4);
  CHECK(whole.master == 257 * 4);
  CHECK(whole.total() == 257 * 7 + 36);
}

TEST_CASE("views of scales, halves and carries are checked", "[surveys]") {
  narrow_tensor t;
  auto const good = t.bound();
  REQUIRE(planned(good) == errc::ok);
  auto const refused = [&](auto const& change) {
    auto b = good;
    change(b);
    return planned(b);
  };
  using tieropt::view;
  CHECK(refused([&](auto& b) { b.momentum.scales = view(t.momentum_scales.data(), 3, 1); }) ==
        errc::shape);
  CHECK(refused([&](auto& b) { b.momentum.scales = {}; }) == errc::shape);
  CHECK(refused([&](auto& b) { b.variance.exact.codes = view(t.exact.data(), 40, 3); }) ==
        errc::shape);
  CHECK(refused([&](auto& b) { b.master.carry = view(t.carry.data(), 3, 4); }) == errc::shape);
  CHECK(refused([&](auto& b) { b.master.remainder = {}; }) == errc::shape);
  CHECK(refused([&](auto& b) { b.master.carry.data = nullptr; }) == errc::null_buffer);
  CHECK(refused([&](auto& b) { b.momentum.scales.data = t.exact_scales.data(); }) ==
        errc::aliasing);
  CHECK(refused([&](auto& b) { b.momentum.scales.stride[1] = 0; }) == errc::overlapping_strides);
}

TEST_CASE("a status names the view", "[surveys]") {
  narrow_tensor t;
  auto const view_of = [&](auto const& change) {
    auto b = t.bound();
    change(b);
    return std::string{status_of(b).view};
  };
  CHECK(view_of([](auto& b) { b.param.rank = 9; }) == "param");
  CHECK(view_of([](auto& b) { b.grad.extent[0] = 4; }) == "grad");
  CHECK(view_of([](auto& b) { b.momentum.codes = {}; }) == "momentum.codes");
  CHECK(view_of([](auto& b) { b.momentum.scales = {}; }) == "momentum.scales");
  CHECK(view_of([](auto& b) { b.variance.exact.scales.data = nullptr; }) ==
        "variance.exact.scales");
  CHECK(view_of([](auto& b) { b.master.carry = {}; }) == "master.carry");
  CHECK(view_of([](auto& b) { b.step = {}; }) == "step");
  CHECK(view_of([](auto& b) { b.group = -1; }).empty());
  CHECK(view_of([](auto&) {}).empty());
}

TEST_CASE("dimensions that are no rows and columns are refused", "[surveys]") {
  testing::owned_tensor<tieropt::adamw::tensor, float, float> t{{2, 3, 4}, 1};
  auto b = t.whole();
  for (auto const dims : {tieropt::matrix_dims{1, 1}, tieropt::matrix_dims{2, 1},
                          tieropt::matrix_dims{0, 3}, tieropt::matrix_dims{-4, -1}}) {
    b.dims = dims;
    CHECK(planned(b) == errc::matrix_dims);
  }
  b.dims = {0, 1};                   // four matrices of (2, 3)
  CHECK(planned(b) == errc::shape);  // four steps
  t.step.assign(4, 0);
  b.step = tieropt::view(t.step.data(), 4);
  CHECK(planned(b) == errc::ok);
  b.dims = tieropt::two_largest();  // two matrices of (3, 4)
  b.step = tieropt::view(t.step.data(), 2);
  CHECK(planned(b) == errc::ok);
}

TEST_CASE("missed steps are refused where nothing can make up for them", "[surveys]") {
  std::int64_t missed = 0;
  int const active = 1;
  testing::owned_tensor<corrected::backbone, float, float> moving{{3, 4}, 1};
  auto b = moving.whole();
  b.active = tieropt::view(&active, 1);
  b.missed = tieropt::view(&missed, 1);
  CHECK(planned(b) == errc::catch_up);
  testing::owned_tensor<corrected::experts, float, float> still{{3, 4}, 1};
  auto c = still.whole();
  c.missed = b.missed;
  CHECK(planned(c) == errc::catch_up);  // without active nothing is missed
  c.active = b.active;
  CHECK(planned(c) == errc::ok);
}

TEST_CASE("a limit of the norm is checked like other inputs", "[surveys]") {
  testing::owned_tensor<norm_experts, float, float> t{{3, 4}, 1};
  std::vector one{t.whole()};
  testing::executor const x;
  CHECK(testing::step_of<norm_experts>(x, one, {}, {.max_grad_norm = -1}) ==
        tieropt::message(errc::input_norm));
  CHECK(testing::step_of<norm_experts>(x, one, {}, {.max_grad_norm = 1.0 / 0.0}) ==
        tieropt::message(errc::hyper_not_finite));
  CHECK(t.step[0] == 0);
}
