// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// AdamW.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

namespace moe::optimizers {

std::unique_ptr<stepper> adamw(bound_model const& m) {
  return make_stepper<uniform_recipe<tieropt::adamw::tensor>>(m, same_settings());
}

}  // namespace moe::optimizers
