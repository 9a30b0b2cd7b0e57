// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tiers of the covering arrays: rows of levels, and the type that a row stands for.
#pragma once

#include "support/pairwise.hpp"
#include "support/reference.hpp"

#include <tieropt/policy/tier.hpp>

#include <type_traits>

namespace testing {

enum class momentum_kind { none, single, wide };
enum class variance_kind { exact, factored, exact_wide, factored_wide };
enum class element_kind { fp32, bf16, fp16, fp64 };

/// One tier with its element types; every field is an axis of the covering array.
struct tier_row {
  momentum_kind momentum;
  variance_kind variance;
  reference::eps_kind eps;
  reference::clip_kind clip;
  bool rounded_decay;
  bool nearest;  // rounding
  bool tensor_step;
  element_kind param;
  element_kind grad;
  bool asks_double = false;  // though nothing that is stored does

  constexpr bool factored() const {
    return variance == variance_kind::factored || variance == variance_kind::factored_wide;
  }
  constexpr bool wide_state() const {
    return variance == variance_kind::exact_wide || variance == variance_kind::factored_wide;
  }
  /// Whether something that is stored asks for double.
  constexpr bool wide_operand() const {
    return momentum == momentum_kind::wide || wide_state() || param == element_kind::fp64 ||
           grad == element_kind::fp64;
  }
  constexpr bool computes_double() const { return asks_double || wide_operand(); }
  constexpr bool tensor_wide() const { return tensor_step || clip == reference::clip_kind::tensor; }
  reference::recipe recipe() const {
    return {momentum != momentum_kind::none, factored(), eps, clip, rounded_decay, tensor_step};
  }
  pairwise::row levels() const {
    return {static_cast<int>(momentum),
            static_cast<int>(variance),
            static_cast<int>(eps),
            static_cast<int>(clip),
            rounded_decay,
            nearest,
            tensor_step,
            static_cast<int>(param),
            static_cast<int>(grad),
            computes_double()};
  }
};

namespace rows {

inline constexpr auto m0 = momentum_kind::none, m4 = momentum_kind::single,
                      m8 = momentum_kind::wide;
inline constexpr auto exact4 = variance_kind::exact, rc4 = variance_kind::factored,
                      exact8 = variance_kind::exact_wide, rc8 = variance_kind::factored_wide;
inline constexpr auto inside = reference::eps_kind::inside, added = reference::eps_kind::added,
                      floored = reference::eps_kind::floored;
inline constexpr auto unclipped = reference::clip_kind::none,
                      by_matrix = reference::clip_kind::matrix,
                      by_tensor = reference::clip_kind::tensor;
inline constexpr auto fp32 = element_kind::fp32, bf16 = element_kind::bf16,
                      fp16 = element_kind::fp16, fp64 = element_kind::fp64;

/// Every two levels meet in some row; all of it computed in float.
// clang-format off
inline constexpr tier_row single[] = {
    // momentum, variance, eps, clip, decay rounded, nearest, step of the tensor, param, grad
    {m0, exact4, floored, by_matrix, false, false, false, fp16, fp16},
    {m0, rc4,    inside,  by_tensor, true,  true,  true,  fp32, fp32},
    {m4, exact4, inside,  unclipped, true,  false, false, bf16, bf16},
    {m4, rc4,    added,   by_matrix, false, true,  true,  bf16, bf16},
    {m0, exact4, added,   unclipped, true,  true,  true,  fp32, fp16},
    {m4, rc4,    floored, by_tensor, false, false, false, fp32, bf16},
    {m0, rc4,    floored, unclipped, false, true,  false, bf16, fp32},
    {m4, exact4, added,   by_tensor, true,  false, true,  fp16, fp32},
    {m0, rc4,    inside,  unclipped, false, true,  true,  fp16, bf16},
    {m4, rc4,    inside,  by_matrix, true,  false, true,  fp32, fp16},
    {m4, exact4, floored, by_tensor, true,  true,  true,  bf16, fp16},
    {m0, rc4,    added,   by_matrix, true,  true,  false, fp32, fp32},
};

/// The same for double: asked for by the tier, or because an operand is stored in it.
inline constexpr tier_row wide[] = {
    {m0, exact4, added,   by_tensor, true,  false, true,  fp32, fp16, true},
    {m0, rc4,    floored, unclipped, false, true,  false, bf16, fp64},
    {m0, exact8, inside,  by_matrix, true,  true,  false, fp16, fp32},
    {m0, rc8,    floored, by_matrix, false, false, true,  fp64, bf16},
    {m4, exact4, inside,  unclipped, true,  false, false, fp64, fp64},
    {m4, rc4,    added,   by_matrix, false, true,  true,  fp32, fp32, true},
    {m4, exact8, floored, by_tensor, false, true,  true,  fp16, bf16},
    {m4, rc8,    inside,  by_tensor, true,  true,  false, bf16, fp16},
    {m8, exact4, floored, by_matrix, false, false, true,  bf16, fp32},
    {m8, rc4,    inside,  unclipped, true,  false, false, fp32, bf16},
    {m8, exact8, added,   unclipped, false, true,  true,  fp64, fp16},
    {m8, rc8,    added,   by_tensor, true,  false, true,  fp16, fp64},
    {m0, rc4,    inside,  by_tensor, false, false, true,  fp64, fp32},
    {m0, rc8,    floored, unclipped, true,  false, true,  fp32, fp32},
    {m8, exact4, added,   unclipped, true,  true,  false, fp16, bf16},
    {m4, exact8, floored, by_matrix, false, false, false, fp32, fp64},
    {m0, rc4,    floored, by_matrix, true,  false, true,  fp16, fp16, true},
    {m4, exact8, added,   by_matrix, true,  true,  true,  bf16, bf16},
};

/// The tiers that run on a device: every two levels meet, the compute type among them.
inline constexpr tier_row device[] = {
    {m0, exact8, added,   by_matrix, true,  false, false, fp64, bf16},
    {m4, rc4,    floored, unclipped, true,  true,  false, fp32, fp16},
    {m8, rc8,    inside,  by_matrix, false, false, false, fp32, bf16},
    {m8, exact4, floored, by_tensor, true,  true,  true,  bf16, fp32},
    {m8, rc4,    added,   by_matrix, false, false, false, fp16, fp32},
    {m0, exact4, added,   unclipped, true,  true,  false, fp32, fp32},
    {m4, exact8, floored, by_matrix, false, true,  false, fp16, fp64},
    {m0, rc4,    inside,  by_tensor, true,  true,  true,  fp64, fp16},
    {m0, rc8,    floored, unclipped, true,  true,  false, fp16, fp16},
    {m8, exact4, added,   unclipped, false, true,  true,  fp64, fp64},
    {m4, rc8,    floored, by_tensor, true,  true,  false, fp64, fp32},
    {m4, exact4, inside,  by_tensor, false, true,  true,  fp16, bf16},
    {m4, exact4, added,   by_matrix, false, false, false, bf16, fp16},
    {m0, rc8,    added,   by_tensor, true,  false, true,  bf16, fp64},
    {m0, rc4,    floored, unclipped, false, false, true,  bf16, bf16},
    {m8, exact8, inside,  by_tensor, true,  true,  false, fp32, fp32},
    {m8, rc4,    inside,  by_matrix, false, false, true,  fp32, fp64},
    {m8, exact8, inside,  unclipped, false, true,  true,  bf16, fp16},
};
// clang-format on

}  // namespace rows

template <element_kind Kind>
using element_of = std::conditional_t<
    Kind == element_kind::fp32, float,
    std::conditional_t<Kind == element_kind::bf16, tieropt::bf16,
                       std::conditional_t<Kind == element_kind::fp16, tieropt::fp16, double>>>;

/// The tier of a row.
template <tier_row Row>
struct tier_of : tieropt::tier {
  using state = std::conditional_t<Row.wide_state(), double, float>;
  using momentum = std::conditional_t<Row.momentum == momentum_kind::none, tieropt::no_momentum,
                                      tieropt::ema_momentum<std::conditional_t<
                                          Row.momentum == momentum_kind::wide, double, float>>>;
  using variance = std::conditional_t<Row.factored(), tieropt::factored_variance<state>,
                                      tieropt::exact_variance<state>>;
  using vector_variance = tieropt::exact_variance<state>;
  using eps = std::conditional_t<Row.eps == reference::eps_kind::inside, tieropt::inside_eps,
                                 std::conditional_t<Row.eps == reference::eps_kind::added,
                                                    tieropt::added_eps, tieropt::floored_eps>>;
  using clip = std::conditional_t<
      Row.clip == reference::clip_kind::none, tieropt::no_clip,
      tieropt::rms_clip<Row.clip == reference::clip_kind::matrix ? tieropt::scope::matrix
                                                                 : tieropt::scope::tensor>>;
  using decay = std::conditional_t<Row.rounded_decay, tieropt::rounded_decay, tieropt::fused_decay>;
  using rounding =
      std::conditional_t<Row.nearest, tieropt::nearest_rounding, tieropt::stochastic_rounding>;
  using compute = std::conditional_t<Row.asks_double, double, float>;
  static constexpr tieropt::scope step_scope =
      Row.tensor_step ? tieropt::scope::tensor : tieropt::scope::matrix;
};

}  // namespace testing
