// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Single elements of states, read and stored: what conversions are made of. Layer: kernel.
#pragma once

#include <tieropt/kernel/tensor.hpp>
#include <tieropt/precision/random.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Calls an item's operator for all of its items, 32 in a block.
/// @tparam Item callable with `int64_t items()`
template <class Item>
struct item_body {
  using storage = byte[16];             ///< no use
  static constexpr tuning tune{1};      ///< one group
  static constexpr int per_block = 32;  ///< items
  Item item;                            ///< what to do

  /// Runs one block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    int64_t const base = block.index() * per_block;
    block.for_each(clamp_count(item.items() - base, per_block), [&](int64_t i) { item(base + i); });
  }
};

/// Neighbouring columns of a row: a group of 32, alone with its scales and carries, or a segment.
struct column_group {
  int64_t e;  ///< matrix
  int64_t r;  ///< row
  int64_t c;  ///< first column
  int n;      ///< columns, fewer at the end of the row

  /// Groups of a tensor. @param[in] shape of the tensor @param[in] columns of a group
  /// @return how many
  TIEROPT_HOST_DEVICE static int64_t count(geometry const& shape, int columns = scale_group) {
    return shape.E * shape.R * ceil_div(shape.C, int64_t{columns});
  }
  /// One of them. @param[in] shape of the tensor @param[in] i which @param[in] columns of a group
  /// @return the group
  TIEROPT_HOST_DEVICE static column_group of(geometry const& shape, int64_t i,
                                             int columns = scale_group) {
    int64_t const groups = ceil_div(shape.C, int64_t{columns}), row = i / groups;
    int64_t const e = row / shape.R, c = (i - row * groups) * columns;
    return {e, row - e * shape.R, c, clamp_count(shape.C - c, columns)};
  }
};

namespace converting {

/// An element of an operand. @tparam T element type @param[in] of the operand
/// @param[in] place of the matrix @param[in] r row @param[in] c column @return its address
template <class T>
TIEROPT_HOST_DEVICE T* at(operand<T> const& of, int64_t place, int64_t r, int64_t c) {
  return of.data + (place + r * of.row + c * of.col);
}

/// Rounds to an element. @tparam Rounding stochastic_rounding or nearest_rounding
/// @tparam T element type @param[in] x value @param[in] key of the role
/// @param[in] i index of the element @return element
template <class Rounding, class T>
TIEROPT_HOST_DEVICE T rounded(double x, uint64_t key, uint64_t i) {
  using codec = storage<T>;
  if constexpr (!Rounding::stochastic || !codec::draws) {
    return codec::nearest(x);
  } else if constexpr (draw_bits_of<codec> == 32) {
    return codec::stochastic(x, wide_bits(key, i));
  } else {
    return codec::stochastic(x, element_bits{key, i}.element(0));
  }
}

/// The value of an element of a state. @tparam State how it is stored @param[in] of the state
/// @param[in] place of the matrix @param[in] r row @param[in] c column @return value, 0 of none
template <class State>
TIEROPT_HOST_DEVICE double value(state_operand_of<State> const& of, state_place const& place,
                                 int64_t r, int64_t c) {
  if constexpr (cuda::std::is_same_v<State, none>) {
    return 0;
  } else if constexpr (quantised_state<State>) {
    return widen(State::decode(*at(of.elements, place.elements, r, c),
                               *at(of.scales, place.scales, r, c / scale_group)));
  } else {
    return storage<State>::template decode<double>(*at(of.elements, place.elements, r, c));
  }
}

/// Stores a group of values. @tparam Rounding of the state @tparam State how it is stored
/// @param[in] of the state @param[in] place of the matrix @param[in] g the group
/// @param[in] x its values @param[in] key of the role @param[in] first index of the first element
template <class Rounding, class State>
TIEROPT_HOST_DEVICE void store(state_operand_of<State> const& of, state_place const& place,
                               column_group const& g, double const* x, uint64_t key,
                               uint64_t first) {
  if constexpr (quantised_state<State>) {
    float largest = 0;
    for (int i = 0; i < g.n; ++i) {
      float const a = State::magnitude(narrow(x[i]));
      largest = a > largest ? a : largest;
    }
    float const scale = State::scale(largest), inverse = State::inverse(scale);
    *at(of.scales, place.scales, g.r, g.c / scale_group) = scale;
    for (int i = 0; i < g.n; ++i) {
      *at(of.elements, place.elements, g.r, g.c + i) =
          Rounding::stochastic ? State::stochastic(narrow(x[i]), inverse,
                                                   wide_bits(key, first + static_cast<uint64_t>(i)))
                               : State::nearest(narrow(x[i]), inverse);
    }
  } else {
    for (int i = 0; i < g.n; ++i) {
      *at(of.elements, place.elements, g.r, g.c + i) =
          rounded<Rounding, State>(x[i], key, first + static_cast<uint64_t>(i));
    }
  }
}

/// Copies a group with its scale. @tparam State how both are stored
/// @param[in] from a state @param[in] there place of its matrix @param[in] to another
/// @param[in] here place of its matrix @param[in] g the group
template <class State>
TIEROPT_HOST_DEVICE void copy(state_operand_of<State> const& from, state_place const& there,
                              state_operand_of<State> const& to, state_place const& here,
                              column_group const& g) {
  for (int i = 0; i < g.n; ++i) {
    *at(to.elements, here.elements, g.r, g.c + i) =
        *at(from.elements, there.elements, g.r, g.c + i);
  }
  if constexpr (quantised_state<State>) {
    *at(to.scales, here.scales, g.r, g.c / scale_group) =
        *at(from.scales, there.scales, g.r, g.c / scale_group);
  }
}

/// Second moments of one matrix: exact, factored or none.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
class second_moments {
 public:
  /// Of a matrix. @param[in] tensor the tensor @param[in] e matrix
  TIEROPT_HOST_DEVICE second_moments(tensor_entry<Parts> const& tensor, int64_t e)
      : tensor_{tensor}, e_{e}, place_{tensor.exact.place(tensor.batch, e)} {}
  /// What a row multiplies the columns with. @param[in] r row
  /// @return row / mean of the rows of factored ones, else 1
  TIEROPT_HOST_DEVICE double share(int64_t r) const {
    if constexpr (!needs<Parts>::factored) {
      return 1;
    } else {
      if (tensor_.is_vector) return 1;
      double sum = 0;
      for (int64_t k = 0; k < tensor_.shape.R; ++k) sum = add(sum, row(k));
      double const mean = div(sum, static_cast<double>(tensor_.shape.R));
      return mean == 0 ? 0.0 : div(row(r), mean);
    }
  }
  /// One of them. @param[in] share of the row @param[in] r row @param[in] c column
  /// @return value, 0 where there is none
  TIEROPT_HOST_DEVICE double element(double share, int64_t r, int64_t c) const {
    if constexpr (needs<Parts>::factored) {
      return mul(share, col(c));
    } else {
      return value(tensor_.exact, place_, r, c);
    }
  }
  /// Mean over the columns. @param[in] r row @return the row factor
  TIEROPT_HOST_DEVICE double row(int64_t r) const {
    if constexpr (needs<Parts>::factored) {
      return storage<State>::template decode<double>(tensor_.row[e_ * tensor_.shape.R + r]);
    } else {
      double sum = 0;
      for (int64_t c = 0; c < tensor_.shape.C; ++c) sum = add(sum, element(1, r, c));
      return div(sum, static_cast<double>(tensor_.shape.C));
    }
  }
  /// Mean over the rows; of a vector its elements. @param[in] c column @return the column factor
  TIEROPT_HOST_DEVICE double col(int64_t c) const {
    if constexpr (needs<Parts>::factored) {
      return storage<State>::template decode<double>(tensor_.col[e_ * tensor_.shape.C + c]);
    } else {
      double sum = 0;
      for (int64_t r = 0; r < tensor_.shape.R; ++r) sum = add(sum, element(1, r, c));
      return div(sum, static_cast<double>(tensor_.shape.R));
    }
  }

 private:
  using State = typename Parts::variance::state_type;
  tensor_entry<Parts> const& tensor_;
  int64_t e_;
  state_place place_;
};

}  // namespace converting

}  // namespace v0_1
}  // namespace tieropt
