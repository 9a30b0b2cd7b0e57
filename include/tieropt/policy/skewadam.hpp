// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// SkewAdam as tiers, in two modes (N. Malik, arXiv 2607.19058). Layer: policy.
///
/// | population | momentum | second moment |
/// |---|---|---|
/// | backbone | fp32 | factored (exact below rank 2) |
/// | experts | none | factored |
/// | router | none | exact |
#pragma once

#include <tieropt/policy/adamw.hpp>
#include <tieropt/policy/lion.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace skewadam {

/// The corrected mode: bias-corrected moments, eps inside, clip and step per matrix, one rounding.
namespace corrected {

/// Dense weights: embeddings, attention, feed-forward, norms. @tparam State of states, and compute
template <class State = float>
struct backbone_as : tier {
  using momentum = ema_momentum<State>;           ///< (E, R, C)
  using variance = factored_variance<State>;      ///< (E, R) and (E, C)
  using vector_variance = exact_variance<State>;  ///< (N)
  using compute = State;                          ///< compute type
};
/// Expert weights. @tparam State of states, and compute
template <class State = float>
struct experts_as : tier {
  using variance = factored_variance<State>;      ///< (E, R) and (E, C)
  using vector_variance = exact_variance<State>;  ///< (N)
  using compute = State;                          ///< compute type
};
/// Router weights. @tparam State of states, and compute
template <class State = float>
struct router_as : tier {
  using variance = exact_variance<State>;         ///< (E, R, C)
  using vector_variance = exact_variance<State>;  ///< of no use
  using compute = State;                          ///< compute type
};

using backbone = backbone_as<>;                         ///< fp32 states
using experts = experts_as<>;                           ///< fp32 states
using router = router_as<>;                             ///< fp32 states
using policy = tier_policy<backbone, experts, router>;  ///< the three of them

/// @name Populations and policies of the paper's ablation
/// Momentum for the experts too; a factored router; momentum and factored moments everywhere.
/// @{
struct momentum_experts : backbone {};  ///< momentum and factored moments
struct momentum_router : backbone {};   ///< momentum and factored moments
struct factored_router : experts {};    ///< factored moments
using expert_momentum_policy = tier_policy<backbone, momentum_experts, router>;   ///< one of three
using factored_router_policy = tier_policy<backbone, experts, factored_router>;   ///< one of three
using uniform_policy = tier_policy<backbone, momentum_experts, momentum_router>;  ///< one of three
/// @}

}  // namespace corrected

/// The published code's formulas: floors for eps, tensor-wide clip and step, decay rounded first.
/// The published dither is not offered: rounding is exact stochastic.
namespace published {

/// What the three tiers share. @tparam State of states, and compute
template <class State = float>
struct common : tier {
  using vector_variance = exact_variance<State>;      ///< (N)
  using eps = floored_eps;                            ///< under the root, before the correction
  using clip = rms_clip<scope::tensor>;               ///< all experts together
  using decay = rounded_decay;                        ///< p (1 - lr wd), rounded to the type of p
  using compute = State;                              ///< compute type
  static constexpr scope step_scope = scope::tensor;  ///< one counter
};
/// Dense weights: embeddings, attention, feed-forward, norms. @tparam State of states, and compute
template <class State = float>
struct backbone_as : common<State> {
  using momentum = ema_momentum<State>;       ///< (E, R, C)
  using variance = factored_variance<State>;  ///< (E, R) and (E, C)
};
/// Expert weights. @tparam State of states, and compute
template <class State = float>
struct experts_as : common<State> {
  using variance = factored_variance<State>;  ///< (E, R) and (E, C)
};
/// Router weights. @tparam State of states, and compute
template <class State = float>
struct router_as : common<State> {
  using variance = exact_variance<State>;  ///< (E, R, C)
};

using backbone = backbone_as<>;                         ///< fp32 states
using experts = experts_as<>;                           ///< fp32 states
using router = router_as<>;                             ///< fp32 states
using policy = tier_policy<backbone, experts, router>;  ///< the three of them

/// @name Populations and policies of the paper's ablation
/// Momentum for the experts too; a factored router; momentum and factored moments everywhere.
/// @{
struct momentum_experts : backbone {};  ///< momentum and factored moments
struct momentum_router : backbone {};   ///< momentum and factored moments
struct factored_router : experts {};    ///< factored moments
using expert_momentum_policy = tier_policy<backbone, momentum_experts, router>;   ///< one of three
using factored_router_policy = tier_policy<backbone, experts, factored_router>;   ///< one of three
using uniform_policy = tier_policy<backbone, momentum_experts, momentum_router>;  ///< one of three
/// @}

}  // namespace published

/// What the paper's trainer compares with: for bf16 parameters, whose decay it rounds first. Its
/// dither is not offered: rounding is exact stochastic.
namespace trainer {

/// Its AdamW. @tparam State of states, and compute
template <class State = float>
struct adamw_as : adamw::tensor_as<State> {
  using decay = rounded_decay;  ///< p (1 - lr wd), rounded to the type of p
};
/// Its Lion. @tparam State of states, and compute
template <class State = float>
struct lion_as : lion::tensor_as<State> {
  using decay = rounded_decay;  ///< p (1 - lr wd), rounded to the type of p
};

using adamw = adamw_as<>;  ///< fp32 states
using lion = lion_as<>;    ///< fp32 momentum

}  // namespace trainer
}  // namespace skewadam
}  // namespace v0_1
}  // namespace tieropt
