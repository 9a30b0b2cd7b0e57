// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Adafactor without momentum. The learning rate is the program's, so that schedules apply to it;
/// as published it is scaled by the RMS of each tensor.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

namespace moe::optimizers {

std::unique_ptr<stepper> adafactor(bound_model const& m) {
  using tier = tieropt::adafactor::tensor_as<float, tieropt::no_momentum, tieropt::given_rate>;
  return make_stepper<uniform_recipe<tier>>(m, same_settings());
}

}  // namespace moe::optimizers
