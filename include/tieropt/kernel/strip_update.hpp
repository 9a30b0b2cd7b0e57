// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The update of one strip: from the gradient, or again from the states. Layer: kernel.
#pragma once

#include <tieropt/kernel/tensor.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What the strips of one tile need: operands start at its matrix and first column.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct strip_operands {
  operand<typename Parts::grad const> grad;                ///< with its address
  operand<typename Parts::momentum::state_type> momentum;  ///< unused without momentum
  operand<typename Parts::variance::state_type> exact;     ///< exact tiers
  step_scalars<typename Parts::compute> scalars;           ///< of its matrix

  /// The operands of a tile. @param[in] tensor the tensor @param[in] address of its gradient
  /// @param[in] e matrix @param[in] c0 first column
  TIEROPT_HOST_DEVICE strip_operands(tensor_entry<Parts> const& tensor,
                                     typename Parts::grad const* address, int64_t e, int64_t c0)
      : grad{operand<typename Parts::grad const>{address, tensor.grad.matrix, tensor.grad.row,
                                                 tensor.grad.col}
                 .from(e, c0)},
        momentum{tensor.momentum},
        exact{tensor.exact},
        scalars{tensor.scalars[e]} {
    if constexpr (keeps_momentum<typename Parts::momentum>) momentum = momentum.from(e, c0);
    if constexpr (!Parts::variance::factored) exact = exact.from(e, c0);
  }
};

/// Whether a pass needs the gradient: when it updates the states, or when there is no momentum.
/// @tparam Parts see kernel/tensor.hpp @tparam Fresh whether the pass updates the states
template <class Parts, bool Fresh>
inline constexpr bool reads_grad = Fresh || !keeps_momentum<typename Parts::momentum>;

/// The mapping of a pass that forms the update. An exact tier has more values in flight.
/// @tparam Parts see kernel/tensor.hpp @tparam Param what the pass also reads and writes, or none
/// @return the tier's tuning, completed
template <class Parts, class Param>
consteval tuning update_tuning() {
  constexpr bool factored = Parts::variance::factored;
  using exact = cuda::std::conditional_t<factored, none, typename Parts::variance::state_type>;
  return tune_for<Parts>(
      widest<Param, typename Parts::grad, typename Parts::momentum::state_type, exact>(),
      factored ? 3 : 2);
}

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
/// @tparam Col column values by slot; unused for exact tiers
/// @tparam F callable
/// @param[in] group the group
/// @param[in] cut the tile
/// @param[in] width columns of the strip
/// @param[in] in operands of the tile
/// @param[in] r row
/// @param[in] c first column of the strip, from the tile's
/// @param[in] row the row's value
/// @param[in] col column values of the strip
/// @param[in] f called once
template <bool Fresh, class Parts, class Group, class Cut, class Width, class Col, class F>
TIEROPT_HOST_DEVICE void with_update(Group const& group, Cut const& cut, Width width,
                                     strip_operands<Parts> const& in, int64_t r, int c,
                                     typename Parts::compute row, Col const& col, F const& f) {
  using T = typename Parts::compute;
  using eps = typename Parts::eps;
  using momentum_part = typename Parts::momentum;
  constexpr bool keeps = keeps_momentum<momentum_part>;
  step_scalars<T> const s = in.scalars;

  auto const x = [&] {
    if constexpr (reads_grad<Parts, Fresh>) {
      auto const* data = in.grad.at(r, c, cut.stride(in.grad.col));
      group.prefetch(data + 2 * in.grad.row);
      return group.load(data, width, cut.stride(in.grad.col));
    } else {
      return none{};
    }
  }();
  auto m = [&] {
    if constexpr (keeps) {
      auto* data = in.momentum.at(r, c, cut.stride(in.momentum.col));
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
      return T(0);  // never used
    }
  };
  auto const numerator = [&](auto at, [[maybe_unused]] T g) -> T {
    if constexpr (!keeps) {
      none nothing;
      return momentum_part{}(nothing, g, s);
    } else if constexpr (Fresh) {
      T state = m.template get<T>(at);
      T const value = momentum_part{}(state, g, s);
      m.put(at, state);
      return value;
    } else {
      return momentum_part{}.recall(m.template get<T>(at), s);
    }
  };

  if constexpr (Parts::variance::factored) {
    f([&](auto at) {
      return eps::factored_quotient(numerator(at, gradient(at)), row, col(at), s);
    });
  } else {
    auto* const data = in.exact.at(r, c, cut.stride(in.exact.col));
    group.prefetch(data + 2 * in.exact.row);
    auto v = group.load(data, width, cut.stride(in.exact.col));
    typename Group::template fragment<T> value;
    auto const radicand = [&](auto at) {
      T second = v.template get<T>(at);
      T const g = gradient(at);
      value(at) = numerator(at, g);
      if constexpr (Fresh) {
        typename Parts::variance{}(second, fma(g, g, eps::square_offset(s)), s);
        v.put(at, second);
      }
      return eps::radicand(second, s);
    };
    group.with_roots(width, radicand, [&](auto const& root) {
      f([&](auto at) {
        T const y = root(at);  // first: it forms the value too
        return eps::quotient(value(at), y, s);
      });
    });
    if constexpr (Fresh) v.store();
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

/// The column values of a tile in the block's storage.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct column_storage {
  kept_strip<typename Parts::compute>
      strips_of[Parts::variance::factored ? strips : 1];  ///< by strip

  /// Fills it; a barrier must follow. @tparam Group a group @tparam Cut a tile
  /// @param[in] group the group @param[in] n_groups of the block @param[in] cut the tile
  /// @param[in] tensor the tensor @param[in] e matrix @param[in] c0 first column
  template <class Group, class Cut>
  TIEROPT_HOST_DEVICE void fill(Group const& group, int n_groups, Cut const& cut,
                                tensor_entry<Parts> const& tensor, int64_t e, int64_t c0) {
    using T = typename Parts::compute;
    T const* data = tensor.work.col_value + e * padded_columns(tensor.shape.C) + c0;
    for (int k = group.index(); k < strips; k += n_groups) {
      auto const width = cut.width(k);
      auto const x = group.load(data + k * strip, width, unit_stride{});
      typename Group::template fragment<T> values;
      group.zero(values);
      group.for_each(width, [&](auto at) { values(at) = x.template get<T>(at); });
      group.keep(strips_of[k], values);
    }
  }
  /// The values of a strip. @tparam Group a group @param[in] group the group
  /// @param[in] k strip
  /// @return values by slot; none for exact tiers
  template <class Group>
  TIEROPT_HOST_DEVICE auto of(Group const& group, int k) const {
    if constexpr (Parts::variance::factored) {
      return group.kept(strips_of[k]);
    } else {
      return none{};
    }
  }
};

}  // namespace v0_1
}  // namespace tieropt
