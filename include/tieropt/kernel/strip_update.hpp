// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The update of one strip: from the gradient, or again from the states. Layer: kernel.
#pragma once

#include <tieropt/kernel/tensor.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Where a strip lies and what it needs.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct strip_operands {
  operand<typename Parts::grad const> grad;                ///< with its address
  operand<typename Parts::momentum::state_type> momentum;  ///< unused without momentum
  operand<typename Parts::variance::state_type> exact;     ///< exact tiers
  step_scalars<typename Parts::compute> scalars;           ///< of its matrix

  /// The operands of a matrix. @param[in] tensor the tensor @param[in] address of its gradient
  /// @param[in] e matrix
  TIEROPT_HOST_DEVICE strip_operands(tensor_entry<Parts> const& tensor,
                                     typename Parts::grad const* address, int64_t e)
      : grad{address, tensor.grad.matrix, tensor.grad.row, tensor.grad.col},
        momentum{tensor.momentum},
        exact{tensor.exact},
        scalars{tensor.scalars[e]} {}
};

/// Whether a pass needs the gradient: when it updates the states, or when there is no momentum.
/// @tparam Parts see kernel/tensor.hpp @tparam Fresh whether the pass updates the states
template <class Parts, bool Fresh>
inline constexpr bool reads_grad = Fresh || !keeps_momentum<typename Parts::momentum>;

/// Calls f(update), where update(at) is an element of the update without update_gain and, where the
/// eps part is separable, without its row.
///
/// Fresh: momentum and exact variance take the gradient in, and are stored after f; f must visit
/// every element once. Otherwise the update is formed again from what is stored.
/// @tparam Fresh whether states are updated
/// @tparam Parts see kernel/tensor.hpp
/// @tparam Group a group
/// @tparam Width width type
/// @tparam Cut whole_tile, ragged_tile or strided_tile
/// @tparam Col tile of column values; unused for exact tiers
/// @tparam F callable
/// @param[in] group the group
/// @param[in] cut the tile
/// @param[in] width columns of the strip
/// @param[in] in operands
/// @param[in] e matrix
/// @param[in] r row
/// @param[in] c first column
/// @param[in] row the row's value
/// @param[in] col column values of the strip
/// @param[in] f called once
template <bool Fresh, class Parts, class Group, class Cut, class Width, class Col, class F>
TIEROPT_HOST_DEVICE void with_update(Group const& group, Cut const& cut, Width width,
                                     strip_operands<Parts> const& in, int64_t e, int64_t r,
                                     int64_t c, typename Parts::compute row, Col const& col,
                                     F const& f) {
  using T = typename Parts::compute;
  using eps = typename Parts::eps;
  using momentum_part = typename Parts::momentum;
  constexpr bool keeps = keeps_momentum<momentum_part>;
  step_scalars<T> const s = in.scalars;

  auto const x = [&] {
    if constexpr (reads_grad<Parts, Fresh>) {
      auto const* data = in.grad.at(e, r, c, cut.stride(in.grad.col));
      group.prefetch(data + 2 * in.grad.row);
      return group.load(data, width, cut.stride(in.grad.col));
    } else {
      return none{};
    }
  }();
  auto m = [&] {
    if constexpr (keeps) {
      auto* data = in.momentum.at(e, r, c, cut.stride(in.momentum.col));
      group.prefetch(data + 2 * in.momentum.row);
      return group.load(data, width, cut.stride(in.momentum.col));
    } else {
      return none{};
    }
  }();
  auto const gradient = [&](auto at) -> T {
    if constexpr (reads_grad<Parts, Fresh>) {
      return mul(s.grad_gain, x.template get<T>(at));
    } else {
      return T(0);  // never called
    }
  };
  auto const numerator = [&](auto at, [[maybe_unused]] auto const& g) -> T {
    if constexpr (!keeps) {
      none nothing;
      return momentum_part{}(nothing, g(at), s);
    } else if constexpr (Fresh) {
      T state = m.template get<T>(at);
      T const value = momentum_part{}(state, g(at), s);
      m.put(at, state);
      return value;
    } else {
      return momentum_part{}.recall(m.template get<T>(at), s);
    }
  };

  if constexpr (Parts::variance::factored) {
    f([&](auto at) {
      return eps::factored_quotient(numerator(at, gradient), row, col.template get<T>(at), s);
    });
  } else {
    auto* const data = in.exact.at(e, r, c, cut.stride(in.exact.col));
    group.prefetch(data + 2 * in.exact.row);
    auto v = group.load(data, width, cut.stride(in.exact.col));
    typename Group::template fragment<T> value, root;
    if constexpr (!Cut::whole) group.zero(root);
    group.for_each(width, [&](auto at) {
      T second = v.template get<T>(at);
      value(at) = numerator(at, gradient);
      if constexpr (Fresh) {
        T const g = gradient(at);
        typename Parts::variance{}(second, fma(g, g, eps::square_offset(s)), s);
        v.put(at, second);
      }
      root(at) = eps::radicand(second, s);
    });
    if constexpr (Fresh) v.store();
    group.root(root);
    f([&](auto at) { return eps::quotient(value(at), root(at), s); });
  }
  if constexpr (Fresh && keeps) m.store();
}

/// The factor of a whole row that with_update left out.
/// @tparam Parts see kernel/tensor.hpp @param[in] row the row's value @return row, or 1
template <class Parts>
TIEROPT_HOST_DEVICE typename Parts::compute row_gain(typename Parts::compute row) {
  if constexpr (Parts::variance::factored && Parts::eps::separable) {
    return row;
  } else {
    return typename Parts::compute(1);
  }
}

/// The value of a row. @tparam Parts see kernel/tensor.hpp @param[in] tensor the tensor
/// @param[in] e matrix @param[in] r row @return row_value, 1 for exact tiers
template <class Parts>
TIEROPT_HOST_DEVICE typename Parts::compute row_value(tensor_entry<Parts> const& tensor, int64_t e,
                                                      int64_t r) {
  if constexpr (Parts::variance::factored) {
    return tensor.work.row_value[e * tensor.shape.R + r];
  } else {
    return typename Parts::compute(1);
  }
}

/// The column values of one strip. @tparam Parts see kernel/tensor.hpp @tparam Group a group
/// @tparam Width width type @param[in] group the group @param[in] tensor the tensor
/// @param[in] e matrix @param[in] c first column @param[in] width columns of the strip
/// @return a tile, none for exact tiers
template <class Parts, class Group, class Width>
TIEROPT_HOST_DEVICE auto col_values(Group const& group, tensor_entry<Parts> const& tensor,
                                    int64_t e, int64_t c, Width width) {
  if constexpr (Parts::variance::factored) {
    typename Parts::compute const* data =
        tensor.work.col_value + e * padded_columns(tensor.shape.C) + c;
    return group.load(data, width, unit_stride{});
  } else {
    return none{};
  }
}

}  // namespace v0_1
}  // namespace tieropt
