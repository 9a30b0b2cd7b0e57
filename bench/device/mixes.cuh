// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a counting program can count: one tier with each rounding, or a list of storage mixes.
#pragma once

#include "case.cuh"

#include <tuple>

namespace device_bench {

/// One thing to count. @tparam Tier a tier @tparam Param of parameters @tparam Grad of gradients
template <class Tier, class Param = bf16, class Grad = Param>
struct variant {
  char const* name;  ///< of the command line
};

/// A tier with a rounding of parameters, by name. @tparam Tier a tier
template <class Tier>
inline constexpr std::tuple roundings{
    variant<rounded<Tier, tieropt::nearest_rounding>>{"nearest"},
    variant<rounded<Tier, tieropt::stochastic_rounding>>{"stochastic"}};

/// The presets with other storage, masters, faults and clips.
namespace mixes {

namespace corrected = tieropt::skewadam::corrected;
using tieropt::ema_momentum;
using tieropt::exact_variance;
using tieropt::fp8_e4m3;

template <class State>
struct backbone : corrected::backbone {
  using momentum = ema_momentum<State>;
};
template <class Momentum, class Variance>
struct adamw : tieropt::adamw::tensor {
  using momentum = ema_momentum<Momentum>;
  using variance = exact_variance<Variance>;
};
template <class Master>
struct adamw_master : tieropt::adamw::tensor {
  using master = Master;
};
template <class Tier, class Fault>
struct faulty : Tier {
  using fault = Fault;
};
template <class Tier>
struct clipped : Tier {
  using grad_clip = tieropt::global_norm_clip;
};

}  // namespace mixes

/// Narrow states.
inline constexpr std::tuple states{
    variant<mixes::backbone<bf16>>{"backbone_bf16"},
    variant<mixes::backbone<tieropt::softsign_int8>>{"backbone_int8"},
    variant<mixes::backbone<tieropt::block_scaled<mixes::fp8_e4m3>>>{"backbone_fp8"},
    variant<mixes::adamw<bf16, bf16>>{"adamw_bf16"},
    variant<mixes::adamw<tieropt::softsign_int8, tieropt::root_uint8>>{"adamw_8bit"}};
/// Narrow parameters and masters.
inline constexpr std::tuple weights{
    variant<mixes::corrected::experts, mixes::fp8_e4m3, bf16>{"experts_fp8"},
    variant<mixes::adamw_master<tieropt::master_weights<float>>>{"adamw_weights"},
    variant<mixes::adamw_master<tieropt::remainder_master>>{"adamw_remainder"},
    variant<mixes::adamw_master<tieropt::carry_master>>{"adamw_carry"}};
/// What is known of all gradients first.
inline constexpr std::tuple surveys{
    variant<mixes::faulty<mixes::clipped<mixes::corrected::experts>, tieropt::skip_matrix>>{
        "experts_skip_matrix_clipped"},
    variant<mixes::faulty<mixes::corrected::experts, tieropt::skip_element>>{
        "experts_skip_element"},
    variant<mixes::clipped<tieropt::adamw::tensor>>{"adamw_clipped"}};

}  // namespace device_bench
