// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Views of the caller's buffers: mdspan in, rank and layout as plain values. Layer: root.
#pragma once

#include <tieropt/config.hpp>

#include <cuda/std/concepts>
#include <cuda/std/mdspan>
#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// The most dimensions a view may have.
inline constexpr int max_rank = 8;

/// A dense row-major view of a buffer.
/// @tparam T element type
/// @param[in] data first element
/// @param[in] extents elements per dimension, slowest first
/// @return an mdspan with 64-bit extents
template <class T, cuda::std::convertible_to<int64_t>... Extents>
[[nodiscard]] TIEROPT_HOST constexpr auto view(T* data, Extents... extents) {
  return cuda::std::mdspan<T, cuda::std::dextents<int64_t, sizeof...(Extents)>>(
      data, static_cast<int64_t>(extents)...);
}

/// Any mdspan with its rank forgotten: what a bound tensor keeps.
/// @tparam T element type, const where it is only read
template <class T>
struct tensor_view {
  T* data = nullptr;           ///< first element
  int rank = -1;               ///< dimensions, -1 = no view at all
  int64_t extent[max_rank]{};  ///< elements per dimension, slowest first
  int64_t stride[max_rank]{};  ///< elements between neighbours of a dimension

  /// No view.
  TIEROPT_HOST constexpr tensor_view() = default;

  /// The view of an mdspan.
  /// @tparam U element type of the mdspan
  /// @tparam Extents its extents
  /// @tparam Layout its layout, any that is strided
  /// @tparam Accessor its accessor
  /// @param[in] m the mdspan
  template <class U, class Extents, class Layout, class Accessor>
  requires cuda::std::is_convertible_v<U (*)[], T (*)[]> TIEROPT_HOST constexpr tensor_view(
      cuda::std::mdspan<U, Extents, Layout, Accessor> const& m)
      : data{m.data_handle()}, rank{static_cast<int>(Extents::rank())} {
    static_assert(Extents::rank() <= max_rank,
                  "[tieropt-view-rank] a view has at most 8 dimensions; see tieropt/view.hpp");
    static_assert(
        Layout::template mapping<Extents>::is_always_strided(),
        "[tieropt-view-layout] the mdspan's layout must be strided; see tieropt/view.hpp");
    if constexpr (Extents::rank() > 0) {  // a scalar has no stride to ask for
      for (size_t i = 0; i < Extents::rank(); ++i) {
        extent[i] = static_cast<int64_t>(m.extent(i));
        stride[i] = static_cast<int64_t>(m.stride(i));
      }
    }
  }

  /// The same elements, to be read. @tparam U their type without const @param[in] v the view
  template <class U>
    requires(cuda::std::is_convertible_v<U (*)[], T (*)[]> && !cuda::std::is_same_v<U, T>)
  TIEROPT_HOST constexpr tensor_view(tensor_view<U> const& v) : data{v.data}, rank{v.rank} {
    for (int i = 0; i < max_rank; ++i) {
      extent[i] = v.extent[i];
      stride[i] = v.stride[i];
    }
  }

  /// Whether there is a view, of memory or of nothing.
  /// @return true unless default-constructed
  TIEROPT_HOST constexpr explicit operator bool() const { return rank >= 0; }

  /// Number of elements.
  /// @return the product of the extents, 0 without a view
  TIEROPT_HOST constexpr int64_t size() const {
    int64_t n = rank < 0 ? 0 : 1;
    for (int i = 0; i < rank; ++i) {
      if (extent[i] == 0) return 0;  // whatever the others are
    }
    for (int i = 0; i < rank; ++i) n *= extent[i];
    return n;
  }
};

}  // namespace v0_1
}  // namespace tieropt
