// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A policy: the list of a model's populations. Layer: policy.
#pragma once

#include <tieropt/policy/tier.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The populations of a model.
/// @tparam Populations tiers, each a type of its own
template <class... Populations>
struct tier_policy {
  static_assert(sizeof...(Populations) > 0,
                "[tieropt-policy-empty] a tier_policy needs at least one population");
  static_assert((check_tier<Populations>::ok && ...));

  /// Whether a population belongs to the policy. @tparam Population a tier
  template <class Population>
  static constexpr bool contains = (cuda::std::is_same_v<Population, Populations> || ...);
};

}  // namespace v0_1
}  // namespace tieropt
