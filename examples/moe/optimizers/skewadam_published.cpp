// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// SkewAdam by the formulas of its published code.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

namespace moe::optimizers {

std::unique_ptr<stepper> skewadam_published(bound_model const& m) {
  using namespace tieropt::skewadam::published;
  return make_stepper<recipe<backbone, backbone, experts, router>>(m, same_settings());
}

}  // namespace moe::optimizers
