// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the buffers of a bound tensor hold, as data: to save them, load them and compare them.
/// Layer: plan.
#pragma once

#include <tieropt/plan/canonical.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Of state_descriptor: what its fields mean, and what the bytes of the buffers mean.
inline constexpr int descriptor_version = 1;

/// What a buffer is to its tensor.
enum class state_part {
  param,            ///< the parameter; its upper half where a master splits
  momentum,         ///< first moment, or its codes
  momentum_scales,  ///< of codes
  row,              ///< means of a second moment over columns
  col,              ///< means over rows
  exact,            ///< second moment, or its codes
  exact_scales,     ///< of codes
  weights,          ///< a master beside the parameter
  remainder,        ///< lower halves of a master
  carry,            ///< whether the upper halves were rounded up
  step,             ///< steps taken
  missed            ///< steps missed
};

/// Of a file or a message. @param[in] part any @return a name without blanks, "" for no part
TIEROPT_HOST constexpr char const* name(state_part part) {
  switch (part) {
    case state_part::param: return "param";
    case state_part::momentum: return "momentum";
    case state_part::momentum_scales: return "momentum_scales";
    case state_part::row: return "row";
    case state_part::col: return "col";
    case state_part::exact: return "exact";
    case state_part::exact_scales: return "exact_scales";
    case state_part::weights: return "weights";
    case state_part::remainder: return "remainder";
    case state_part::carry: return "carry";
    case state_part::step: return "step";
    case state_part::missed: return "missed";
  }
  return "";
}

/// One buffer of a bound tensor. Texts are never null.
struct state_descriptor {
  int version = descriptor_version;     ///< of these fields
  char const* tier = "";                ///< the population's `name`, "" if it has none
  state_part part = state_part::param;  ///< what it is to its tensor
  char const* dtype = "";               ///< "F32", "BF16", "I8", ..., as safetensors spells it
  char const* map = "";                 ///< of codes: "softsign", "root", "linear"; else ""
  int group = 1;                        ///< columns that share an element: 32 of scales, 8 of carry
  int rank = 0;                         ///< dimensions
  int64_t extent[max_rank]{};           ///< elements per dimension, slowest first
  int64_t stride[max_rank]{};           ///< elements between neighbours of a dimension
  int row = -1;                         ///< dimension of the parameter that is the rows, or -1
  int col = -1;                         ///< dimension of the parameter that is the columns, or -1
  scope step_scope = scope::matrix;     ///< what a step entry spans
  int64_t key = 0;                      ///< names the tensor for the rounding bits
  int64_t first_element = 0;            ///< where the view starts in the whole tensor

  /// Elements. @return the product of the extents
  TIEROPT_HOST constexpr int64_t size() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= extent[i];
    return n;
  }
};

/// A field of state_descriptor.
enum class descriptor_field {
  none,           ///< no difference
  version,        ///< descriptors cannot be compared further
  tier,           ///< another population
  part,           ///< another buffer
  dtype,          ///< other elements
  map,            ///< other levels of codes
  group,          ///< other groups of columns
  shape,          ///< rank or extents
  dims,           ///< row or col
  step_scope,     ///< other step entries
  key,            ///< other rounding bits
  first_element,  ///< other rounding bits
  layout          ///< strides: the same values in other places
};

/// Of a message. @param[in] field any @return a name without blanks, "" for none
TIEROPT_HOST constexpr char const* name(descriptor_field field) {
  switch (field) {
    case descriptor_field::none: return "";
    case descriptor_field::version: return "version";
    case descriptor_field::tier: return "tier";
    case descriptor_field::part: return "part";
    case descriptor_field::dtype: return "dtype";
    case descriptor_field::map: return "map";
    case descriptor_field::group: return "group";
    case descriptor_field::shape: return "shape";
    case descriptor_field::dims: return "dims";
    case descriptor_field::step_scope: return "step_scope";
    case descriptor_field::key: return "key";
    case descriptor_field::first_element: return "first_element";
    case descriptor_field::layout: return "layout";
  }
  return "";
}

/// The first field in which two buffers differ, in the order of descriptor_field: what comes before
/// layout is what a checkpoint must agree on.
/// @param[in] a a buffer @param[in] b another @return the field, or none
TIEROPT_HOST constexpr descriptor_field first_difference(state_descriptor const& a,
                                                         state_descriptor const& b) {
  using field = descriptor_field;
  auto const same_text = [](char const* x, char const* y) {
    while (*x != 0 && *x == *y) ++x, ++y;
    return *x == *y;
  };
  if (a.version != b.version) return field::version;
  if (!same_text(a.tier, b.tier)) return field::tier;
  if (a.part != b.part) return field::part;
  if (!same_text(a.dtype, b.dtype)) return field::dtype;
  if (!same_text(a.map, b.map)) return field::map;
  if (a.group != b.group) return field::group;
  if (a.rank != b.rank) return field::shape;
  for (int i = 0; i < a.rank; ++i) {
    if (a.extent[i] != b.extent[i]) return field::shape;
  }
  if (a.row != b.row || a.col != b.col) return field::dims;
  if (a.step_scope != b.step_scope) return field::step_scope;
  if (a.key != b.key) return field::key;
  if (a.first_element != b.first_element) return field::first_element;
  for (int i = 0; i < a.rank; ++i) {
    if (a.extent[i] > 1 && a.stride[i] != b.stride[i]) return field::layout;
  }
  return field::none;
}

namespace describing {

/// What files call the elements of a buffer. @tparam T element type @return the name
template <class T>
consteval char const* dtype_of() {
  if constexpr (cuda::std::is_same_v<T, int64_t>) {
    return "I64";
  } else if constexpr (cuda::std::is_same_v<T, uint16_t>) {
    return "U16";
  } else if constexpr (cuda::std::is_same_v<T, uint8_t>) {
    return "U8";
  } else {
    return codec_name<T>();
  }
}

/// A population's `static constexpr char const* name`. @tparam Tier a population @return it, or ""
template <class Tier>
consteval char const* tier_name() {
  if constexpr (requires { Tier::name; }) {
    return Tier::name;
  } else {
    return "";
  }
}

}  // namespace describing

/// Calls f(descriptor, data, element_bytes) for every buffer that a step of a tensor reads and
/// writes, in the order of state_part: the parameter, states with their scales, the parts of a
/// master, the counters. Gradients and masks are inputs, and absent views are left out. The seed is
/// an input too, of all tensors: save it once.
/// @tparam Bound a bound_tensor @tparam F callable with (state_descriptor const&, void*, size_t)
/// @param[in] b the tensor, as make_plan accepts it @param[in] f called once per buffer
template <class Bound, class F>
TIEROPT_HOST void for_each_state(Bound const& b, F const& f) {
  using parts = typename Bound::parts;
  using need = needs<parts>;
  matrix_dims const dims = dims_of(b.param, b.dims);
  auto const buffer = [&]<class T>(state_part part, tensor_view<T> const& v, int group = 1,
                                   char const* dtype = describing::dtype_of<T>(),
                                   char const* map = "") {
    if (v.rank < 0 || v.rank > max_rank) return;
    state_descriptor d;
    d.tier = describing::tier_name<typename Bound::population>();
    d.part = part;
    d.dtype = dtype;
    d.map = map;
    d.group = group;
    d.rank = v.rank;
    for (int i = 0; i < v.rank; ++i) {
      d.extent[i] = v.extent[i];
      d.stride[i] = v.stride[i];
    }
    d.row = dims.row;
    d.col = dims.col;
    d.step_scope = parts::step_scope;
    d.key = b.key;
    d.first_element = b.first_element;
    f(static_cast<state_descriptor const&>(d), static_cast<void*>(v.data), sizeof(T));
  };
  auto const state = [&]<class State>(cuda::std::type_identity<State>, state_part part,
                                      state_part scales, state_views<State> const& v) {
    if constexpr (quantised_state<State>) {
      buffer(part, v.codes, 1, State::name, State::map_name);
      buffer(scales, v.scales, scale_group);
    } else {
      buffer(part, v);
    }
  };
  buffer(state_part::param, b.param);
  if constexpr (need::momentum) {
    state(cuda::std::type_identity<typename Bound::momentum_type>{}, state_part::momentum,
          state_part::momentum_scales, b.momentum);
  }
  if constexpr (need::divides) {
    buffer(state_part::row, b.variance.row);
    buffer(state_part::col, b.variance.col);
    state(cuda::std::type_identity<typename Bound::variance_type>{}, state_part::exact,
          state_part::exact_scales, b.variance.exact);
  }
  using master = typename parts::master;
  if constexpr (master::splits) {
    buffer(state_part::remainder, b.master.remainder);
    if constexpr (master::carries) buffer(state_part::carry, b.master.carry, carry_group);
  } else if constexpr (keeps_master<master>) {
    buffer(state_part::weights, b.master.weights);
  }
  buffer(state_part::step, b.step);
  buffer(state_part::missed, b.missed);
}

}  // namespace v0_1
}  // namespace tieropt
