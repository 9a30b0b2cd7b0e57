// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Momentum parts on exact numbers.

#include <tieropt/functor/momentum.hpp>
#include <tieropt/functor/variance.hpp>

#include "support/catch.hpp"

namespace {

/// A part of a user's own: its numerator is not its state.
struct sign_momentum {
  using state_type = float;
  template <class T>
  T operator()(T& m, T g, tieropt::step_scalars<T> const& s) const {
    m = tieropt::fma(s.beta1, m, tieropt::mul(s.one_minus_beta1, g));
    return recall(m, s);
  }
  template <class T>
  T recall(T m, tieropt::step_scalars<T> const&) const {
    return m < T(0) ? T(-1) : T(1);
  }
};

struct no_state {
  float operator()(float&, float g, tieropt::step_scalars<float> const&) const { return g; }
};
struct no_operator {
  using state_type = float;
};
struct with_data {
  using state_type = float;
  int data;
  float operator()(float&, float g, tieropt::step_scalars<float> const&) const { return g; }
};

}  // namespace

TEMPLATE_TEST_CASE("the average moves towards the gradient", "[functor]", float, double) {
  tieropt::step_scalars<TestType> s{};
  s.beta1 = TestType(0.75);
  s.one_minus_beta1 = TestType(0.25);
  TestType m = 2;
  CHECK(tieropt::ema_momentum<>{}(m, TestType(-8), s) == TestType(-0.5));
  CHECK(m == TestType(-0.5));
  s.beta1 = 0;
  s.one_minus_beta1 = 1;
  CHECK(tieropt::ema_momentum<>{}(m, TestType(3), s) == TestType(3));
}

TEST_CASE("the product with beta1 is rounded before the gradient is added", "[functor]") {
  // (1 + 2^-12)^2 loses its last term when it is rounded; a fused sum would keep it.
  tieropt::step_scalars<float> s{};
  s.beta1 = 1 + 0x1p-12f;
  s.one_minus_beta1 = 1;
  float m = 1 + 0x1p-12f;
  CHECK(tieropt::ema_momentum<>{}(m, -1.0f, s) == 0x1p-11f);
}

TEST_CASE("the correction of the average is 1 / (1 - beta1^k)", "[functor]") {
  CHECK(tieropt::momentum_gain<tieropt::ema_momentum<>>(0.9, 0.75) == 4.0);
  CHECK(tieropt::momentum_gain<tieropt::ema_momentum<>>(0.9, 0.0) == 1.0);
  CHECK(tieropt::momentum_gain<tieropt::no_momentum>(0.9, 0.75) == 1.0);
  CHECK(tieropt::momentum_gain<sign_momentum>(0.9, 0.75) == 1.0);
}

TEST_CASE("a heavy ball adds the whole gradient", "[functor]") {
  tieropt::step_scalars<float> s{};
  s.beta1 = 0.5f;
  float m = 4;
  CHECK(tieropt::heavy_ball_momentum<>{}(m, 3.0f, s) == 5.0f);
  CHECK(m == 5.0f);
  CHECK(tieropt::heavy_ball_momentum<>{}.recall(m, s) == 5.0f);
  CHECK(tieropt::momentum_gain<tieropt::heavy_ball_momentum<>>(0.5, 0.25) == 1.0);
}

TEST_CASE("Lion reads with one beta and stores with the other", "[functor]") {
  tieropt::step_scalars<float> s{};
  s.beta1 = 0.5f, s.one_minus_beta1 = 0.5f, s.beta2 = 0.75f, s.one_minus_beta2 = 0.25f;
  float m = 8;
  CHECK(tieropt::lion_momentum<>{}(m, -4.0f, s) == 2.0f);
  CHECK(m == 5.0f);
  STATIC_REQUIRE_FALSE(tieropt::recallable_momentum<tieropt::lion_momentum<>>);
}

TEST_CASE("Nesterov's numerator is the next momentum for the same gradient", "[functor]") {
  tieropt::step_scalars<float> s{};
  s.beta1 = 0.5f, s.one_minus_beta1 = 0.5f;
  float m = 8, ball = 8;
  using average = tieropt::nesterov<tieropt::ema_momentum<>>;
  using heavy = tieropt::nesterov<tieropt::heavy_ball_momentum<>>;
  CHECK(average{}(m, -4.0f, s) == -1.0f);
  CHECK(m == 2.0f);
  CHECK(heavy{}(ball, -4.0f, s) == -4.0f);
  CHECK(ball == 0.0f);
  CHECK(tieropt::momentum_gain<average>(0.5, 0.5) == 1 / 0.75);
  CHECK(tieropt::momentum_gain<average>(0.5, 0.0) == 1.0);
  CHECK(tieropt::momentum_gain<heavy>(0.5, 0.5) == 1.0);
  STATIC_REQUIRE_FALSE(tieropt::recallable_momentum<average>);
}

TEST_CASE("without momentum the numerator is the gradient", "[functor]") {
  tieropt::none nothing;
  CHECK(tieropt::no_momentum{}(nothing, -3.5f, tieropt::step_scalars<float>{}) == -3.5f);
  STATIC_REQUIRE_FALSE(tieropt::keeps_momentum<tieropt::no_momentum>);
  STATIC_REQUIRE(tieropt::keeps_momentum<tieropt::ema_momentum<double>>);
}

TEST_CASE("a stored momentum is recalled as it is, or as its part says", "[functor]") {
  tieropt::step_scalars<float> const s{};
  CHECK(tieropt::ema_momentum<>{}.recall(-0.25f, s) == -0.25f);
  CHECK(sign_momentum{}.recall(-0.25f, s) == -1.0f);
}

TEST_CASE("a momentum part is an empty type with a state and an operator", "[functor]") {
  STATIC_REQUIRE(tieropt::momentum_policy<tieropt::no_momentum>);
  STATIC_REQUIRE(tieropt::momentum_policy<tieropt::ema_momentum<float>>);
  STATIC_REQUIRE(tieropt::momentum_policy<sign_momentum>);
  STATIC_REQUIRE_FALSE(tieropt::momentum_policy<no_state>);
  STATIC_REQUIRE_FALSE(tieropt::momentum_policy<no_operator>);
  STATIC_REQUIRE_FALSE(tieropt::momentum_policy<with_data>);
  STATIC_REQUIRE_FALSE(tieropt::momentum_policy<int>);
}

namespace {

struct by_value {
  using state_type = float;
  static constexpr bool factored = false;
  float operator()(float m, float g, tieropt::step_scalars<float> const&) const { return m + g; }
};

}  // namespace

TEST_CASE("a part that updates a copy of its state is none", "[momentum]") {
  STATIC_REQUIRE_FALSE(tieropt::momentum_policy<by_value>);
  STATIC_REQUIRE_FALSE(tieropt::variance_policy<by_value>);
}
