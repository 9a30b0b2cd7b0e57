// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// States of 8 bits with a scale for each 32 columns: SkewAdam's momentum, both of AdamW's.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

namespace moe::optimizers {
namespace {

using namespace tieropt::skewadam::corrected;

struct int8_backbone : backbone {
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
};
struct adamw_tier : tieropt::adamw::tensor {
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::exact_variance<tieropt::root_uint8>;
};

}  // namespace

std::unique_ptr<stepper> skewadam_int8(bound_model const& m) {
  return make_stepper<recipe<int8_backbone, int8_backbone, experts, router>>(m, same_settings());
}
std::unique_ptr<stepper> adamw_8bit(bound_model const& m) {
  return make_stepper<uniform_recipe<adamw_tier>>(m, same_settings());
}

}  // namespace moe::optimizers
