// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The references as tiers: which tier runs a group, and what its states are called in the files.
#pragma once

#include <string>
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

/// The number of a group, or `otherwise` where the group does not say.
inline double number(hyper_group const& group, char const* name, double otherwise, int i = 0) {
  auto const it = group.find(name);
  return it == group.end() ? otherwise : it->second.at(static_cast<std::size_t>(i));
}

/// The number of a group that must say.
inline double number(hyper_group const& group, char const* name) {
  if (group.contains(name)) return number(group, name, 0);
  throw input_error(std::string("a group of hyperparameters lacks ") + name);
}

/// What most recipes have in common.
template <class Compute>
struct recipe {
  using compute = Compute;
  static constexpr bool has_update = false;       // the last update is in the file
  static constexpr bool has_update_rms = false;   // and its RMS before clipping, for every step
  static constexpr bool has_rates = false;        // and param_rms, lr and beta2t
  static constexpr bool multiplies = false;       // matrices
  static constexpr bool missing_is_zero = false;  // a missing gradient counts as zeros

  /// What a step launches through.
  template <class Executor, class Side>
  struct equipment {
    Executor executor;
  };

  static std::size_t tier_of(hyper_group const&) { return 0; }
  /// Whether a step of lr = -1 on p = 0 turns the parameter into the update.
  static bool shows_update(hyper_group const&) { return true; }
  static tieropt::hyper hyper_of(hyper_group const& group, double lr) {
    return {.lr = lr,
            .beta1 = number(group, "betas"),
            .beta2 = number(group, "betas", 0, 1),
            .eps = number(group, "eps", tieropt::default_eps),
            .weight_decay = number(group, "weight_decay")};
  }
};

/// Momentum beside an exact second moment: the one SkewAdam tier that the paper has no population
/// for.
template <class Compute>
struct momentum_exact : tieropt::skewadam::published::router_as<Compute> {
  using momentum = tieropt::ema_momentum<Compute>;
};

/// SkewAdam as published: momentum or none, times factored or exact.
template <class Compute>
struct skewadam : recipe<Compute> {
  using tiers = std::tuple<tieropt::skewadam::published::backbone_as<Compute>,  // mf
                           momentum_exact<Compute>,                             // mx
                           tieropt::skewadam::published::experts_as<Compute>,   // nf
                           tieropt::skewadam::published::router_as<Compute>>;   // nx
  static constexpr state_names names{
      .momentum = "exp_avg", .exact = "v", .row = "v_row", .col = "v_col"};
  static constexpr bool has_update = true;
  static constexpr bool has_update_rms = true;

  static std::size_t tier_of(hyper_group const& group) {
    bool const momentum = number(group, "use_momentum") != 0;
    bool const factored = number(group, "use_factored") != 0;
    return (momentum ? 0u : 2u) + (factored ? 0u : 1u);
  }
};

/// AdamW: decay and update in one expression.
template <class Compute>
struct adamw : recipe<Compute> {
  using tiers = std::tuple<tieropt::adamw::tensor_as<Compute>>;
  static constexpr state_names names{.momentum = "exp_avg", .exact = "exp_avg_sq"};
};

/// Adam: decay as a part of the gradient.
template <class Compute>
struct adam : adamw<Compute> {
  using tiers = std::tuple<tieropt::adam::tensor_as<Compute>>;
};

/// Lion. A sign that differs moves the parameter by 2 lr, tens to thousands of tolerances.
template <class Compute>
struct lion : recipe<Compute> {
  using tiers = std::tuple<tieropt::lion::tensor_as<Compute>>;
  static constexpr state_names names{.momentum = "exp_avg"};
};

/// The published trainer's AdamW for bf16 parameters: its decay is rounded first.
template <class Compute>
struct trainer_adamw : adamw<Compute> {
  using tiers = std::tuple<tieropt::skewadam::trainer::adamw_as<Compute>>;
};

/// The published trainer's Lion for bf16 parameters.
template <class Compute>
struct trainer_lion : lion<Compute> {
  using tiers = std::tuple<tieropt::skewadam::trainer::lion_as<Compute>>;
};

}  // namespace golden
