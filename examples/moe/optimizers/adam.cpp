// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The older ones: Adam, RMSprop, SGD with momentum. Their decay is part of the gradient, where
/// 0.05 would outweigh it: they have none here.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

namespace moe::optimizers {

std::unique_ptr<stepper> adam(bound_model const& m) {
  return make_stepper<uniform_recipe<tieropt::adam::tensor>>(m, same_settings({}, false));
}
std::unique_ptr<stepper> rmsprop(bound_model const& m) {
  return make_stepper<uniform_recipe<tieropt::rmsprop::tensor>>(
      m, same_settings({.beta2 = 0.99}, false));
}
std::unique_ptr<stepper> sgd(bound_model const& m) {
  return make_stepper<uniform_recipe<tieropt::sgd::tensor>>(m, same_settings({}, false));
}

}  // namespace moe::optimizers
