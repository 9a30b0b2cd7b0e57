// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The optimizers that train_moe compares: a name, a recipe of tiers, a learning rate.
#pragma once

#include "moe/training.hpp"

#include <string_view>

namespace moe {

/// One optimizer of the comparison.
struct registered {
  std::string_view name;
  std::string_view summary;
  double lr;  // at the end of the warm-up
  training_result (*train)(job const&, std::string_view name, double lr);
};

namespace corrected = tieropt::skewadam::corrected;
namespace published = tieropt::skewadam::published;
using adamw = tieropt::adamw::tensor;

/// To add an optimizer, compose its tiers and add a line.
inline constexpr registered optimizers[] = {
    {"skewadam-corrected", "tiered state, bias-corrected, clip and step per expert", 2e-3,
     train<recipe<corrected::backbone, corrected::experts, corrected::router>>},
    {"skewadam-published", "tiered state, the formulas of the published code", 2e-3,
     train<recipe<published::backbone, published::experts, published::router>>},
    {"adamw", "two fp32 states for every weight", 2e-3, train<recipe<adamw, adamw, adamw>>},
};

}  // namespace moe
