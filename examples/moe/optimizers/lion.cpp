// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Lion, with the betas of its authors.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

namespace moe::optimizers {

std::unique_ptr<stepper> lion(bound_model const& m) {
  return make_stepper<uniform_recipe<tieropt::lion::tensor>>(m, same_settings({.beta2 = 0.99}));
}

}  // namespace moe::optimizers
