// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The references as tiers: which tier runs a group, and what its states are called in the files.
#pragma once

#include <tuple>

#include "index.hpp"
#include "side.hpp"

namespace golden {

/// Names of the state tensors in the files; those that an optimizer lacks stay null.
struct state_names {
  char const* momentum = nullptr;
  char const* exact = nullptr;
  char const* row = nullptr;
  char const* col = nullptr;
};

/// Momentum beside an exact second moment: the one SkewAdam tier that the paper has no population
/// for.
template <class Compute>
struct momentum_exact : tieropt::skewadam::published::router_as<Compute> {
  using momentum = tieropt::ema_momentum<Compute>;
};

/// SkewAdam as published: momentum or none, times factored or exact.
template <class Compute>
struct skewadam {
  using compute = Compute;
  using tiers = std::tuple<tieropt::skewadam::published::backbone_as<Compute>,  // mf
                           momentum_exact<Compute>,                             // mx
                           tieropt::skewadam::published::experts_as<Compute>,   // nf
                           tieropt::skewadam::published::router_as<Compute>>;   // nx
  static constexpr state_names names{
      .momentum = "exp_avg", .exact = "v", .row = "v_row", .col = "v_col"};
  static constexpr bool has_update_rms = true;

  static std::size_t tier_of(hyper_group const& group) {
    bool const momentum = group.at("use_momentum").at(0) != 0;
    bool const factored = group.at("use_factored").at(0) != 0;
    return (momentum ? 0u : 2u) + (factored ? 0u : 1u);
  }
};

/// AdamW: decay and update in one expression.
template <class Compute>
struct adamw {
  using compute = Compute;
  using tiers = std::tuple<tieropt::adamw::tensor_as<Compute>>;
  static constexpr state_names names{.momentum = "exp_avg", .exact = "exp_avg_sq"};
  static constexpr bool has_update_rms = false;

  static std::size_t tier_of(hyper_group const&) { return 0; }
};

/// The tier of the trainer's AdamW: its decay is rounded to the parameter's type first.
template <class Compute>
struct rounded_decay_adamw : tieropt::adamw::tensor_as<Compute> {
  using decay = tieropt::rounded_decay;
  using rounding = tieropt::stochastic_rounding;
};

/// The published trainer's AdamW for bf16 parameters.
template <class Compute>
struct trainer_adamw : adamw<Compute> {
  using tiers = std::tuple<rounded_decay_adamw<Compute>>;
};

/// The hyperparameters of a group; every recipe above spells them alike.
inline tieropt::hyper hyper_of(hyper_group const& group, double lr) {
  return {.lr = lr,
          .beta1 = group.at("betas").at(0),
          .beta2 = group.at("betas").at(1),
          .eps = group.at("eps").at(0),
          .weight_decay = group.at("weight_decay").at(0)};
}

}  // namespace golden
