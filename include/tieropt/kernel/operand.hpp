// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Buffers as kernels see them: any strides, elements or groups of elements. Layer: kernel.
#pragma once

#include <tieropt/block/thread_block.hpp>
#include <tieropt/functor/state.hpp>
#include <tieropt/precision/quantised.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// The most dimensions that a tensor's matrices may be spread over.
inline constexpr int max_batch = 6;

/// How the E matrices of a tensor lie: leading dimensions that no operand lets merge.
struct batch_shape {
  int n;                      ///< dimensions
  int64_t extent[max_batch];  ///< matrices along each, slowest first; their product is E
};

/// One matrix of an operand, from some column on.
/// @tparam T element type, const where it is only read
template <class T>
struct plane {
  T* data;      ///< element (0, 0)
  int64_t row;  ///< elements between rows
  int64_t col;  ///< elements between columns

  /// An element. @tparam Stride unit_stride or int64_t @param[in] r row @param[in] c column
  /// @param[in] stride col, or unit_stride: offsets are constants then @return its address
  template <class Stride>
  TIEROPT_HOST_DEVICE T* at(int64_t r, int c, Stride stride) const {
    return data + r * row + c * stride;
  }
};

/// An (E, R, C) operand with any strides.
/// @tparam T element type, const where it is only read
template <class T>
struct operand {
  T* data;                   ///< element (0, 0, 0)
  int64_t row;               ///< elements between rows
  int64_t col;               ///< elements between columns
  int64_t batch[max_batch];  ///< elements between matrices, by dimension of the batch_shape

  /// Where a matrix lies. @param[in] shape of the batch @param[in] e matrix
  /// @return elements from data to its element (0, 0)
  TIEROPT_HOST_DEVICE int64_t place(batch_shape const& shape, int64_t e) const {
    int64_t offset = 0;
    for (int i = shape.n - 1; i >= 0; --i) {
      int64_t const rest = e / shape.extent[i];
      offset += (e - rest * shape.extent[i]) * batch[i];
      e = rest;
    }
    return offset;
  }
  /// One matrix from a column on. @param[in] place of the matrix @param[in] c column
  /// @return its plane
  TIEROPT_HOST_DEVICE plane<T> from(int64_t place, int64_t c) const {
    return {data + (place + c * col), row, col};
  }
};

/// An operand, or none for the element type none.
template <class T>
using operand_or_none = cuda::std::conditional_t<cuda::std::is_same_v<T, none>, none, operand<T>>;
/// A plane, or none for the element type none.
template <class T>
using plane_or_none = cuda::std::conditional_t<cuda::std::is_same_v<T, none>, none, plane<T>>;

/// One matrix of a state, element by element.
/// @tparam State how it is stored
template <class State>
struct state_plane {
  plane<State> elements;  ///< of the matrix
};
/// One matrix of a block-quantised state.
/// @tparam State how it is stored
template <quantised_state State>
struct state_plane<State> {
  plane<typename State::code> elements;  ///< codes
  plane<float> scales;                   ///< one for scale_group columns of a row
};
/// No state.
template <>
struct state_plane<none> {};

/// Where a matrix lies in the buffers of a state, in elements.
struct state_place {
  int64_t elements;  ///< or codes
  int64_t scales;    ///< of a block-quantised state
};

/// A state of a tensor, element by element.
/// @tparam State how it is stored
template <class State>
struct state_operand_of {
  operand<State> elements;  ///< (E, R, C)

  /// Where a matrix lies. @param[in] shape of the batch @param[in] e matrix @return its place
  TIEROPT_HOST_DEVICE state_place place(batch_shape const& shape, int64_t e) const {
    return {elements.place(shape, e), 0};
  }
  /// One matrix from a column on. @param[in] at its place @param[in] c column, a multiple of 256
  /// @return its plane
  TIEROPT_HOST_DEVICE state_plane<State> from(state_place const& at, int64_t c) const {
    return {elements.from(at.elements, c)};
  }
};
/// A block-quantised state of a tensor.
/// @tparam State how it is stored
template <quantised_state State>
struct state_operand_of<State> {
  operand<typename State::code> elements;  ///< codes (E, R, C)
  operand<float> scales;                   ///< (E, R, ceil(C / 32))

  /// Where a matrix lies. @param[in] shape of the batch @param[in] e matrix @return its place
  TIEROPT_HOST_DEVICE state_place place(batch_shape const& shape, int64_t e) const {
    return {elements.place(shape, e), scales.place(shape, e)};
  }
  /// One matrix from a column on. @param[in] at its place @param[in] c column, a multiple of 256
  /// @return its plane
  TIEROPT_HOST_DEVICE state_plane<State> from(state_place const& at, int64_t c) const {
    return {elements.from(at.elements, c), scales.from(at.scales, c / scale_group)};
  }
};
/// No state.
template <>
struct state_operand_of<none> {
  /// Nowhere. @return no place
  TIEROPT_HOST_DEVICE state_place place(batch_shape const&, int64_t) const { return {}; }
  /// Nothing. @return nothing
  TIEROPT_HOST_DEVICE state_plane<none> from(state_place const&, int64_t) const { return {}; }
};

/// What a state type stores for each weight: codes for a block-quantised one.
template <class State>
struct stored_element : cuda::std::type_identity<State> {};
/// Codes.
template <quantised_state State>
struct stored_element<State> : cuda::std::type_identity<typename State::code> {};
/// What a state type stores for each weight.
template <class State>
using stored_element_t = typename stored_element<State>::type;

}  // namespace v0_1
}  // namespace tieropt
