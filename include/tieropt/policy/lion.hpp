// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lion, composed (X. Chen et al., arXiv 2302.06675, alg. 2). Layer: policy.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace lion {

/// Every weight: p <- p (1 - lr wd) - lr sign(beta1 M + (1 - beta1) g): one pass, one state. Its
/// authors' betas are 0.9 and 0.99.
/// @tparam State of states, and compute
template <class State = float>
struct tensor_as : tier {
  using momentum = lion_momentum<State>;  ///< (E, R, C)
  using variance = no_variance;           ///< the sign needs no denominator
  using transform = sign_update;          ///< of the momentum
  using clip = no_clip;                   ///< one pass
  using compute = State;                  ///< compute type
};

using tensor = tensor_as<>;          ///< fp32 momentum
using policy = tier_policy<tensor>;  ///< one population

}  // namespace lion
}  // namespace v0_1
}  // namespace tieropt
