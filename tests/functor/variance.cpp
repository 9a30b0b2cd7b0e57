// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Second moments and eps parts on exact numbers.

#include <tieropt/functor/eps.hpp>
#include <tieropt/functor/variance.hpp>

#include "support/catch.hpp"

namespace {

/// beta2^k = 3/4: corrections 4 and 2.
template <class T>
tieropt::step_scalars<T> scalars() {
  tieropt::step_scalars<T> s{};
  s.beta2 = T(0.75);
  s.one_minus_beta2 = T(0.25);
  s.correction2 = T(4);
  s.root_correction2 = T(2);
  s.eps = T(0.0625);
  return s;
}

}  // namespace

TEMPLATE_TEST_CASE("the second moment moves towards the square", "[functor]", float, double) {
  auto const s = scalars<TestType>();
  TestType v = 4, factor = 4;
  tieropt::exact_variance<>{}(v, TestType(20), s);
  tieropt::factored_variance<>{}(factor, TestType(20), s);
  CHECK(v == TestType(8));
  CHECK(factor == TestType(8));
}

TEST_CASE("a second moment is formed as beta v + (1 - beta) x, far from its old value too",
          "[functor]") {
  // v + (1 - beta) (x - v) would lose x next to v here.
  tieropt::step_scalars<float> s{};
  s.beta2 = 0;
  s.one_minus_beta2 = 1;
  float v = 1e20f;
  tieropt::exact_variance<>{}(v, 1e-20f, s);
  CHECK(v == 1e-20f);
}

TEMPLATE_TEST_CASE("eps inside: added to the square, corrected under the root", "[functor]", float,
                   double) {
  using T = TestType;
  using eps = tieropt::inside_eps;
  auto const s = scalars<T>();
  CHECK(eps::square_offset(s) == T(0.0625));
  CHECK(eps::radicand(T(9), s) == T(36));
  CHECK(eps::quotient(T(3), T(6), s) == T(0.5));
  CHECK(eps::row(T(0.25), T(1), s) == T(1));
  CHECK(eps::row(T(1), T(1), s) == T(0.5));
  CHECK(eps::col(T(16), s) == T(0.25));
  CHECK(eps::factored_quotient(T(3), T(7), T(0.25), s) == T(0.75));
  CHECK(eps::update_gain(0.75) == 1.0);
  CHECK(eps::default_value == 1e-30);
}

TEMPLATE_TEST_CASE("eps floored: floors under the root, correction in the step", "[functor]", float,
                   double) {
  using T = TestType;
  using eps = tieropt::floored_eps;
  auto const s = scalars<T>();
  CHECK(eps::square_offset(s) == T(0));
  CHECK(eps::radicand(T(9), s) == T(9));
  CHECK(eps::radicand(T(0.01), s) == T(0.0625));
  CHECK(eps::quotient(T(3), T(6), s) == T(0.5));
  CHECK(eps::row(T(4), T(1), s) == T(0.5));
  CHECK(eps::row(T(0), T(1), s) == T(4));
  CHECK(eps::col(T(16), s) == T(0.25));
  CHECK(eps::col(T(0), s) == T(4));
  CHECK(eps::factored_quotient(T(3), T(7), T(0.25), s) == T(0.75));
  CHECK(eps::template mean_floor<T>() == T(1e-15));
  CHECK(eps::update_gain(0.75) == 0.5);
  CHECK(eps::default_value == 1e-8);
}

TEMPLATE_TEST_CASE("eps added: to the corrected root", "[functor]", float, double) {
  using T = TestType;
  using eps = tieropt::added_eps;
  auto s = scalars<T>();
  s.eps = T(2);
  CHECK(eps::square_offset(s) == T(0));
  CHECK(eps::radicand(T(9), s) == T(9));
  CHECK(eps::quotient(T(16), T(3), s) == T(2));  // 16 / (3 * 2 + 2)
  CHECK(eps::row(T(0.25), T(1), s) == T(1));
  CHECK(eps::row(T(0), T(1), s) == T(0));
  CHECK(eps::col(T(9), s) == T(3));
  CHECK(eps::factored_quotient(T(16), T(2), T(3), s) == T(2));
  CHECK(eps::update_gain(0.75) == 1.0);
  CHECK(eps::default_value == 1e-8);
}

TEST_CASE("parts are recognised by their members", "[functor]") {
  STATIC_REQUIRE(tieropt::eps_policy<tieropt::inside_eps>);
  STATIC_REQUIRE(tieropt::eps_policy<tieropt::added_eps>);
  STATIC_REQUIRE(tieropt::eps_policy<tieropt::floored_eps>);
  STATIC_REQUIRE_FALSE(tieropt::eps_policy<tieropt::exact_variance<>>);
  STATIC_REQUIRE(tieropt::variance_policy<tieropt::exact_variance<double>>);
  STATIC_REQUIRE(tieropt::variance_policy<tieropt::factored_variance<float>>);
  STATIC_REQUIRE(tieropt::variance_policy<tieropt::refuse>);
  STATIC_REQUIRE_FALSE(tieropt::variance_policy<tieropt::inside_eps>);
  STATIC_REQUIRE(tieropt::factored_variance<>::factored);
  STATIC_REQUIRE_FALSE(tieropt::exact_variance<>::factored);
}
