// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Transforms of the update on exact numbers.

#include <tieropt/functor/transform.hpp>

#include "support/catch.hpp"

#include <cmath>

TEMPLATE_TEST_CASE("the sign of zero is zero, of NaN NaN", "[functor]", float, double) {
  using T = TestType;
  using sign = tieropt::sign_update;
  CHECK(sign::apply(T(1e-30), T(0)) == T(1));
  CHECK(sign::apply(T(-7), T(0)) == T(-1));
  CHECK(sign::apply(T(0), T(1)) == T(0));
  CHECK(sign::apply(T(-0.0), T(1)) == T(0));
  CHECK(std::isnan(sign::apply(T(NAN), T(1))));
}

TEMPLATE_TEST_CASE("a cautious update agrees with the gradient or is zero", "[functor]", float,
                   double) {
  using T = TestType;
  using cautious = tieropt::cautious_update;
  CHECK(cautious::apply(T(2), T(3)) == T(2));
  CHECK(cautious::apply(T(-2), T(-3)) == T(-2));
  CHECK(cautious::apply(T(2), T(-3)) == T(0));
  CHECK(cautious::apply(T(-2), T(3)) == T(0));
  CHECK(cautious::apply(T(2), T(0)) == T(0));
  CHECK(cautious::apply(T(0), T(3)) == T(0));
  CHECK(cautious::apply(T(1e-30), T(1e-30)) == T(1e-30));  // their product underflows
  CHECK(std::isnan(cautious::apply(T(NAN), T(3))));
}

TEST_CASE("transforms say what they need", "[functor]") {
  STATIC_REQUIRE(tieropt::transform_policy<tieropt::no_transform>);
  STATIC_REQUIRE(tieropt::transform_policy<tieropt::sign_update>);
  STATIC_REQUIRE(tieropt::transform_policy<tieropt::cautious_update>);
  STATIC_REQUIRE(tieropt::cautious_update::reads_grad);
  STATIC_REQUIRE_FALSE(tieropt::sign_update::homogeneous);
}
