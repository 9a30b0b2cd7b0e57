// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The update of one strip: from the gradient, or again from the states. Layer: kernel.
#pragma once

#include <tieropt/kernel/gradient.hpp>
#include <tieropt/kernel/state_tile.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What the strips of one tile need: operands start at its matrix and first column.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct strip_operands {
  gradient_source<Parts> grad;                                   ///< with its address
  state_plane<typename Parts::momentum::state_type> momentum;    ///< of its matrix
  state_plane<typename tensor_entry<Parts>::exact_state> exact;  ///< of its matrix
  step_scalars<typename Parts::compute> scalars;                 ///< of its matrix
  uint64_t first;                                                ///< global index of its element
  int64_t pitch;                                                 ///< C

  /// The operands of a tile. @param[in] tensor the tensor @param[in] address of its gradient
  /// @param[in] e matrix @param[in] c0 first column
  TIEROPT_HOST_DEVICE strip_operands(tensor_entry<Parts> const& tensor,
                                     typename Parts::grad const* address, int64_t e, int64_t c0)
      : grad{tensor, address, e, c0},
        momentum{tensor.momentum.from(tensor.places[e].momentum, c0)},
        exact{tensor.exact.from(tensor.places[e].exact, c0)},
        scalars{tensor.scalars[e]},
        first{tensor.element(e, 0, c0)},
        pitch{tensor.shape.C} {}

  /// The random bits of a strip. @param[in] r row @param[in] c first column, from the tile's
  /// @return their key and first element
  TIEROPT_HOST_DEVICE strip_random random(int64_t r, int c) const {
    return {scalars.rounding_key, first + static_cast<uint64_t>(r * pitch + c)};
  }
};

/// The faulty elements of a tile, counted by leaf where the tier's fault part looks at elements.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
class fault_tally {
  using T = typename Parts::compute;
  static constexpr bool counts = needs<Parts>::counts_elements;

  // Counts in the compute type: a leaf has 16,384 elements.
  template <class Group>
  struct counter {
    typename Group::template fragment<T> n;
    template <class At>
    TIEROPT_HOST_DEVICE void take(At at, bool faulty) {
      n(at) = add(n(at), faulty ? T(1) : T(0));
    }
  };
  struct no_counter {
    template <class At>
    TIEROPT_HOST_DEVICE void take(At, bool) {}
  };

 public:
  /// Of a tile. @param[in] tensor the tensor @param[in] index which tile
  TIEROPT_HOST_DEVICE fault_tally(tensor_entry<Parts> const& tensor, int64_t index)
      : to_{counts ? tensor.faulty + index * leaves : nullptr} {}

  /// A counter with take(at, faulty), at 0. @tparam Group a group @param[in] group the group
  /// @return the counter of a leaf
  template <class Group>
  TIEROPT_HOST_DEVICE auto leaf(Group const& group) const {
    if constexpr (counts) {
      counter<Group> c;
      group.zero(c.n);
      return c;
    } else {
      return no_counter{};
    }
  }
  /// Writes a leaf's count. @tparam Group a group @tparam Counter from leaf()
  /// @param[in] group the group @param[in] i which leaf @param[in] found in the leaf
  template <class Group, class Counter>
  TIEROPT_HOST_DEVICE void write(Group const& group, int i, Counter const& found) const {
    if constexpr (counts) {
      T const sum = group.reduce(found.n);
      group.single([&] { to_[i] = static_cast<int>(sum); });
    }
  }
  /// Nothing was found: the matrix rests. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void clear(Block const& block) const {
    if constexpr (counts) {
      block.for_each(leaves, [&](int64_t i) { to_[i] = 0; });
    }
  }

 private:
  int* to_;
};

/// Whether the common factors of a matrix and of a row may be multiplied in after the transform.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
inline constexpr bool gains_come_last = Parts::transform::homogeneous;

/// The mapping of a pass that forms the update. Registers are left for three blocks, or for two
/// where more values are in flight: in exact tiers, beside a second operand of the gradient or of
/// the parameter, where states or weights are coded or drawn for, where weights are wide or
/// elements may rest, and where a row's factor is multiplied in before the transform.
/// @tparam Parts see kernel/tensor.hpp @tparam Param what the pass also reads and writes, or none
/// @return the tier's tuning, completed
template <class Parts, class Param>
consteval tuning update_tuning() {
  using need = needs<Parts>;
  constexpr bool takes_update = need::of_update && !cuda::std::is_same_v<Param, none>;
  constexpr bool plain = lossless_state<typename Parts::momentum::state_type> &&
                         !keeps_master<typename Parts::master> && !need::counts_elements &&
                         !(draws_weights<Parts> && sizeof(typename Parts::param) == 1);
  constexpr bool narrow_param =
      cuda::std::is_same_v<Param, none> || sizeof(typename Parts::param) <= 2;
  constexpr bool lean = plain && narrow_param && need::factored && !need::l2 && !takes_update &&
                        gains_come_last<Parts>;
  using momentum = cuda::std::conditional_t<need::of_gradient || takes_update,
                                            typename Parts::momentum::state_type, none>;
  using exact = cuda::std::conditional_t<need::exact, typename Parts::variance::state_type, none>;
  return tune_for<Parts>(widest<Param, typename Parts::grad, stored_element_t<momentum>,
                                grad_decay_operand<Parts>, stored_element_t<exact>>(),
                         lean ? 3 : 2);
}

/// The factor of a whole row that with_update left out.
/// @tparam Parts see kernel/tensor.hpp @param[in] row the row's value @return row, or 1
template <class Parts>
TIEROPT_HOST_DEVICE typename Parts::compute row_gain(typename Parts::compute row) {
  if constexpr (needs<Parts>::factored && Parts::eps::separable && gains_come_last<Parts>) {
    return row;
  } else {
    return typename Parts::compute(1);
  }
}

/// The factor of all of a matrix's elements that with_update left out.
/// @tparam Parts see kernel/tensor.hpp @param[in] s scalars @return update_gain, or 1
template <class Parts>
TIEROPT_HOST_DEVICE typename Parts::compute matrix_gain(
    step_scalars<typename Parts::compute> const& s) {
  if constexpr (gains_come_last<Parts>) {
    return s.update_gain;
  } else {
    return typename Parts::compute(1);
  }
}

/// Calls f(update, faulty), where update(at) is an element of the transformed update without its
/// matrix_gain and its row_gain, and faulty(at) whether the tier's fault part, if it looks at
/// elements, found it so: where they rest, their update is 0.
///
/// Momentum and exact variance take the gradient in, and are stored after f, or are recalled, as
/// Mode says; f must visit every element once.
/// @tparam Mode what happens to the states
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
template <states Mode, class Parts, class Group, class Cut, class Width, class Col, class F>
TIEROPT_HOST_DEVICE void with_update(Group const& group, Cut const& cut, Width width,
                                     strip_operands<Parts> const& in, int64_t r, int c,
                                     typename Parts::compute row, Col const& col, F const& f) {
  using T = typename Parts::compute;
  using eps = typename Parts::eps;
  using momentum_part = typename Parts::momentum;
  using need = needs<Parts>;
  constexpr bool reads = need::reads_grad(Mode), keeps = need::of_gradient;
  constexpr bool stores = Mode == states::store, fresh = Mode != states::recall;
  step_scalars<T> const s = in.scalars;

  auto const x = [&] {
    if constexpr (reads) {
      in.grad.prefetch(group, cut, r + 2, c);
      return in.grad.load(group, cut, width, r, c, s);
    } else {
      return none{};
    }
  }();
  using rounding = typename Parts::state_rounding;
  auto m = [&] {
    if constexpr (keeps) {
      return load_state<rounding, draw_role::momentum>(group, cut, width, in.momentum, r, c,
                                                       in.random(r, c));
    } else {
      return none{};
    }
  }();
  auto const faulty = [&](auto at) -> bool {
    if constexpr (reads && need::counts_elements) {
      return x.faulty(at);
    } else {
      return false;
    }
  };
  auto const rests = [&](auto at) -> bool { return need::masks && faulty(at); };
  auto const gradient = [&](auto at) -> T {
    if constexpr (reads) {
      return x(at);
    } else {
      return T(0);  // never used
    }
  };
  auto const numerator = [&](auto at, [[maybe_unused]] T g) -> T {
    if constexpr (!keeps) {
      if constexpr (need::of_update) {
        return g;
      } else {
        none nothing;
        return momentum_part{}(nothing, g, s);
      }
    } else if constexpr (fresh) {
      T const before = m.template get<T>(at);
      T state = before;
      T const value = momentum_part{}(state, g, s);
      if constexpr (stores) m.put(at, rests(at) ? before : state);
      return value;
    } else {
      return momentum_part{}.recall(m.template get<T>(at), s);
    }
  };
  auto const transformed = [&](auto at, T u, T g) -> T {
    if constexpr (!gains_come_last<Parts>) {
      u = mul(u, s.update_gain);
      if constexpr (need::factored && eps::separable) u = mul(u, row);
    }
    u = Parts::transform::apply(u, g);
    return rests(at) ? T(0) : u;
  };

  if constexpr (need::factored) {
    f(
        [&](auto at) {
          T const g = gradient(at);
          return transformed(at, eps::factored_quotient(numerator(at, g), row, col(at), s), g);
        },
        faulty);
  } else if constexpr (!need::divides) {
    f(
        [&](auto at) {
          T const g = gradient(at);
          return transformed(at, numerator(at, g), g);
        },
        faulty);
  } else {
    auto v =
        load_state<rounding, draw_role::exact>(group, cut, width, in.exact, r, c, in.random(r, c));
    typename Group::template fragment<T> value, signal;
    auto const radicand = [&](auto at) {
      T const before = v.template get<T>(at);
      T second = before;
      T const g = gradient(at);
      value(at) = numerator(at, g);
      if constexpr (Parts::transform::reads_grad) signal(at) = g;
      if constexpr (fresh) {
        typename Parts::variance{}(second, fma(g, g, eps::square_offset(s)), s);
        if constexpr (stores) v.put(at, rests(at) ? before : second);
      }
      return eps::radicand(second, s);
    };
    group.with_roots(width, radicand, [&](auto const& root) {
      f(
          [&](auto at) {
            T const y = root(at);  // first: it forms the value too
            T const u = eps::quotient(value(at), y, s);
            if constexpr (Parts::transform::reads_grad) {
              return transformed(at, u, signal(at));
            } else {
              return transformed(at, u, T(0));
            }
          },
          faulty);
    });
    if constexpr (stores) v.store();
  }
  if constexpr (stores && keeps) m.store();
}

/// The value of a row. @tparam Parts see kernel/tensor.hpp @param[in] tensor the tensor
/// @param[in] e matrix @param[in] r row @return row_value, 1 for exact tiers
template <class Parts>
TIEROPT_HOST_DEVICE typename Parts::compute row_value(tensor_entry<Parts> const& tensor, int64_t e,
                                                      int64_t r) {
  if constexpr (needs<Parts>::factored) {
    return tensor.work.row_value[e * tensor.shape.R + r];
  } else {
    return typename Parts::compute(1);
  }
}

/// The column values of a tile in the block's storage.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct column_storage {
  kept_strip<typename Parts::compute> strips_of[needs<Parts>::factored ? strips : 1];  ///< by strip

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
    if constexpr (needs<Parts>::factored) {
      return group.kept(strips_of[k]);
    } else {
      return none{};
    }
  }
};

/// Fills the column values of a tile, and waits for them; nothing for exact tiers.
/// @tparam Parts see kernel/tensor.hpp @tparam Block a block @param[in] block the block
/// @param[out] cols in the block's storage @param[in] tensor the tensor @param[in] e matrix
/// @param[in] c0 first column @param[in] aligned see with_tile
template <class Parts, class Block>
TIEROPT_HOST_DEVICE void fill_columns(Block const& block, column_storage<Parts>& cols,
                                      tensor_entry<Parts> const& tensor, int64_t e, int64_t c0,
                                      bool aligned) {
  if constexpr (needs<Parts>::factored) {
    int const columns = clamp_count(tensor.shape.C - c0, segment);
    block.for_each_group([&](auto const& any_group) {
      with_tile(any_group, columns, aligned, tensor.unit, [&](auto const& group, auto const& cut) {
        cols.fill(group, Block::groups, cut, tensor, e, c0);
      });
    });
  }
}

}  // namespace v0_1
}  // namespace tieropt
