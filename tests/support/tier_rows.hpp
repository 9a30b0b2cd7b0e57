// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One tier of the covering arrays as a row of levels, and the type that a row stands for.
#pragma once

#include "support/pairwise.hpp"
#include "support/reference.hpp"

#include <tieropt/policy/tier.hpp>

#include <type_traits>

namespace testing {

enum class element_kind { fp32, bf16, fp16, fp64 };
/// What asks for double: states, or the tier though nothing that is stored does.
enum class wide_kind { none, momentum, variance, both, compute };

/// One tier with its element types; every field is an axis of the covering array.
struct tier_row {
  reference::momentum_kind momentum;
  bool of_update;
  reference::variance_kind variance;
  reference::eps_kind eps;
  reference::bias_kind bias;
  bool rising;
  reference::transform_kind transform;
  reference::clip_kind clip;
  reference::rate_kind rate;
  reference::scale_kind scale;
  reference::decay_kind decay;
  bool maximize;
  bool nearest;  // rounding
  bool tensor_step;
  element_kind param;
  element_kind grad;
  wide_kind wide = wide_kind::none;

  constexpr bool has_momentum() const { return momentum != reference::momentum_kind::none; }
  constexpr bool factored() const { return variance == reference::variance_kind::factored; }
  constexpr bool wide_momentum() const {
    return wide == wide_kind::momentum || wide == wide_kind::both;
  }
  constexpr bool wide_variance() const {
    return wide == wide_kind::variance || wide == wide_kind::both;
  }
  /// Whether something that is stored asks for double.
  constexpr bool wide_operand() const {
    return wide_momentum() || wide_variance() || param == element_kind::fp64 ||
           grad == element_kind::fp64;
  }
  constexpr bool computes_double() const { return wide == wide_kind::compute || wide_operand(); }
  constexpr reference::recipe recipe() const {
    return {momentum, of_update, variance, eps,   bias,     rising,     transform,
            clip,     rate,      scale,    decay, maximize, tensor_step};
  }
  constexpr bool tensor_wide() const {
    return tensor_step || recipe().clips_tensor() || scale == reference::scale_kind::tensor;
  }
  /// What the clip's measure spans: 0 nothing, 1 a matrix, 2 the tensor.
  static constexpr int span(reference::clip_kind c) {
    if (c == reference::clip_kind::none) return 0;
    return c == reference::clip_kind::rms_tensor || c == reference::clip_kind::share_tensor ? 2 : 1;
  }
  /// All parts.
  pairwise::row levels() const {
    return {static_cast<int>(momentum),
            of_update,
            static_cast<int>(variance),
            static_cast<int>(eps),
            static_cast<int>(bias),
            rising,
            static_cast<int>(transform),
            static_cast<int>(clip),
            static_cast<int>(rate),
            static_cast<int>(scale),
            static_cast<int>(decay),
            maximize,
            nearest,
            tensor_step,
            static_cast<int>(param),
            static_cast<int>(grad)};
  }
  /// What is stored in which type, beside what decides how it is read and written. No variance
  /// leaves its axis open.
  pairwise::row storage_levels() const {
    return {has_momentum() ? 1 + wide_momentum() : 0,
            static_cast<int>(variance) - 1 + (wide_variance() ? 2 : 0),
            static_cast<int>(eps),
            span(clip),
            decay == reference::decay_kind::rounded,
            nearest,
            tensor_step,
            static_cast<int>(param),
            static_cast<int>(grad),
            computes_double()};
  }
};

/// The axes of tier_row::levels; what the library refuses does not meet.
inline pairwise::space tier_space(int elements) {
  auto const allowed = [](int a, int x, int b, int y) {
    if (a == 0 && b == 1) return x != 0 || y == 0;  // nothing takes an update in
    if (a != 7 || b != 9) return true;
    int const clip = tier_row::span(static_cast<reference::clip_kind>(x));
    return clip == 0 || y == 0 || clip == y;  // clip and scale span the same
  };
  return {{6, 2, 3, 3, 3, 2, 3, 6, 3, 3, 4, 2, 2, 2, elements, elements}, allowed};
}

namespace rows {

inline constexpr auto m_0 = reference::momentum_kind::none, ema = reference::momentum_kind::ema,
                      ball = reference::momentum_kind::heavy_ball,
                      lion = reference::momentum_kind::lion,
                      nema = reference::momentum_kind::nesterov_ema,
                      nball = reference::momentum_kind::nesterov_heavy_ball;
inline constexpr bool g = false, u = true;  // what the momentum takes in
inline constexpr auto v_0 = reference::variance_kind::none, full = reference::variance_kind::exact,
                      rc = reference::variance_kind::factored;
inline constexpr auto ins = reference::eps_kind::inside, add = reference::eps_kind::added,
                      flr = reference::eps_kind::floored;
inline constexpr auto b_12 = reference::bias_kind::both, b_2 = reference::bias_kind::second,
                      b_0 = reference::bias_kind::none;
inline constexpr bool same = false, rise = true;  // beta2
inline constexpr auto t_0 = reference::transform_kind::none, sign = reference::transform_kind::sign,
                      mask = reference::transform_kind::cautious;
inline constexpr auto c_0 = reference::clip_kind::none, rms_m = reference::clip_kind::rms_matrix,
                      rms_t = reference::clip_kind::rms_tensor,
                      on_m = reference::clip_kind::share_matrix,
                      on_t = reference::clip_kind::share_tensor,
                      unit = reference::clip_kind::unit_norm;
inline constexpr auto lr = reference::rate_kind::given, rel = reference::rate_kind::relative,
                      warm = reference::rate_kind::warm_up;
inline constexpr auto s_0 = reference::scale_kind::none, s_m = reference::scale_kind::matrix,
                      s_t = reference::scale_kind::tensor;
inline constexpr auto fused = reference::decay_kind::fused, round = reference::decay_kind::rounded,
                      l2 = reference::decay_kind::l2, d_0 = reference::decay_kind::none;
inline constexpr bool min = false, max = true;  // of the loss
inline constexpr bool sr = false, rn = true;    // rounding: stochastic, nearest
inline constexpr bool k_e = false, k_1 = true;  // step of each matrix, of the tensor
inline constexpr auto fp32 = element_kind::fp32, bf16 = element_kind::bf16,
                      fp16 = element_kind::fp16, fp64 = element_kind::fp64;
inline constexpr auto m8 = wide_kind::momentum, v8 = wide_kind::variance, mv8 = wide_kind::both,
                      c8 = wide_kind::compute;

// clang-format off
/// Every two levels meet in some row; all of it computed in float. Columns: see tier_row. The first
/// row is beyond that: floored eps and corrections, but no variance.
inline constexpr tier_row single[] = {
    {nema,  g, v_0,  flr, b_12, same, t_0,  c_0,   lr,   s_0, fused, min, rn, k_e, fp32, fp32},
    {m_0,   g, v_0,  ins, b_0,  same, t_0,  rms_m, lr,   s_0, fused, min, rn, k_1, fp16, bf16},
    {m_0,   g, full, flr, b_0,  rise, sign, rms_t, warm, s_t, d_0,   min, rn, k_e, fp32, fp16},
    {nema,  g, v_0,  flr, b_0,  rise, t_0,  unit,  rel,  s_0, d_0,   min, rn, k_e, fp16, bf16},
    {ema,   u, v_0,  ins, b_2,  rise, t_0,  c_0,   warm, s_0, l2,    min, sr, k_1, bf16, fp32},
    {nball, g, full, ins, b_2,  rise, sign, unit,  rel,  s_m, round, min, sr, k_1, fp16, fp16},
    {m_0,   g, rc,   add, b_2,  same, sign, on_m,  rel,  s_0, d_0,   min, sr, k_1, bf16, bf16},
    {ball,  u, rc,   flr, b_12, rise, t_0,  on_t,  rel,  s_t, round, min, rn, k_e, fp16, fp32},
    {nema,  u, full, ins, b_12, rise, sign, rms_t, lr,   s_0, fused, max, rn, k_e, fp32, fp32},
    {m_0,   g, v_0,  add, b_2,  same, mask, c_0,   rel,  s_m, round, min, sr, k_1, fp16, fp32},
    {lion,  g, rc,   flr, b_12, rise, sign, rms_m, rel,  s_m, l2,    max, rn, k_1, bf16, fp32},
    {nball, u, rc,   flr, b_0,  rise, t_0,  rms_t, warm, s_t, round, min, rn, k_1, bf16, fp16},
    {ema,   u, full, flr, b_0,  same, mask, on_t,  lr,   s_t, fused, max, sr, k_e, fp16, bf16},
    {nema,  u, rc,   flr, b_2,  same, sign, c_0,   lr,   s_0, round, max, sr, k_1, bf16, fp16},
    {nema,  u, full, flr, b_12, same, sign, on_t,  lr,   s_t, l2,    max, sr, k_1, bf16, fp32},
    {lion,  g, full, add, b_2,  same, sign, on_m,  warm, s_0, fused, min, rn, k_e, bf16, fp32},
    {nball, g, rc,   ins, b_12, same, sign, c_0,   warm, s_t, fused, max, sr, k_1, fp32, bf16},
    {ema,   g, v_0,  flr, b_12, rise, sign, on_m,  rel,  s_m, round, max, rn, k_1, fp16, fp16},
    {nema,  g, rc,   add, b_0,  same, mask, rms_m, lr,   s_0, d_0,   max, sr, k_e, fp32, bf16},
    {m_0,   g, full, add, b_2,  rise, sign, unit,  lr,   s_m, round, min, rn, k_e, bf16, bf16},
    {lion,  u, full, add, b_0,  same, mask, unit,  warm, s_0, l2,    max, rn, k_e, fp16, fp16},
    {ball,  u, v_0,  ins, b_2,  same, mask, rms_t, rel,  s_0, d_0,   min, sr, k_1, fp16, fp32},
    {ball,  g, full, add, b_12, rise, sign, rms_m, lr,   s_m, d_0,   max, rn, k_1, fp32, fp16},
    {nema,  g, rc,   flr, b_0,  same, sign, rms_t, warm, s_t, fused, max, rn, k_1, fp16, fp16},
    {lion,  u, v_0,  ins, b_2,  same, sign, on_t,  rel,  s_0, d_0,   min, sr, k_1, fp32, bf16},
    {ema,   u, v_0,  add, b_12, rise, mask, rms_m, warm, s_m, d_0,   min, sr, k_1, bf16, bf16},
    {lion,  g, v_0,  flr, b_2,  rise, t_0,  c_0,   lr,   s_0, round, max, rn, k_e, fp32, fp32},
    {nema,  g, full, add, b_0,  same, t_0,  on_m,  warm, s_m, d_0,   max, sr, k_1, bf16, fp16},
    {nball, u, v_0,  add, b_2,  same, sign, on_m,  lr,   s_0, l2,    max, sr, k_1, fp32, bf16},
    {nball, u, full, flr, b_2,  same, mask, rms_m, rel,  s_m, round, min, sr, k_e, fp32, fp16},
    {ball,  u, v_0,  ins, b_2,  same, mask, on_m,  warm, s_0, l2,    max, sr, k_1, bf16, fp32},
    {m_0,   g, rc,   flr, b_12, rise, t_0,  on_t,  lr,   s_t, l2,    max, rn, k_e, bf16, fp16},
    {lion,  u, v_0,  add, b_12, same, mask, rms_t, lr,   s_t, fused, min, rn, k_e, bf16, bf16},
    {ball,  u, rc,   ins, b_0,  rise, t_0,  unit,  rel,  s_m, fused, max, sr, k_e, fp32, fp32},
    {nball, u, rc,   flr, b_12, rise, mask, on_t,  lr,   s_0, l2,    min, rn, k_e, bf16, bf16},
    {nball, g, v_0,  add, b_2,  same, sign, on_t,  warm, s_t, d_0,   max, sr, k_1, fp32, fp32},
    {ema,   g, rc,   ins, b_2,  same, t_0,  rms_t, lr,   s_0, l2,    max, rn, k_e, fp16, bf16},
    {ball,  u, full, flr, b_0,  rise, mask, c_0,   lr,   s_0, d_0,   min, sr, k_1, bf16, bf16},
    {ema,   u, v_0,  add, b_12, rise, mask, unit,  warm, s_m, round, min, rn, k_e, fp32, bf16},
};

/// Computed in double, as the tier asks or because an operand is stored in it: every two of
/// tier_row::storage_levels meet, and the other parts' levels occur.
inline constexpr tier_row wide[] = {
    {ball,  u, full, add, b_2,  rise, mask, on_t,  lr,   s_t, d_0,   max, sr, k_1, fp32, fp64},
    {m_0,   g, full, add, b_0,  same, t_0,  unit,  rel,  s_0, round, max, sr, k_1, fp64, fp64, v8},
    {nema,  g, full, flr, b_0,  rise, mask, c_0,   rel,  s_t, d_0,   max, sr, k_1, fp16, fp16, v8},
    {m_0,   g, rc,   flr, b_12, same, t_0,  rms_t, warm, s_0, d_0,   max, rn, k_e, bf16, fp32, v8},
    {nema,  u, rc,   add, b_12, same, t_0,  c_0,   warm, s_0, round, min, rn, k_e, fp32, bf16, mv8},
    {nema,  u, v_0,  ins, b_2,  rise, mask, unit,  warm, s_m, l2,    min, rn, k_1, fp64, fp32, m8},
    {m_0,   g, full, ins, b_2,  rise, t_0,  c_0,   lr,   s_t, l2,    min, sr, k_e, fp16, bf16, c8},
    {lion,  u, rc,   ins, b_12, same, sign, c_0,   lr,   s_m, l2,    max, rn, k_1, bf16, fp64, m8},
    {ema,   u, full, ins, b_12, rise, mask, rms_m, rel,  s_m, fused, min, sr, k_1, bf16, bf16, v8},
    {ema,   g, rc,   add, b_0,  same, sign, rms_m, lr,   s_0, round, max, rn, k_e, fp16, fp32, c8},
    {nball, u, rc,   flr, b_12, rise, t_0,  on_m,  warm, s_m, round, min, sr, k_e, fp16, fp64, mv8},
    {nball, u, full, ins, b_0,  rise, mask, rms_t, rel,  s_0, l2,    max, rn, k_e, fp32, fp32, mv8},
    {m_0,   g, rc,   flr, b_0,  rise, sign, unit,  lr,   s_m, fused, min, rn, k_e, fp32, fp16, c8},
    {ball,  u, rc,   ins, b_12, rise, t_0,  on_t,  rel,  s_t, round, min, rn, k_1, fp64, fp16, v8},
    {lion,  g, full, add, b_2,  same, mask, on_m,  rel,  s_0, round, max, rn, k_1, bf16, fp16, m8},
    {ball,  g, v_0,  flr, b_0,  same, sign, on_t,  warm, s_0, fused, max, sr, k_e, fp16, bf16, m8},
    {lion,  u, full, flr, b_2,  rise, t_0,  c_0,   warm, s_t, fused, min, sr, k_e, fp64, fp32, m8},
    {nball, g, rc,   add, b_2,  same, sign, rms_t, lr,   s_t, d_0,   min, sr, k_1, fp64, bf16, m8},
};

/// The tiers that run on a device: the same, the compute type among the axes.
inline constexpr tier_row device[] = {
    {ema,   u, rc,   flr, b_0,  same, t_0,  unit,  warm, s_0, round, max, rn, k_e, fp32, bf16, mv8},
    {ball,  u, v_0,  add, b_12, same, t_0,  on_m,  warm, s_m, fused, max, sr, k_e, fp64, fp32, m8},
    {nball, u, v_0,  add, b_0,  rise, sign, rms_m, rel,  s_m, d_0,   min, rn, k_1, bf16, bf16},
    {ema,   g, rc,   add, b_2,  rise, sign, on_t,  rel,  s_t, fused, max, sr, k_e, fp32, fp32, c8},
    {lion,  g, full, ins, b_0,  same, mask, c_0,   rel,  s_t, round, max, rn, k_1, bf16, fp32, mv8},
    {ema,   g, v_0,  ins, b_12, rise, mask, c_0,   lr,   s_m, d_0,   max, sr, k_1, fp32, fp16},
    {ema,   u, full, ins, b_2,  same, sign, on_m,  lr,   s_0, l2,    min, rn, k_1, fp32, fp64, m8},
    {ball,  g, rc,   ins, b_0,  rise, mask, on_t,  warm, s_0, l2,    min, rn, k_1, bf16, fp16, mv8},
    {lion,  u, full, add, b_2,  rise, sign, unit,  lr,   s_m, l2,    min, sr, k_e, fp64, fp16},
    {nema,  u, rc,   ins, b_12, rise, mask, rms_t, rel,  s_0, l2,    max, rn, k_1, fp64, bf16, m8},
    {nball, u, full, flr, b_12, same, t_0,  on_t,  lr,   s_t, round, min, rn, k_1, fp64, fp64, v8},
    {m_0,   g, rc,   flr, b_0,  rise, t_0,  on_m,  rel,  s_m, round, max, sr, k_1, fp16, fp16},
    {m_0,   g, full, ins, b_12, same, sign, rms_m, warm, s_0, fused, min, sr, k_e, fp32, bf16, v8},
    {nema,  g, full, add, b_0,  same, sign, rms_t, warm, s_t, round, min, sr, k_1, fp16, fp16, v8},
    {nball, g, rc,   ins, b_2,  same, t_0,  rms_m, lr,   s_0, l2,    max, sr, k_e, fp16, fp32, v8},
    {lion,  g, v_0,  flr, b_12, rise, mask, unit,  rel,  s_0, fused, min, rn, k_1, fp16, fp64},
    {nema,  u, rc,   flr, b_0,  same, t_0,  c_0,   lr,   s_m, fused, max, sr, k_e, bf16, fp64, m8},
    {m_0,   g, full, flr, b_2,  rise, t_0,  rms_t, lr,   s_t, d_0,   min, rn, k_e, bf16, fp32},
    {ball,  u, full, flr, b_2,  rise, sign, c_0,   lr,   s_t, round, min, sr, k_e, fp16, bf16, m8},
    {m_0,   g, rc,   add, b_2,  same, mask, c_0,   warm, s_0, d_0,   max, sr, k_e, fp64, fp64, v8},
};
// clang-format on

}  // namespace rows

template <element_kind Kind>
using element_of = std::conditional_t<
    Kind == element_kind::fp32, float,
    std::conditional_t<Kind == element_kind::bf16, tieropt::bf16,
                       std::conditional_t<Kind == element_kind::fp16, tieropt::fp16, double>>>;

/// The type of a list that stands where a level stands in its enumeration.
template <auto Level, class First, class... Rest>
struct nth : nth<static_cast<decltype(Level)>(static_cast<int>(Level) - 1), Rest...> {};
template <auto Level, class First, class... Rest>
  requires(static_cast<int>(Level) == 0)
struct nth<Level, First, Rest...> {
  using type = First;
};
template <auto Level, class... Types>
using nth_t = typename nth<Level, Types...>::type;

/// The tier of a row.
template <tier_row Row>
struct tier_of : tieropt::tier {
  using momentum_state = std::conditional_t<Row.wide_momentum(), double, float>;
  using variance_state = std::conditional_t<Row.wide_variance(), double, float>;
  using momentum =
      nth_t<Row.momentum, tieropt::no_momentum, tieropt::ema_momentum<momentum_state>,
            tieropt::heavy_ball_momentum<momentum_state>, tieropt::lion_momentum<momentum_state>,
            tieropt::nesterov<tieropt::ema_momentum<momentum_state>>,
            tieropt::nesterov<tieropt::heavy_ball_momentum<momentum_state>>>;
  using momentum_input =
      std::conditional_t<Row.of_update, tieropt::of_update, tieropt::of_gradient>;
  using variance =
      nth_t<Row.variance, tieropt::no_variance, tieropt::exact_variance<variance_state>,
            tieropt::factored_variance<variance_state>>;
  using vector_variance = tieropt::exact_variance<variance_state>;
  using eps = nth_t<Row.eps, tieropt::inside_eps, tieropt::added_eps, tieropt::floored_eps>;
  using bias_correction =
      nth_t<Row.bias, tieropt::correct_both, tieropt::correct_second, tieropt::correct_none>;
  using betas = std::conditional_t<Row.rising, tieropt::rising_beta2, tieropt::constant_betas>;
  using transform =
      nth_t<Row.transform, tieropt::no_transform, tieropt::sign_update, tieropt::cautious_update>;
  using clip = nth_t<Row.clip, tieropt::no_clip, tieropt::rms_clip<tieropt::scope::matrix>,
                     tieropt::rms_clip<tieropt::scope::tensor>,
                     tieropt::cautious_scale<tieropt::scope::matrix>,
                     tieropt::cautious_scale<tieropt::scope::tensor>, tieropt::unit_norm>;
  using rate =
      nth_t<Row.rate, tieropt::given_rate, tieropt::relative_rate, tieropt::relative_rate_warmup>;
  using scale =
      nth_t<Row.scale, tieropt::no_scale, tieropt::param_rms_scale<tieropt::scope::matrix>,
            tieropt::param_rms_scale<tieropt::scope::tensor>>;
  using decay = nth_t<Row.decay, tieropt::fused_decay, tieropt::rounded_decay, tieropt::l2_decay,
                      tieropt::no_decay>;
  using rounding =
      std::conditional_t<Row.nearest, tieropt::nearest_rounding, tieropt::stochastic_rounding>;
  using compute = std::conditional_t<Row.wide == wide_kind::compute, double, float>;
  static constexpr bool maximize = Row.maximize;
  static constexpr tieropt::scope step_scope =
      Row.tensor_step ? tieropt::scope::tensor : tieropt::scope::matrix;
};

}  // namespace testing
