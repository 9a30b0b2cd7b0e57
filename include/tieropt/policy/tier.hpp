// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A tier: which part does what for one population of parameters. Layer: policy.
#pragma once

#include <tieropt/block/thread_block.hpp>
#include <tieropt/functor/eps.hpp>
#include <tieropt/functor/fault.hpp>
#include <tieropt/functor/master.hpp>
#include <tieropt/functor/momentum.hpp>
#include <tieropt/functor/needs.hpp>
#include <tieropt/functor/orthogonal.hpp>
#include <tieropt/functor/rates.hpp>
#include <tieropt/functor/transform.hpp>
#include <tieropt/functor/update.hpp>
#include <tieropt/functor/variance.hpp>
#include <tieropt/precision/quantised.hpp>
#include <tieropt/precision/storage.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// The defaults of every tier; a population derives from it and says how it differs.
///
/// The defaults are the corrected mode without momentum: exact second moment, eps inside, an update
/// RMS clip per matrix, decay inside the one expression before one exact stochastic rounding.
struct tier {
  using momentum = no_momentum;                   ///< the update's numerator
  using momentum_input = of_gradient;             ///< what the momentum takes in
  using variance = exact_variance<float>;         ///< the second moment
  using vector_variance = exact_variance<float>;  ///< of a factored tier's tensors below rank 2
  using eps = inside_eps;                         ///< where eps goes
  using bias_correction = correct_both;           ///< of the moments
  using betas = constant_betas;                   ///< their schedule
  using transform = no_transform;                 ///< of the update, element by element
  using orthogonal = not_orthogonal;              ///< of the update, as a matrix
  using clip = rms_clip<scope::matrix>;           ///< of the update
  using rate = given_rate;                        ///< where the learning rate comes from
  using scale = no_scale;                         ///< of the learning rate
  using decay = fused_decay;                      ///< of the parameter
  using rounding = stochastic_rounding;           ///< of parameters of 16 and 8 bits
  using master = no_master;                       ///< where the exact weight lives
  using state_rounding = stochastic_rounding;     ///< of states that are not float or double
  using grad_clip = no_grad_clip;                 ///< of the norm of all gradients
  using fault = propagate;                        ///< what becomes of NaN and infinity
  using compute = float;                          ///< computed in this, or wider if an operand is
  static constexpr bool maximize = false;         ///< true: steps go up the gradient
  static constexpr scope step_scope = scope::matrix;  ///< tensor: one step entry for E matrices
  static constexpr tuning tune{};                     ///< mapping to hardware
};

/// The sentence for what is no tier at all.
/// @tparam Tier a population
template <class Tier>
struct check_tier {
  static_assert(cuda::std::derived_from<Tier, tier>,
                "[tieropt-tier] a population must derive from tieropt::tier, which carries the "
                "defaults; see tieropt/policy/tier.hpp");
  using checked = tier;             ///< takes its place, so that one sentence is all one gets
  static constexpr bool ok = true;  ///< the sentence above was passed
};

/// The sentences for the parts of a tier; the first that fails is the one to read.
/// @tparam Tier a population
template <class Tier>
  requires cuda::std::derived_from<Tier, tier>
struct check_tier<Tier> {
  /// Whether the momentum says what it stores.
  static constexpr bool has_momentum_state = has_state_type<typename Tier::momentum>;
  static_assert(has_momentum_state,
                "[tieropt-tier-momentum] the momentum needs 'using state_type = ...;' for what it "
                "stores per weight; see tieropt/functor/momentum.hpp");
  static_assert(sound_update_gain<typename Tier::momentum>,
                "[tieropt-tier-momentum-gain] the momentum's update_gain must be 'static double "
                "update_gain(double beta1, double beta1_power)'; see tieropt/functor/momentum.hpp");
  static_assert(!has_momentum_state || !sound_update_gain<typename Tier::momentum> ||
                    momentum_policy<typename Tier::momentum>,
                "[tieropt-tier-momentum-call] the momentum must be an empty type with 'template "
                "<class T> T operator()(T& state, T grad, step_scalars<T> const&) const'; see "
                "tieropt/functor/momentum.hpp");
  /// Whether the variance is one, and not what takes the place of a vector's.
  static constexpr bool has_variance = variance_policy<typename Tier::variance> &&
                                       !cuda::std::is_same_v<typename Tier::variance, refuse>;
  static_assert(
      has_variance,
      "[tieropt-tier-variance] the variance must be an empty type with state_type, a "
      "static bool 'factored' and 'template <class T> void operator()(T& state, T square, "
      "step_scalars<T> const&) const'; see tieropt/functor/variance.hpp");
  static_assert(variance_policy<typename Tier::vector_variance> && !Tier::vector_variance::factored,
                "[tieropt-tier-vector-variance] vector_variance must be an exact variance, or "
                "tieropt::refuse; see tieropt/functor/variance.hpp");
  static_assert(
      eps_policy<typename Tier::eps>,
      "[tieropt-tier-eps] eps must say where it goes: inside_eps, added_eps, floored_eps, "
      "or a part with the same members; see tieropt/functor/eps.hpp");
  static_assert(
      momentum_input_policy<typename Tier::momentum_input>,
      "[tieropt-tier-momentum-input] momentum_input must be of_gradient or of_update; see "
      "tieropt/functor/momentum.hpp");
  static_assert(bias_correction_policy<typename Tier::bias_correction>,
                "[tieropt-tier-bias-correction] bias_correction must be correct_both, "
                "correct_second or correct_none; see tieropt/functor/rates.hpp");
  static_assert(betas_policy<typename Tier::betas>,
                "[tieropt-tier-betas] betas must be constant_betas, rising_beta2, or a part that "
                "derives from constant_betas; see tieropt/functor/rates.hpp");
  static_assert(rate_policy<typename Tier::rate>,
                "[tieropt-tier-rate] rate must be given_rate, relative_rate, relative_rate_warmup, "
                "or a part with static lr(hyper, k); see tieropt/functor/rates.hpp");
  static_assert(transform_policy<typename Tier::transform>,
                "[tieropt-tier-transform] transform must be no_transform, sign_update, "
                "cautious_update, or an empty type with homogeneous, reads_grad and static "
                "apply(update, grad); see tieropt/functor/transform.hpp");
  static_assert(orthogonal_policy<typename Tier::orthogonal>,
                "[tieropt-tier-orthogonal] orthogonal must be not_orthogonal, newton_schulz of an "
                "element type that has a tieropt::storage, or a part with the same members; see "
                "tieropt/functor/orthogonal.hpp");
  static_assert(clip_policy<typename Tier::clip>,
                "[tieropt-tier-clip] clip must be no_clip, rms_clip, unit_norm, cautious_scale, or "
                "a part with measures, spans, take, take_row, level and factor; see "
                "tieropt/functor/update.hpp");
  static_assert(scale_policy<typename Tier::scale>,
                "[tieropt-tier-scale] scale must be no_scale, param_rms_scale, or a part with "
                "measures, spans and factor(rms, s); see tieropt/functor/update.hpp");
  /// Whether step_scope is a scope, known at compile time.
  static constexpr bool known_step_scope = requires {
    typename cuda::std::integral_constant<scope, Tier::step_scope>;
  };
  static_assert(known_step_scope,
                "[tieropt-tier-step-scope] step_scope must be 'static constexpr scope'; see "
                "tieropt/policy/tier.hpp");
  /// Whether maximize can be asked at compile time.
  static constexpr bool known_direction = requires {
    typename cuda::std::bool_constant<Tier::maximize>;
  };
  static_assert(known_direction,
                "[tieropt-tier-maximize] maximize must be 'static constexpr bool'; see "
                "tieropt/policy/tier.hpp");
  static_assert(
      decay_policy<typename Tier::decay>,
      "[tieropt-tier-decay] decay must be fused_decay, rounded_decay, l2_decay or no_decay; see "
      "tieropt/functor/update.hpp");
  static_assert(
      requires {
        { Tier::rounding::stochastic } -> cuda::std::convertible_to<bool>;
      },
      "[tieropt-tier-rounding] rounding must be stochastic_rounding or nearest_rounding; "
      "see tieropt/precision/storage.hpp");
  static_assert(
      requires {
        { Tier::state_rounding::stochastic } -> cuda::std::convertible_to<bool>;
      },
      "[tieropt-tier-state-rounding] state_rounding must be stochastic_rounding or "
      "nearest_rounding; see tieropt/precision/storage.hpp");
  /// Whether the momentum stores both signs.
  static constexpr bool has_signed_momentum = [] {
    if constexpr (has_momentum_state) {
      return signed_state<typename Tier::momentum::state_type>;
    } else {
      return true;
    }
  }();
  static_assert(has_signed_momentum,
                "[tieropt-tier-momentum-sign] root_uint8 stores no negative values, which a "
                "momentum has: use softsign_int8; see tieropt/precision/quantised.hpp");
  static_assert(master_policy<typename Tier::master>,
                "[tieropt-tier-master] master must be no_master, master_weights, remainder_master "
                "or carry_master; see tieropt/functor/master.hpp");
  static_assert(grad_clip_policy<typename Tier::grad_clip>,
                "[tieropt-tier-grad-clip] grad_clip must be no_grad_clip or global_norm_clip; see "
                "tieropt/functor/fault.hpp");
  static_assert(fault_policy<typename Tier::fault>,
                "[tieropt-tier-fault] fault must be propagate, propagate_counted, skip_element, "
                "skip_matrix or skip_step; see tieropt/functor/fault.hpp");
  static_assert(compute_type<typename Tier::compute>,
                "[tieropt-tier-compute] a tier computes in float or double");
  /// Whether the mapping is one that blocks have.
  static constexpr bool known_tune =
      (Tier::tune.groups == 1 || Tier::tune.groups == 2 || Tier::tune.groups == 4 ||
       Tier::tune.groups == 8) &&
      (Tier::tune.per_lane == 0 || Tier::tune.per_lane == 1 || Tier::tune.per_lane == 2 ||
       Tier::tune.per_lane == 4 || Tier::tune.per_lane == 8) &&
      Tier::tune.blocks_per_sm >= 0;
  static_assert(known_tune,
                "[tieropt-tier-tune] tune.groups must be 1, 2, 4 "
                "or 8, tune.per_lane too or 0; see "
                "tieropt/block/thread_block.hpp");

  /// Whether every part is one: only then do the sentences on combinations speak.
  static constexpr bool parts_are_known =
      momentum_policy<typename Tier::momentum> &&
      momentum_input_policy<typename Tier::momentum_input> && has_variance &&
      variance_policy<typename Tier::vector_variance> && eps_policy<typename Tier::eps> &&
      bias_correction_policy<typename Tier::bias_correction> &&
      betas_policy<typename Tier::betas> && transform_policy<typename Tier::transform> &&
      orthogonal_policy<typename Tier::orthogonal> && clip_policy<typename Tier::clip> &&
      rate_policy<typename Tier::rate> && scale_policy<typename Tier::scale> &&
      decay_policy<typename Tier::decay> && master_policy<typename Tier::master> &&
      grad_clip_policy<typename Tier::grad_clip> && fault_policy<typename Tier::fault> &&
      known_step_scope && known_direction;
  /// The tier, or the defaults in its place, so that one sentence is all that a reader gets.
  using checked = cuda::std::conditional_t<parts_are_known, Tier, tier>;
  using facts = needs<checked>;  ///< what follows from its parts
  static_assert(!facts::input_without_momentum,
                "[tieropt-tier-momentum-missing] momentum_input = of_update needs a momentum; see "
                "tieropt/functor/momentum.hpp");
  static_assert(!facts::scopes_differ,
                "[tieropt-tier-scale-scope] clip and scale must span the same: both a matrix, or "
                "both the tensor; see tieropt/functor/update.hpp");
  static_assert(!facts::orthogonal_conflict,
                "[tieropt-tier-orthogonal-parts] newton_schulz needs no_variance, unit_norm as its "
                "clip, no_scale, and a momentum of_gradient or none; see tieropt/policy/muon.hpp");

  static_assert(!facts::masks_conflict,
                "[tieropt-tier-fault-orthogonal] newton_schulz mixes the elements of a matrix, so "
                "that none can rest alone: use skip_matrix; see tieropt/functor/fault.hpp");

  static constexpr bool ok = true;  ///< every sentence above was passed
};

/// Whether a state can be stored, or is none.
template <class State>
concept storable_state =
    cuda::std::is_same_v<State, none> || quantised_state<State> || storable<State>;

/// Whether a part's state can be stored. @tparam Variance a variance part
template <class Variance>
concept storable_variance = storable_state<typename Variance::state_type> &&
    !(Variance::factored && quantised_state<typename Variance::state_type>);

/// Whether a master suits a parameter. @tparam Master a master part @tparam Param element type
template <class Master, class Param>
concept master_of = (!Master::splits && (cuda::std::is_same_v<typename Master::element, none> ||
                                         compute_type<typename Master::element>)) ||
                    (Master::splits &&
                     cuda::std::is_base_of_v<storage_as<Param, bf16_format>, storage<Param>>);

/// Whether the functions of a tier's parts take and give a compute type.
template <class Tier, class T>
concept computes_in =
    momentum_policy<typename Tier::momentum, T> && variance_policy<typename Tier::variance, T> &&
    variance_policy<typename Tier::vector_variance, T> && eps_policy<typename Tier::eps, T> &&
    transform_policy<typename Tier::transform, T> && clip_policy<typename Tier::clip, T> &&
    scale_policy<typename Tier::scale, T>;

/// What the kernels need of a tier with its storage types: see kernel/tensor.hpp.
/// @tparam Population a population
/// @tparam Param element type of parameters
/// @tparam Grad element type of gradients
template <class Population, class Param, class Grad>
struct tier_parts {
  static_assert(check_tier<Population>::ok);
  /// The population, or the defaults if it is none.
  using Tier = typename check_tier<Population>::checked;
  static_assert(storable<Param>,
                "[tieropt-bind-param] no tieropt::storage for the parameter's element type; "
                "specialise it, see tieropt/precision/storage.hpp");
  static_assert(storable<Grad>,
                "[tieropt-bind-grad] no tieropt::storage for the gradient's element type; "
                "specialise it, see tieropt/precision/storage.hpp");
  static_assert(storable_state<typename Tier::momentum::state_type> &&
                    storable_variance<typename Tier::variance> &&
                    (!Tier::variance::factored ||
                     cuda::std::is_same_v<typename Tier::vector_variance, refuse> ||
                     cuda::std::is_same_v<typename Tier::vector_variance::state_type,
                                          typename Tier::variance::state_type>),
                "[tieropt-tier-state] a state needs a tieropt::storage, or is block-quantised, "
                "which row and column factors are not; vector_variance stores what a factored "
                "variance stores; see tieropt/precision/quantised.hpp");
  static_assert(master_of<typename Tier::master, Param>,
                "[tieropt-bind-master] remainder_master and carry_master split an fp32 weight "
                "whose upper half is a parameter with the bits of bf16, and master_weights are "
                "float or double; see tieropt/functor/master.hpp");

  using param = Param;                                     ///< storage of parameters
  using grad = Grad;                                       ///< storage of gradients
  using momentum = typename Tier::momentum;                ///< part
  using momentum_input = typename Tier::momentum_input;    ///< part
  using variance = typename Tier::variance;                ///< part
  using vector_variance = typename Tier::vector_variance;  ///< part
  using eps = typename Tier::eps;                          ///< part
  using bias_correction = typename Tier::bias_correction;  ///< part
  using betas = typename Tier::betas;                      ///< part
  using transform = typename Tier::transform;              ///< part
  using orthogonal = typename Tier::orthogonal;            ///< part
  using clip = typename Tier::clip;                        ///< part
  using rate = typename Tier::rate;                        ///< part
  using scale = typename Tier::scale;                      ///< part
  using decay = typename Tier::decay;                      ///< part
  using rounding = typename Tier::rounding;                ///< part
  using master = typename Tier::master;                    ///< part
  using state_rounding = typename Tier::state_rounding;    ///< part
  using grad_clip = typename Tier::grad_clip;              ///< part
  using fault = typename Tier::fault;                      ///< part
  /// The widest of what the tier computes in and what its operands are stored in.
  using compute =
      cuda::std::conditional_t<cuda::std::is_same_v<typename Tier::compute, double> ||
                                   cuda::std::is_same_v<Param, double> ||
                                   cuda::std::is_same_v<Grad, double> ||
                                   cuda::std::is_same_v<typename momentum::state_type, double> ||
                                   cuda::std::is_same_v<typename variance::state_type, double> ||
                                   cuda::std::is_same_v<typename master::element, double>,
                               double, float>;
  static_assert(computes_in<Tier, compute>,
                "[tieropt-tier-parts] the functions of a part must be templates that take and give "
                "the compute type, which is double where an operand is; see "
                "tieropt/policy/tier.hpp");
  static constexpr bool maximize = Tier::maximize;       ///< whether the gradient is negated
  static constexpr scope step_scope = Tier::step_scope;  ///< what a step entry spans
  static constexpr tuning tune = Tier::tune;             ///< mapping
};

}  // namespace v0_1
}  // namespace tieropt
