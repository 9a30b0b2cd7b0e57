// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A tier: which part does what for one population of parameters. Layer: policy.
#pragma once

#include <tieropt/block/thread_block.hpp>
#include <tieropt/functor/eps.hpp>
#include <tieropt/functor/momentum.hpp>
#include <tieropt/functor/update.hpp>
#include <tieropt/functor/variance.hpp>
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
  using variance = exact_variance<float>;         ///< the second moment
  using vector_variance = exact_variance<float>;  ///< of a factored tier's tensors below rank 2
  using eps = inside_eps;                         ///< where eps goes
  using clip = rms_clip<scope::matrix>;           ///< of the update
  using decay = fused_decay;                      ///< of the parameter
  using rounding = stochastic_rounding;           ///< of 16-bit parameters
  using compute = float;                          ///< computed in this, or wider if an operand is
  static constexpr scope step_scope = scope::matrix;  ///< tensor: one step entry for E matrices
  static constexpr tuning tune{};                     ///< mapping to hardware
};

/// The sentences for a tier that is not one; the first that fails is the one to read.
/// @tparam Tier a population
template <class Tier>
struct check_tier {
  static_assert(cuda::std::derived_from<Tier, tier>,
                "[tieropt-tier] a population must derive from tieropt::tier, which carries the "
                "defaults; see tieropt/policy/tier.hpp");

  /// Whether the momentum says what it stores.
  static constexpr bool has_momentum_state = has_state_type<typename Tier::momentum>;
  static_assert(has_momentum_state,
                "[tieropt-tier-momentum] the momentum needs 'using state_type = ...;' for what it "
                "stores per weight; see tieropt/functor/momentum.hpp");
  static_assert(!has_momentum_state || momentum_policy<typename Tier::momentum>,
                "[tieropt-tier-momentum-call] the momentum must be an empty type with 'template "
                "<class T> T operator()(T& state, T grad, step_scalars<T> const&) const'; see "
                "tieropt/functor/momentum.hpp");
  static_assert(
      variance_policy<typename Tier::variance>,
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
  static_assert(clip_policy<typename Tier::clip>,
                "[tieropt-tier-clip] clip must be no_clip or rms_clip<scope>; see "
                "tieropt/functor/update.hpp");
  /// Whether the update can be formed again after it was measured.
  static constexpr bool recalls = [] {
    if constexpr (momentum_policy<typename Tier::momentum> && clip_policy<typename Tier::clip>) {
      return !Tier::clip::measures || recallable_momentum<typename Tier::momentum>;
    } else {
      return true;  // another sentence says what is wrong
    }
  }();
  static_assert(
      recalls,
      "[tieropt-tier-recall] a clipped tier reads the stored momentum back: the momentum "
      "needs 'template <class T> T recall(T state, step_scalars<T> const&) const', or the "
      "tier no_clip; see tieropt/functor/momentum.hpp");
  static_assert(decay_policy<typename Tier::decay>,
                "[tieropt-tier-decay] decay must be fused_decay or rounded_decay; see "
                "tieropt/functor/update.hpp");
  static_assert(
      requires {
        { Tier::rounding::stochastic } -> cuda::std::convertible_to<bool>;
      },
      "[tieropt-tier-rounding] rounding must be stochastic_rounding or nearest_rounding; "
      "see tieropt/precision/storage.hpp");
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

  static constexpr bool ok = true;  ///< every sentence above was passed
};

/// Whether a variance state can be stored, or a momentum state that is none.
template <class State>
concept storable_state = cuda::std::is_same_v<State, none> || compute_type<State>;

/// What the kernels need of a tier with its storage types: see kernel/tensor.hpp.
/// @tparam Tier a population
/// @tparam Param element type of parameters
/// @tparam Grad element type of gradients
template <class Tier, class Param, class Grad>
struct tier_parts {
  static_assert(check_tier<Tier>::ok);
  static_assert(storable<Param>,
                "[tieropt-bind-param] no tieropt::storage for the parameter's element type; "
                "specialise it, see tieropt/precision/storage.hpp");
  static_assert(storable<Grad>,
                "[tieropt-bind-grad] no tieropt::storage for the gradient's element type; "
                "specialise it, see tieropt/precision/storage.hpp");
  static_assert(storable_state<typename Tier::momentum::state_type> &&
                    compute_type<typename Tier::variance::state_type> &&
                    cuda::std::is_same_v<typename Tier::vector_variance::state_type,
                                         typename Tier::variance::state_type>,
                "[tieropt-tier-state] states are float or double, and vector_variance stores what "
                "variance stores; see tieropt/policy/tier.hpp");

  using param = Param;                                     ///< storage of parameters
  using grad = Grad;                                       ///< storage of gradients
  using momentum = typename Tier::momentum;                ///< part
  using variance = typename Tier::variance;                ///< part
  using vector_variance = typename Tier::vector_variance;  ///< part
  using eps = typename Tier::eps;                          ///< part
  using clip = typename Tier::clip;                        ///< part
  using decay = typename Tier::decay;                      ///< part
  using rounding = typename Tier::rounding;                ///< part
  /// The widest of what the tier computes in and what its operands are stored in.
  using compute =
      cuda::std::conditional_t<cuda::std::is_same_v<typename Tier::compute, double> ||
                                   cuda::std::is_same_v<Param, double> ||
                                   cuda::std::is_same_v<Grad, double> ||
                                   cuda::std::is_same_v<typename momentum::state_type, double> ||
                                   cuda::std::is_same_v<typename variance::state_type, double>,
                               double, float>;
  static constexpr scope step_scope = Tier::step_scope;  ///< what a step entry spans
  static constexpr tuning tune = Tier::tune;             ///< mapping
};

}  // namespace v0_1
}  // namespace tieropt
