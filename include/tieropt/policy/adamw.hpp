// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// AdamW composed from the same parts (arXiv 1711.05101, alg. 2). Layer: policy.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace adamw {

/// Every weight: momentum, exact second moment, eps added to the root, no clip: one pass.
/// @tparam State of states, and compute
template <class State = float>
struct tensor_as : tier {
  using momentum = ema_momentum<State>;           ///< (E, R, C)
  using variance = exact_variance<State>;         ///< (E, R, C)
  using vector_variance = exact_variance<State>;  ///< of no use
  using eps = added_eps;                          ///< sqrt(v) + eps
  using clip = no_clip;                           ///< one pass
  using compute = State;                          ///< compute type
};

using tensor = tensor_as<>;          ///< fp32 states
using policy = tier_policy<tensor>;  ///< one population

}  // namespace adamw
}  // namespace v0_1
}  // namespace tieropt
