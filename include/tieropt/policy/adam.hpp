// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Adam with L2 regularisation, composed (arXiv 1412.6980, alg. 1). Layer: policy.
#pragma once

#include <tieropt/policy/adamw.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace adam {

/// Every weight: AdamW whose decay is part of the gradient: one pass. Both moments see the decay,
/// so that a weight_decay meant for AdamW is far too large here.
/// @tparam State of states, and compute
template <class State = float>
struct tensor_as : adamw::tensor_as<State> {
  using decay = l2_decay;  ///< g + wd p
};

using tensor = tensor_as<>;          ///< fp32 states
using policy = tier_policy<tensor>;  ///< one population

}  // namespace adam
}  // namespace v0_1
}  // namespace tieropt
