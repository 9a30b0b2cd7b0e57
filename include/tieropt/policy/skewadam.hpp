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

#include <tieropt/policy/tier_policy.hpp>

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

}  // namespace published
}  // namespace skewadam
}  // namespace v0_1
}  // namespace tieropt
