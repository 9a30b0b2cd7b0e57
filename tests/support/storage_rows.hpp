// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The covering arrays of storage: a row is a tier with all its element types.
#pragma once

#include "support/own_parts.hpp"
#include "support/pairwise.hpp"
#include "support/storage_codec.hpp"
#include "support/storage_reference.hpp"

#include <tieropt/policy/tier.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace testing::stored {

/// A second moment and how it is stored.
enum class variance_storage { none, row_f32, row_bf16, f32, bf16, fp16, root, block_e5m2 };
enum class master_kind { none, weights, remainder, carry };
/// Which passes a tier has.
enum class shape_kind {
  one_pass,     ///< Adam's
  clipped,      ///< RMS clip of each matrix
  global,       ///< global norm clip
  tensor_wide,  ///< RMS clip of the tensor
  l2,           ///< L2 term
  scaled,       ///< RMS clip, global norm clip, RMS of the parameter
  of_update,    ///< the momentum takes the clipped update in
};

/// One row; every field is an axis.
struct row {
  kind param;
  kind grad;
  kind momentum;
  variance_storage variance;
  master_kind master;
  shape_kind shape;
  bool nearest;        // rounding of parameters
  bool nearest_state;  // rounding of states
  fault_kind fault;

  constexpr bool factored() const {
    return variance == variance_storage::row_f32 || variance == variance_storage::row_bf16;
  }
  constexpr kind variance_as() const {
    constexpr kind as[] = {kind::none, kind::f32,  kind::bf16, kind::f32,
                           kind::bf16, kind::fp16, kind::root, kind::block_e5m2};
    return as[static_cast<int>(variance)];
  }
  constexpr bool keeps() const { return momentum != kind::none; }
  constexpr bool computes_double() const {
    return param == kind::f64 || grad == kind::f64 || momentum == kind::f64;
  }
  /// Whether nothing but decays goes by an idle matrix.
  constexpr bool can_catch_up() const {
    return !keeps() && (shape == shape_kind::one_pass || shape == shape_kind::clipped ||
                        shape == shape_kind::global);
  }
  constexpr bool inside_eps() const {
    return shape == shape_kind::clipped || shape == shape_kind::tensor_wide ||
           shape == shape_kind::scaled;
  }
  constexpr stored::recipe recipe() const {
    using namespace reference;
    stored::recipe r;
    r.base.momentum = keeps() ? momentum_kind::ema : momentum_kind::none;
    r.base.of_update = shape == shape_kind::of_update;
    r.base.variance = variance == variance_storage::none ? variance_kind::none
                      : factored()                       ? variance_kind::factored
                                                         : variance_kind::exact;
    r.base.eps = inside_eps() ? eps_kind::inside : eps_kind::added;
    r.base.clip = shape == shape_kind::tensor_wide ? clip_kind::rms_tensor
                  : shape == shape_kind::clipped || shape == shape_kind::scaled ||
                          shape == shape_kind::of_update
                      ? clip_kind::rms_matrix
                      : clip_kind::none;
    r.base.scale = shape == shape_kind::scaled ? scale_kind::matrix : scale_kind::none;
    r.base.decay = shape == shape_kind::l2 ? decay_kind::l2 : decay_kind::fused;
    r.global_clip = shape == shape_kind::global || shape == shape_kind::scaled;
    r.fault = fault;
    return r;
  }
  /// All axes.
  pairwise::row levels() const {
    return {static_cast<int>(param) - 1,
            static_cast<int>(grad) - 1,
            momentum_level(momentum),
            static_cast<int>(variance),
            static_cast<int>(master),
            static_cast<int>(shape),
            nearest,
            nearest_state,
            static_cast<int>(fault)};
  }
  /// What decides how a device reads and writes: widths of elements instead of formats.
  pairwise::row device_levels() const {
    return {width_level(size_of(param)),
            width_level(size_of(grad)),
            momentum == kind::none         ? 0
            : is_wide(momentum)            ? 1
            : momentum == kind::softsign   ? 3
            : momentum == kind::block_e4m3 ? 3
                                           : 2,
            variance == variance_storage::none ? 0
            : factored()                       ? 1
            : is_quantised(variance_as())      ? 3
                                               : 2,
            master == master_kind::carry ? 2 : static_cast<int>(master),
            shape == shape_kind::one_pass || shape == shape_kind::l2 ? 0
            : shape == shape_kind::global                            ? 1
            : shape == shape_kind::tensor_wide                       ? 3
                                                                     : 2,
            nearest,
            nearest_state,
            fault == fault_kind::propagate || fault == fault_kind::counted
                ? 0
                : static_cast<int>(fault) - 1};
  }

  static constexpr int momentum_level(kind k) {
    constexpr kind as[] = {kind::none, kind::f64,  kind::f32,      kind::bf16,
                           kind::fp16, kind::e4m3, kind::softsign, kind::block_e4m3};
    for (int i = 0; i < 8; ++i) {
      if (as[i] == k) return i;
    }
    return -1;
  }
  static constexpr int width_level(int bytes) {
    return bytes == 8 ? 0 : bytes == 4 ? 1 : bytes == 2 ? 2 : 3;
  }
};

/// The axes of row::levels. What cannot meet: the halves of an fp32 master have a bf16 upper half;
/// and nothing takes an update in where there is no momentum.
inline pairwise::space row_space() {
  auto const allowed = [](int a, int x, int b, int y) {
    if (a == 0 && b == 4 && y >= 2) return has_bf16_bits(static_cast<kind>(x + 1));
    if (a == 2 && b == 5 && x == 0) return y != static_cast<int>(shape_kind::of_update);
    return true;
  };
  return {{7, 7, 8, 8, 4, 7, 2, 2, 5}, allowed};
}
/// The axes of row::device_levels, with the same exceptions.
inline pairwise::space device_space() {
  auto const allowed = [](int a, int x, int b, int y) {
    return !(a == 0 && b == 4 && y >= 2) || x == 2;
  };
  return {{4, 4, 4, 4, 3, 4, 2, 2, 4}, allowed};
}

namespace names {

inline constexpr auto m0 = kind::none, f64 = kind::f64, f32 = kind::f32, bf16 = kind::bf16,
                      fp16 = kind::fp16, e4m3 = kind::e4m3, e5m2 = kind::e5m2, user = kind::user,
                      soft = kind::softsign, block = kind::block_e4m3;
inline constexpr auto v0 = variance_storage::none, rc32 = variance_storage::row_f32,
                      rc16 = variance_storage::row_bf16, v32 = variance_storage::f32,
                      vbf = variance_storage::bf16, vfp = variance_storage::fp16,
                      root = variance_storage::root, vblk = variance_storage::block_e5m2;
inline constexpr auto own = master_kind::none, wts = master_kind::weights,
                      rem = master_kind::remainder, cry = master_kind::carry;
inline constexpr auto pass1 = shape_kind::one_pass, clip = shape_kind::clipped,
                      glob = shape_kind::global, wide = shape_kind::tensor_wide,
                      l2 = shape_kind::l2, scal = shape_kind::scaled, upd = shape_kind::of_update;
inline constexpr bool sr = false, rn = true;
inline constexpr auto prop = fault_kind::propagate, cntd = fault_kind::counted,
                      elem = fault_kind::element, matr = fault_kind::matrix, stp = fault_kind::step;

// clang-format off
/// Every two levels that can meet do so in some row.
inline constexpr row host[] = {
    {f64,  f64,  m0,    vbf,  wts, pass1, sr, rn, elem},
    {f64,  f32,  fp16,  vfp,  own, upd,   rn, sr, matr},
    {f64,  bf16, f64,   vblk, own, clip,  sr, sr, cntd},
    {f64,  fp16, e4m3,  root, wts, wide,  rn, sr, stp},
    {f64,  e4m3, soft,  v0,   own, l2,    rn, rn, prop},
    {f64,  e5m2, f32,   rc16, wts, glob,  rn, rn, cntd},
    {f64,  user, bf16,  rc32, own, scal,  rn, sr, elem},
    {f32,  f64,  block, vfp,  wts, scal,  sr, rn, prop},
    {f32,  f32,  bf16,  rc16, own, pass1, sr, sr, stp},
    {f32,  bf16, m0,    v32,  own, glob,  rn, rn, matr},
    {f32,  fp16, fp16,  rc32, wts, l2,    sr, rn, cntd},
    {f32,  e4m3, e4m3,  vblk, wts, upd,   sr, rn, elem},
    {f32,  e5m2, soft,  vbf,  own, wide,  sr, sr, matr},
    {f32,  user, f64,   v0,   wts, clip,  rn, rn, matr},
    {bf16, f64,  f32,   v0,   rem, wide,  sr, sr, prop},
    {bf16, f32,  block, vbf,  cry, glob,  rn, rn, stp},
    {bf16, bf16, bf16,  root, rem, l2,    rn, rn, elem},
    {bf16, fp16, m0,    vblk, rem, scal,  rn, sr, matr},
    {bf16, e4m3, f64,   rc32, cry, pass1, sr, sr, prop},
    {bf16, e5m2, fp16,  v32,  rem, clip,  sr, sr, stp},
    {bf16, user, e4m3,  vfp,  rem, pass1, sr, sr, cntd},
    {fp16, f64,  fp16,  root, own, glob,  sr, sr, prop},
    {fp16, f32,  f64,   v32,  wts, wide,  rn, rn, elem},
    {fp16, bf16, soft,  rc16, wts, scal,  rn, sr, stp},
    {fp16, fp16, block, v0,   own, upd,   rn, sr, cntd},
    {fp16, e4m3, bf16,  vbf,  wts, clip,  rn, rn, prop},
    {fp16, e5m2, e4m3,  rc32, own, l2,    rn, sr, matr},
    {fp16, user, f32,   vblk, own, l2,    sr, sr, stp},
    {e4m3, f64,  f64,   rc16, own, upd,   rn, sr, stp},
    {e4m3, f32,  e4m3,  v0,   wts, scal,  sr, rn, prop},
    {e4m3, bf16, f32,   vfp,  wts, clip,  rn, sr, elem},
    {e4m3, fp16, soft,  v32,  own, pass1, rn, rn, cntd},
    {e4m3, e4m3, m0,    root, own, wide,  rn, sr, cntd},
    {e4m3, e5m2, block, vblk, own, pass1, sr, sr, matr},
    {e4m3, user, fp16,  vbf,  wts, glob,  rn, rn, elem},
    {e5m2, f64,  bf16,  v32,  wts, l2,    sr, rn, cntd},
    {e5m2, f32,  m0,    rc32, own, clip,  rn, sr, stp},
    {e5m2, bf16, fp16,  v0,   own, pass1, rn, rn, elem},
    {e5m2, fp16, f64,   vfp,  own, glob,  rn, sr, prop},
    {e5m2, e4m3, block, rc16, own, wide,  sr, sr, matr},
    {e5m2, e5m2, soft,  root, own, upd,   rn, sr, elem},
    {e5m2, user, f32,   v32,  own, scal,  rn, sr, prop},
    {user, f64,  e4m3,  rc16, cry, clip,  sr, sr, elem},
    {user, f32,  f32,   root, cry, pass1, rn, rn, matr},
    {user, bf16, block, rc32, rem, upd,   rn, sr, prop},
    {user, fp16, bf16,  vblk, cry, wide,  sr, rn, cntd},
    {user, e4m3, fp16,  vfp,  cry, scal,  sr, sr, stp},
    {user, e5m2, m0,    v0,   cry, l2,    rn, rn, prop},
    {user, user, soft,  v32,  cry, upd,   sr, sr, stp},
    {f64,  e4m3, block, v32,  own, l2,    rn, sr, elem},
    {f32,  fp16, f32,   vbf,  own, upd,   rn, sr, cntd},
    {bf16, f32,  soft,  vblk, rem, glob,  rn, rn, prop},
    {fp16, user, m0,    vfp,  wts, wide,  sr, sr, elem},
    {e4m3, e5m2, bf16,  vfp,  own, l2,    sr, sr, matr},
    {e5m2, bf16, e4m3,  vbf,  own, scal,  sr, sr, cntd},
    {user, f32,  f64,   vbf,  rem, l2,    rn, rn, cntd},
    {f32,  user, block, root, own, clip,  rn, rn, cntd},
    {bf16, user, m0,    rc16, wts, l2,    rn, rn, prop},
    {e4m3, f64,  soft,  rc32, own, clip,  rn, rn, matr},
    {e5m2, f64,  fp16,  vblk, own, wide,  rn, rn, cntd},
    {bf16, f64,  bf16,  v0,   own, upd,   sr, sr, stp},
    {user, e4m3, f32,   rc32, own, glob,  rn, rn, stp},
    {user, e5m2, f64,   root, wts, scal,  sr, sr, prop},
    {fp16, e4m3, soft,  vfp,  wts, pass1, rn, rn, matr},
    {bf16, fp16, fp16,  rc16, rem, clip,  sr, rn, elem},
    {user, bf16, f64,   rc32, cry, wide,  sr, sr, elem},
    {bf16, e4m3, e4m3,  v32,  rem, glob,  rn, rn, matr},
    {f64,  e4m3, bf16,  v0,   wts, glob,  sr, sr, prop},
};

/// The rows that run on a device: every two ways to read, write and rest.
inline constexpr row device[] = {
    {f64,  f64,  soft,  v0,   own, pass1, rn, rn, prop},
    {f64,  f32,  f32,   v32,  wts, glob,  sr, sr, matr},
    {f64,  bf16, bf16,  rc32, wts, clip,  rn, sr, elem},
    {f64,  e5m2, m0,    root, wts, wide,  sr, rn, stp},
    {f32,  f64,  fp16,  vblk, own, glob,  rn, sr, stp},
    {f32,  f32,  m0,    rc16, own, l2,    sr, rn, elem},
    {f32,  fp16, f32,   v0,   own, wide,  rn, rn, matr},
    {f32,  e4m3, block, vbf,  own, scal,  sr, sr, cntd},
    {bf16, f64,  m0,    vfp,  rem, wide,  rn, sr, elem},
    {user, f32,  e4m3,  v0,   cry, upd,   sr, rn, stp},
    {bf16, user, soft,  root, rem, pass1, sr, sr, matr},
    {user, e5m2, f64,   rc32, cry, glob,  rn, rn, prop},
    {e4m3, f64,  f32,   vblk, wts, clip,  sr, rn, elem},
    {e5m2, f32,  block, rc16, own, wide,  rn, sr, stp},
    {e4m3, bf16, m0,    v0,   wts, glob,  sr, sr, cntd},
    {e5m2, e4m3, bf16,  v32,  wts, l2,    sr, rn, matr},
    {f32,  e5m2, soft,  v0,   wts, glob,  sr, rn, elem},
    {fp16, fp16, f32,   vbf,  own, pass1, rn, rn, stp},
    {bf16, f32,  fp16,  root, wts, wide,  sr, sr, prop},
    {bf16, f64,  m0,    rc32, rem, clip,  sr, rn, matr},
};
// clang-format on

}  // namespace names

/// The library's type of a kind.
template <kind Kind>
struct element_of_kind;
template <>
struct element_of_kind<kind::none> : std::type_identity<tieropt::none> {};
template <>
struct element_of_kind<kind::f64> : std::type_identity<double> {};
template <>
struct element_of_kind<kind::f32> : std::type_identity<float> {};
template <>
struct element_of_kind<kind::bf16> : std::type_identity<tieropt::bf16> {};
template <>
struct element_of_kind<kind::fp16> : std::type_identity<tieropt::fp16> {};
template <>
struct element_of_kind<kind::e4m3> : std::type_identity<tieropt::fp8_e4m3> {};
template <>
struct element_of_kind<kind::e5m2> : std::type_identity<tieropt::fp8_e5m2> {};
template <>
struct element_of_kind<kind::user> : std::type_identity<framework_bf16> {};
template <>
struct element_of_kind<kind::softsign> : std::type_identity<tieropt::softsign_int8> {};
template <>
struct element_of_kind<kind::root> : std::type_identity<tieropt::root_uint8> {};
template <>
struct element_of_kind<kind::block_e4m3>
    : std::type_identity<tieropt::block_scaled<tieropt::fp8_e4m3>> {};
template <>
struct element_of_kind<kind::block_e5m2>
    : std::type_identity<tieropt::block_scaled<tieropt::fp8_e5m2>> {};
template <kind Kind>
using element_t = typename element_of_kind<Kind>::type;

/// The tier of a row.
template <row Row>
struct row_tier : tieropt::tier {
  template <auto Level, class... Types>
  using nth = std::tuple_element_t<static_cast<std::size_t>(Level), std::tuple<Types...>>;

  using state = element_t<Row.momentum>;
  using second = element_t<Row.variance_as()>;
  using momentum =
      std::conditional_t<Row.keeps(), tieropt::ema_momentum<state>, tieropt::no_momentum>;
  using momentum_input = std::conditional_t<Row.shape == shape_kind::of_update, tieropt::of_update,
                                            tieropt::of_gradient>;
  using variance =
      std::conditional_t<Row.variance == variance_storage::none, tieropt::no_variance,
                         std::conditional_t<Row.factored(), tieropt::factored_variance<second>,
                                            tieropt::exact_variance<second>>>;
  using vector_variance = tieropt::exact_variance<
      std::conditional_t<Row.variance == variance_storage::none, float, second>>;
  using eps = std::conditional_t<Row.inside_eps(), tieropt::inside_eps, tieropt::added_eps>;
  using clip =
      nth<Row.recipe().base.clip, tieropt::no_clip, tieropt::rms_clip<tieropt::scope::matrix>,
          tieropt::rms_clip<tieropt::scope::tensor>>;
  using grad_clip = std::conditional_t<Row.recipe().global_clip, tieropt::global_norm_clip,
                                       tieropt::no_grad_clip>;
  using scale =
      std::conditional_t<Row.shape == shape_kind::scaled,
                         tieropt::param_rms_scale<tieropt::scope::matrix>, tieropt::no_scale>;
  using decay =
      std::conditional_t<Row.shape == shape_kind::l2, tieropt::l2_decay, tieropt::fused_decay>;
  using rounding =
      std::conditional_t<Row.nearest, tieropt::nearest_rounding, tieropt::stochastic_rounding>;
  using state_rounding = std::conditional_t<Row.nearest_state, tieropt::nearest_rounding,
                                            tieropt::stochastic_rounding>;
  using master = nth<Row.master, tieropt::no_master, tieropt::master_weights<float>,
                     tieropt::remainder_master, tieropt::carry_master>;
  using fault = nth<Row.fault, tieropt::propagate, tieropt::propagate_counted,
                    tieropt::skip_element, tieropt::skip_matrix, tieropt::skip_step>;
};

}  // namespace testing::stored
