// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The table entry of a tensor: its operands, and where its partial results lie. Layer: plan.
#pragma once

#include <tieropt/kernel/measure.hpp>
#include <tieropt/plan/checks.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Where the partial results of one tensor lie, in elements from the start of its range's.
struct work_layout {
  int64_t col_value = 0;   ///< (E, padded C); on 16 bytes
  int64_t col_part = 0;    ///< (E, row tiles, padded C); on 16 bytes
  int64_t row_value = 0;   ///< (E, R)
  int64_t row_part = 0;    ///< (E, segments, R)
  int64_t grad_part = 0;   ///< (E, row tiles, segments)
  int64_t norm_part = 0;   ///< (E, row tiles, segments)
  int64_t param_part = 0;  ///< (E, row tiles, segments)
  int64_t rms = 0;         ///< (E) or (1)
  int64_t factor = 0;      ///< (E) or (1)
  int64_t param_rms = 0;   ///< (E) or (1)
  int64_t total = 0;       ///< elements, a multiple of 64
};

/// Lays out the partial results of one tensor. @tparam Parts see kernel/tensor.hpp
/// @param[in] shape (E, R, C) @return offsets
template <class Parts>
TIEROPT_HOST constexpr work_layout lay_out(geometry const& shape) {
  work_layout at;
  int64_t n = 0;
  auto const take = [&](int64_t& offset, int64_t count) {
    offset = n;
    n += count;
  };
  if (needs<Parts>::factored) {
    take(at.col_value, shape.E * padded_columns(shape.C));
    take(at.col_part, shape.E * shape.row_tiles() * padded_columns(shape.C));
    take(at.row_value, shape.E * shape.R);
    take(at.row_part, shape.E * shape.segments() * shape.R);
  }
  int64_t const tiles = shape.E * shape.matrix_tiles();
  int64_t const measured = find_factors_pass<Parts>::blocks(shape);
  if (needs<Parts>::norm_pass) take(at.grad_part, tiles);
  if (needs<Parts>::measures) {
    take(at.norm_part, tiles);
    take(at.rms, measured);
    take(at.factor, measured);
  }
  if (needs<Parts>::scales) {
    take(at.param_part, tiles);
    take(at.param_rms, measured);
  }
  at.total = ceil_div(n, 64) * 64;
  return at;
}

/// Binds the operands of one tensor, and finds whether they suit vectors.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
class operand_binder {
 public:
  /// @param[in,out] entry of the tensor @param[in] batch how its matrices lie
  TIEROPT_HOST operand_binder(tensor_entry<Parts>& entry, batch_shape const& batch)
      : entry_{entry}, batch_{batch} {
    entry_.batch = batch;
    entry_.aligned = true;
    entry_.unit = true;
  }
  /// An operand whose columns are elements. @tparam T element type @param[out] to the operand
  /// @param[in] data element (0, 0, 0) @param[in] form of its view
  /// @param[in] fixed whether its address stays
  template <class T>
  TIEROPT_HOST void elements(operand<T>& to, T* data, canonical_form const& form,
                             bool fixed = true) const {
    groups(to, data, form);
    constexpr auto bytes = static_cast<int64_t>(sizeof(T));
    bool aligned = form.col == 1 && (form.shape.R == 1 || form.row * bytes % 16 == 0) &&
                   (!fixed || on_16_bytes(data));
    for (int i = 0; i < batch_.n; ++i) aligned = aligned && form.between[i] * bytes % 16 == 0;
    entry_.unit = entry_.unit && form.col == 1;
    entry_.aligned = entry_.aligned && aligned;
  }
  /// An operand whose columns are groups of elements: any strides suit it. @tparam T element type
  /// @param[out] to the operand @param[in] data element (0, 0, 0) @param[in] form of its view
  template <class T>
  TIEROPT_HOST void groups(operand<T>& to, T* data, canonical_form const& form) const {
    to = {data, form.row, form.col, {}};
    for (int i = 0; i < batch_.n; ++i) to.batch[i] = form.between[i];
  }
  /// A state. @tparam State how it is stored @param[out] to its operand @param[in] v its views
  /// @param[in] form of its elements @param[in] scales form of its scales
  template <class State>
  TIEROPT_HOST void state(state_operand_of<State>& to, state_views<State> const& v,
                          canonical_form const& form, canonical_form const& scales) const {
    if constexpr (quantised_state<State>) {
      elements(to.elements, v.codes.data, form);
      groups(to.scales, v.scales.data, scales);
    } else {
      elements(to.elements, v.data, form);
    }
  }

 private:
  tensor_entry<Parts>& entry_;
  batch_shape const& batch_;
};

/// Forms the table entry of one tensor but for its partial results and its places in the grid.
/// @tparam Bound a bound_tensor @param[in] b the tensor @param[in] form its operands
/// @return the entry
template <class Bound>
TIEROPT_HOST auto make_entry(Bound const& b, tensor_form const& form) {
  using parts = typename Bound::parts;
  using need = needs<parts>;
  using master = typename parts::master;
  tensor_entry<parts> entry{};
  operand_binder<parts> const bind{entry, form.batch};
  bind.elements(entry.param, b.param.data, form.param);
  bind.elements(entry.grad, b.grad.data, form.grad, false);  // its address can change
  if constexpr (need::momentum) {
    bind.template state<typename Bound::momentum_type>(entry.momentum, b.momentum, form.momentum,
                                                       form.momentum_scales);
  }
  if constexpr (need::exact) {
    bind.template state<typename Bound::variance_type>(entry.exact, b.variance.exact, form.exact,
                                                       form.exact_scales);
  } else if constexpr (need::factored) {
    entry.row = form.is_vector ? nullptr : b.variance.row.data;
    entry.col = form.is_vector ? b.variance.exact.data : b.variance.col.data;
  }
  if constexpr (master::splits) {
    bind.elements(entry.weight, b.master.remainder.data, form.weight);
  } else if constexpr (keeps_master<master>) {
    bind.elements(entry.weight, b.master.weights.data, form.weight);
  }
  if constexpr (master::carries) bind.groups(entry.carry, b.master.carry.data, form.carry);
  entry.shape = form.param.shape;
  entry.step = b.step.data;
  entry.active = b.active ? b.active.data : nullptr;
  entry.missed = b.missed ? b.missed.data : nullptr;
  entry.key = static_cast<uint64_t>(b.key);
  entry.first_element = static_cast<uint64_t>(b.first_element);
  entry.group = b.group;
  entry.is_vector = form.is_vector;
  return entry;
}

/// The partial results of one tensor. @tparam Parts see kernel/tensor.hpp
/// @param[in] elements where they start @param[in] shape (E, R, C) @return addresses
template <class Parts>
TIEROPT_HOST tensor_workspace<typename Parts::compute> work_of(typename Parts::compute* elements,
                                                               geometry const& shape) {
  work_layout const at = lay_out<Parts>(shape);
  return {elements + at.row_part,   elements + at.col_part,  elements + at.row_value,
          elements + at.col_value,  elements + at.grad_part, elements + at.norm_part,
          elements + at.param_part, elements + at.rms,       elements + at.factor,
          elements + at.param_rms};
}

}  // namespace v0_1
}  // namespace tieropt
