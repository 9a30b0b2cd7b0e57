// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The clip of the update's RMS on exact numbers.

#include <tieropt/functor/update.hpp>

#include "support/catch.hpp"

TEMPLATE_TEST_CASE("the RMS counts the gain of the update", "[functor]", float, double) {
  using T = TestType;
  using clip = tieropt::rms_clip<>;
  tieropt::step_scalars<T> s{};
  s.update_gain = T(2);
  s.clip = T(1);
  CHECK(clip::rms(T(36), T(4), s) == T(6));
  CHECK(clip::rms(T(0), T(4), s) == T(0));
}

TEMPLATE_TEST_CASE("an update below the threshold keeps its gain, above it shrinks to it",
                   "[functor]", float, double) {
  using T = TestType;
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
  tieropt::step_scalars<T> s{};
  s.update_gain = T(2);
  s.clip = T(1);
  CHECK(clip::factor(T(0), s) == T(2));
  CHECK(clip::factor(T(1), s) == T(2));
  CHECK(clip::factor(T(4), s) == T(0.5));
  s.clip = T(0.25);
  CHECK(clip::factor(T(4), s) == T(0.125));
  CHECK(clip::factor(T(0.25), s) == T(2));
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
  STATIC_REQUIRE_FALSE(tieropt::fused_decay::rounds_to_param);
  STATIC_REQUIRE(tieropt::rounded_decay::rounds_to_param);
}
