// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the presets and the defaults of a tier are made of.

#include <tieropt/policy/adamw.hpp>
#include <tieropt/policy/skewadam.hpp>

#include "support/catch.hpp"

#include <type_traits>

namespace {

namespace corrected = tieropt::skewadam::corrected;
namespace published = tieropt::skewadam::published;
using tieropt::bf16;
using tieropt::fp16;
using tieropt::scope;

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

/// The parts that tiers are told apart by.
template <class Tier, class Momentum, class Variance>
constexpr bool keeps =
    same<typename Tier::momentum, Momentum>&& same<typename Tier::variance, Variance>;

template <class Tier>
constexpr bool in_corrected_mode =
    same<typename Tier::eps, tieropt::inside_eps>&&
        same<typename Tier::clip, tieropt::rms_clip<scope::matrix>>&&
            same<typename Tier::decay, tieropt::fused_decay>&&
                same<typename Tier::rounding, tieropt::stochastic_rounding>&& Tier::step_scope ==
    scope::matrix;
template <class Tier>
constexpr bool in_published_mode =
    same<typename Tier::eps, tieropt::floored_eps>&&
        same<typename Tier::clip, tieropt::rms_clip<scope::tensor>>&&
            same<typename Tier::decay, tieropt::rounded_decay>&&
                same<typename Tier::rounding, tieropt::stochastic_rounding>&& Tier::step_scope ==
    scope::tensor;

struct plain : tieropt::tier {};
struct stranger : tieropt::tier {};
struct in_double : tieropt::tier {
  using compute = double;
};
struct wide_state : tieropt::tier {
  using variance = tieropt::exact_variance<double>;
  using vector_variance = tieropt::exact_variance<double>;
};
struct wide_momentum : tieropt::tier {
  using momentum = tieropt::ema_momentum<double>;
};

template <class Tier, class Param, class Grad>
using compute_of = typename tieropt::tier_parts<Tier, Param, Grad>::compute;

}  // namespace

TEST_CASE("the three tiers of SkewAdam keep what the paper says", "[policy]") {
  using tieropt::ema_momentum;
  using tieropt::exact_variance;
  using tieropt::factored_variance;
  using tieropt::no_momentum;
  STATIC_REQUIRE(keeps<corrected::backbone, ema_momentum<float>, factored_variance<float>>);
  STATIC_REQUIRE(keeps<corrected::experts, no_momentum, factored_variance<float>>);
  STATIC_REQUIRE(keeps<corrected::router, no_momentum, exact_variance<float>>);
  STATIC_REQUIRE(keeps<published::backbone, ema_momentum<float>, factored_variance<float>>);
  STATIC_REQUIRE(keeps<published::experts, no_momentum, factored_variance<float>>);
  STATIC_REQUIRE(keeps<published::router, no_momentum, exact_variance<float>>);
  STATIC_REQUIRE(
      keeps<corrected::backbone_as<double>, ema_momentum<double>, factored_variance<double>>);
  STATIC_REQUIRE(same<corrected::backbone::vector_variance, exact_variance<float>>);
}

TEST_CASE("the modes of SkewAdam differ in eps, clip, decay and step", "[policy]") {
  STATIC_REQUIRE(in_corrected_mode<corrected::backbone>);
  STATIC_REQUIRE(in_corrected_mode<corrected::experts>);
  STATIC_REQUIRE(in_corrected_mode<corrected::router>);
  STATIC_REQUIRE(in_published_mode<published::backbone>);
  STATIC_REQUIRE(in_published_mode<published::experts>);
  STATIC_REQUIRE(in_published_mode<published::router>);
}

TEST_CASE("AdamW keeps both moments, adds eps, does not clip", "[policy]") {
  using tier = tieropt::adamw::tensor;
  STATIC_REQUIRE(keeps<tier, tieropt::ema_momentum<float>, tieropt::exact_variance<float>>);
  STATIC_REQUIRE(same<tier::eps, tieropt::added_eps>);
  STATIC_REQUIRE(same<tier::clip, tieropt::no_clip>);
  STATIC_REQUIRE(same<tier::decay, tieropt::fused_decay>);
  STATIC_REQUIRE(tieropt::adamw::policy::contains<tier>);
}

TEST_CASE("a tier's defaults are the corrected mode without momentum", "[policy]") {
  STATIC_REQUIRE(keeps<plain, tieropt::no_momentum, tieropt::exact_variance<float>>);
  STATIC_REQUIRE(in_corrected_mode<plain>);
  STATIC_REQUIRE(same<plain::compute, float>);
  STATIC_REQUIRE(tieropt::check_tier<plain>::ok);
}

TEST_CASE("a policy knows its populations", "[policy]") {
  STATIC_REQUIRE(corrected::policy::contains<corrected::backbone>);
  STATIC_REQUIRE(corrected::policy::contains<corrected::experts>);
  STATIC_REQUIRE(corrected::policy::contains<corrected::router>);
  STATIC_REQUIRE_FALSE(corrected::policy::contains<published::router>);
  STATIC_REQUIRE_FALSE(tieropt::tier_policy<plain>::contains<stranger>);
  STATIC_REQUIRE(tieropt::tier_policy<stranger, plain>::contains<plain>);
}

TEST_CASE("computation is in the widest of what a tier asks for and its operands", "[policy]") {
  STATIC_REQUIRE(same<compute_of<plain, bf16, fp16>, float>);
  STATIC_REQUIRE(same<compute_of<plain, float, float>, float>);
  STATIC_REQUIRE(same<compute_of<plain, double, bf16>, double>);
  STATIC_REQUIRE(same<compute_of<plain, bf16, double>, double>);
  STATIC_REQUIRE(same<compute_of<in_double, bf16, bf16>, double>);
  STATIC_REQUIRE(same<compute_of<wide_state, bf16, bf16>, double>);
  STATIC_REQUIRE(same<compute_of<wide_momentum, bf16, bf16>, double>);
}
