// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Adafactor: the combinations of its options that the cases have, as tiers.
#pragma once

#include "recipes.hpp"

namespace golden {

/// One combination of options.
template <class Compute, class Momentum, class Rate, class Scale>
using adafactor_tier = tieropt::adafactor::tensor_as<Compute, Momentum, Rate, Scale>;

using whole_tensor = tieropt::param_rms_scale<tieropt::scope::tensor>;

template <class Compute>
struct adafactor : recipe<Compute> {
  using none = tieropt::no_momentum;
  using ema = tieropt::ema_momentum<Compute>;
  using given = tieropt::given_rate;
  using relative = tieropt::relative_rate;
  using warmup = tieropt::relative_rate_warmup;
  using unscaled = tieropt::no_scale;
  using tiers = std::tuple<adafactor_tier<Compute, none, given, unscaled>,         // fixed
                           adafactor_tier<Compute, none, relative, whole_tensor>,  // default
                           adafactor_tier<Compute, ema, given, unscaled>,          // fixed-b1
                           adafactor_tier<Compute, ema, relative, whole_tensor>,   // default-b1
                           adafactor_tier<Compute, none, given, whole_tensor>,     // scaleonly
                           adafactor_tier<Compute, none, relative, unscaled>,      // relativeonly
                           adafactor_tier<Compute, none, warmup, whole_tensor>>;   // warmupinit
  static constexpr state_names names{.momentum = "exp_avg",
                                     .exact = "exp_avg_sq",
                                     .row = "exp_avg_sq_row",
                                     .col = "exp_avg_sq_col"};
  static constexpr bool has_update_rms = true;
  static constexpr bool has_rates = true;

  /// A combination that is no tier here gets an index beyond them.
  static std::size_t tier_of(hyper_group const& group) {
    bool const momentum = group.contains("beta1");
    bool const scale = number(group, "scale_parameter", 1) != 0;
    bool const step = number(group, "relative_step", 1) != 0;
    if (step && number(group, "warmup_init", 0) != 0) return !momentum && scale ? 6 : 7;
    if (step == scale) return (momentum ? 2u : 0u) + (step ? 1u : 0u);
    if (momentum) return 7;
    return scale ? 4 : 5;
  }
  static bool shows_update(hyper_group const& group) { return tier_of(group) == 0; }

  static tieropt::hyper hyper_of(hyper_group const& group, double lr) {
    return {.lr = lr,
            .beta1 = number(group, "beta1", 0),
            .eps = number(group, "eps", 1e-30, 0),
            .clip = number(group, "clip_threshold", 1),
            .weight_decay = number(group, "weight_decay", 0),
            .beta2_decay = -number(group, "decay_rate", -0.8),
            .eps2 = number(group, "eps", 1e-3, 1)};
  }
};

template <class Tier>
struct to_nearest : Tier {
  using rounding = tieropt::nearest_rounding;
};

/// The tiers of the cases with bf16 parameters, which this reference rounds to nearest even.
template <class Compute>
struct adafactor_to_nearest : adafactor<Compute> {
  using all = typename adafactor<Compute>::tiers;
  using tiers = std::tuple<to_nearest<std::tuple_element_t<0, all>>,
                           to_nearest<std::tuple_element_t<1, all>>>;
};

}  // namespace golden
