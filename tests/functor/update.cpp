// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The clip of the update's RMS on exact numbers.

#include <tieropt/functor/update.hpp>

#include "support/catch.hpp"

TEMPLATE_TEST_CASE("the RMS counts the gain of the update", "[functor]", float, double) {
  using T = TestType;
  using clip = tieropt::rms_clip<>;
  CHECK(clip::level(T(36), T(4), T(2)) == T(6));
  CHECK(clip::level(T(0), T(4), T(2)) == T(0));
  CHECK(clip::take(T(7), T(-3)) == T(16));
  CHECK(clip::take_row(T(1), T(9), T(2)) == T(37));
}

TEMPLATE_TEST_CASE("an update below the threshold keeps its gain, above it shrinks to it",
                   "[functor]", float, double) {
  using T = TestType;
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
  tieropt::step_scalars<T> s{};
  s.clip = T(1);
  CHECK(clip::factor(T(0), T(2), s) == T(2));
  CHECK(clip::factor(T(1), T(2), s) == T(2));
  CHECK(clip::factor(T(4), T(2), s) == T(0.5));
  s.clip = T(0.25);
  CHECK(clip::factor(T(4), T(2), s) == T(0.125));
  CHECK(clip::factor(T(0.25), T(2), s) == T(2));
}

TEMPLATE_TEST_CASE("an update is brought to norm 1, and zeros stay", "[functor]", float, double) {
  using T = TestType;
  using clip = tieropt::unit_norm;
  tieropt::step_scalars<T> const s{};
  CHECK(clip::level(T(25), T(2), T(2)) == T(10));
  CHECK(clip::factor(T(10), T(2), s) == T(2) / (T(10) + T(1e-7)));
  CHECK(clip::factor(T(0), T(1), s) == T(1) / T(1e-7));
}

TEMPLATE_TEST_CASE("what a mask leaves makes up for what it took", "[functor]", float, double) {
  using T = TestType;
  using clip = tieropt::cautious_scale<>;
  tieropt::step_scalars<T> const s{};
  CHECK(clip::take(T(7), T(-0.5)) == T(8));
  CHECK(clip::take(T(7), T(0)) == T(7));
  CHECK(clip::take(T(7), T(-0.0)) == T(7));
  CHECK(clip::take_row(T(1), T(9), T(2)) == T(10));
  CHECK(clip::level(T(3), T(12), T(2)) == T(0.25));
  CHECK(clip::factor(T(0.25), T(2), s) == T(8));
  CHECK(clip::factor(T(0), T(2), s) == T(2) / T(1e-3));
}

TEST_CASE("clip and decay parts say what they do", "[functor]") {
  STATIC_REQUIRE(tieropt::clip_policy<tieropt::no_clip>);
  STATIC_REQUIRE(tieropt::clip_policy<tieropt::rms_clip<>>);
  STATIC_REQUIRE_FALSE(tieropt::no_clip::measures);
  STATIC_REQUIRE(tieropt::rms_clip<>::measures);
  STATIC_REQUIRE(tieropt::rms_clip<>::spans == tieropt::scope::matrix);
  STATIC_REQUIRE(tieropt::rms_clip<tieropt::scope::tensor>::spans == tieropt::scope::tensor);
  STATIC_REQUIRE_FALSE(tieropt::clip_policy<tieropt::fused_decay>);
  STATIC_REQUIRE(tieropt::decay_policy<tieropt::fused_decay>);
  STATIC_REQUIRE(tieropt::decay_policy<tieropt::rounded_decay>);
  STATIC_REQUIRE(tieropt::decay_policy<tieropt::l2_decay>);
  STATIC_REQUIRE(tieropt::decay_policy<tieropt::no_decay>);
  STATIC_REQUIRE(tieropt::clip_policy<tieropt::unit_norm>);
  STATIC_REQUIRE(tieropt::clip_policy<tieropt::cautious_scale<>>);
  STATIC_REQUIRE(tieropt::measuring_policy<tieropt::param_rms_scale<>>);
  STATIC_REQUIRE_FALSE(tieropt::clip_policy<tieropt::param_rms_scale<>>);
  STATIC_REQUIRE_FALSE(tieropt::fused_decay::rounds_to_param);
  STATIC_REQUIRE(tieropt::rounded_decay::rounds_to_param);
}
