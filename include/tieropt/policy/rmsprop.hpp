// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// RMSprop, composed (T. Tieleman and G. Hinton, lecture 6.5, 2012). Layer: policy.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace rmsprop {

/// Every weight: g / (sqrt(V) + eps), V not bias-corrected, L2 decay: one pass. The decay of V is
/// hyper::beta2 (0.99 in most frameworks). A weight_decay meant for AdamW is far too large here.
/// @tparam State of states, and compute
template <class State = float>
struct tensor_as : tier {
  using variance = exact_variance<State>;         ///< (E, R, C)
  using vector_variance = exact_variance<State>;  ///< of no use
  using eps = added_eps;                          ///< sqrt(V) + eps
  using bias_correction = correct_none;           ///< small at first: the first steps are long
  using clip = no_clip;                           ///< one pass
  using decay = l2_decay;                         ///< g + wd p
  using compute = State;                          ///< compute type
};

using tensor = tensor_as<>;          ///< fp32 states
using policy = tier_policy<tensor>;  ///< one population

}  // namespace rmsprop
}  // namespace v0_1
}  // namespace tieropt
