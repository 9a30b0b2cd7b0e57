// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// SGD with momentum, composed (Polyak 1964; I. Sutskever et al., ICML 2013, for Nesterov's).
/// Layer: policy.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace sgd {

/// Every weight: M <- beta1 M + g, p <- p - lr M, L2 decay: one pass.
/// @tparam State of states, and compute
template <class State = float>
struct tensor_as : tier {
  using momentum = heavy_ball_momentum<State>;  ///< (E, R, C)
  using variance = no_variance;                 ///< the update is the momentum
  using clip = no_clip;                         ///< one pass
  using decay = l2_decay;                       ///< g + wd p
  using compute = State;                        ///< compute type
};
/// The same, looking one step ahead: p <- p - lr (g + beta1 M).
/// @tparam State of states, and compute
template <class State = float>
struct nesterov_as : tensor_as<State> {
  using momentum = tieropt::nesterov<heavy_ball_momentum<State>>;  ///< (E, R, C)
};

using tensor = tensor_as<>;          ///< fp32 momentum
using nesterov = nesterov_as<>;      ///< fp32 momentum
using policy = tier_policy<tensor>;  ///< one population

}  // namespace sgd
}  // namespace v0_1
}  // namespace tieropt
