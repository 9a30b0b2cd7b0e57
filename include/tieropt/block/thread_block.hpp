// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a kernel body may ask of its block, and the laws it obeys. Layer: block.
///
/// A block consists of groups; a group works on a strip of 256 consecutive columns. It is a warp on
/// the device and a plain loop on the host. A body sees an element slot `at`, never a lane.
///
/// Laws:
/// 1. A body is a trivially copyable struct with `storage`, `tune` and a const call operator that
/// is
///    a template over the block. It is called once per block of the grid.
/// 2. A lambda given to a group or a block touches only values that are the same in every lane, the
///    slot that it is called with, and the items that it is called for.
/// 3. The only barriers are those at the end of for_each_group and for_each of the block.
/// 4. for_each(n, f) of a group visits exactly the elements below n. Loads at or beyond n give zero
///    elements, stores there are dropped.
/// 5. Scalars used in an element lambda are locals.
#pragma once

#include <tieropt/config.hpp>

#include <cuda/std/concepts>
#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

inline constexpr int strip = 256;                ///< columns of a group's strip
inline constexpr int strips = 4;                 ///< strips of a segment
inline constexpr int segment = strips * strip;   ///< columns of a tile
inline constexpr int leaf = 16;                  ///< rows that one group sums in order
inline constexpr int leaves = 8;                 ///< leaves of a tile
inline constexpr int tile_rows = leaf * leaves;  ///< rows of a tile

/// A strip of values in a block's storage, in an order that is the group's own: what a group kept
/// is read back through a group of the same mapping, after a barrier.
/// @tparam T float or double
template <class T>
struct kept_strip {
  alignas(64) T x[strip];  ///< the values
};

/// How a body is mapped to hardware; it never changes a bit of a result.
struct tuning {
  int groups = 8;         ///< groups of a block: 1, 2, 4 or 8
  int per_lane = 0;       ///< neighbouring elements of a device lane: 1, 2, 4 or 8; 0: chosen
  int blocks_per_sm = 0;  ///< blocks that the device compiler leaves registers for; 0: chosen

  /// Replaces what is to be chosen. @param[in] elements of a lane @param[in] blocks per
  /// multiprocessor @return a tuning without zeros
  TIEROPT_HOST_DEVICE constexpr tuning or_else(int elements, int blocks) const {
    return {groups, per_lane == 0 ? elements : per_lane,
            blocks_per_sm == 0 ? blocks : blocks_per_sm};
  }
};

/// A width that is known to be 256.
struct whole_strip {
  /// The width. @return 256
  TIEROPT_HOST_DEVICE constexpr operator int() const { return strip; }
};
/// A stride that is known to be 1.
struct unit_stride {
  /// The stride. @return 1
  TIEROPT_HOST_DEVICE constexpr operator int64_t() const { return 1; }
};

/// A tile of whole, aligned strips: the vector path.
struct whole_tile {
  static constexpr bool whole = true;  ///< widths are 256, strides 1, pointers aligned
  static constexpr bool unit = true;   ///< strides are known to be 1
  /// Columns of a strip. @return 256
  TIEROPT_HOST_DEVICE whole_strip width(int) const { return {}; }
  /// Elements between columns. @return 1
  TIEROPT_HOST_DEVICE unit_stride stride(int64_t) const { return {}; }
  /// Calls f(strip, width) for its strips. @tparam F callable @param[in] f called four times
  template <class F>
  TIEROPT_HOST_DEVICE void for_each_strip(F const& f) const {
    TIEROPT_UNROLL
    for (int k = 0; k < strips; ++k) f(k, whole_strip{});
  }
};

/// The widths of a tile that need not be whole.
struct partial_tile {
  static constexpr bool whole = false;  ///< any width, any alignment
  int columns;                          ///< columns of the tile, at most a segment
  /// Columns of a strip. @param[in] k which strip @return 0 to 256
  TIEROPT_HOST_DEVICE int width(int k) const { return clamp_count(columns - k * strip, strip); }
  /// Calls f(strip, width) for its strips. @tparam F callable @param[in] f called up to four times
  template <class F>
  TIEROPT_HOST_DEVICE void for_each_strip(F const& f) const {
    TIEROPT_NO_UNROLL
    for (int k = 0; k < strips; ++k) {
      int const n = width(k);
      if (n == 0) break;
      f(k, n);
    }
  }
};

/// A tile of any width whose columns are neighbours in memory.
struct ragged_tile : partial_tile {
  static constexpr bool unit = true;  ///< strides are known to be 1
  /// Elements between columns. @return 1
  TIEROPT_HOST_DEVICE unit_stride stride(int64_t) const { return {}; }
};

/// A tile of any width and any strides.
struct strided_tile : partial_tile {
  static constexpr bool unit = false;  ///< any strides
  /// Elements between columns. @param[in] s the operand's stride @return s
  TIEROPT_HOST_DEVICE int64_t stride(int64_t s) const { return s; }
};

/// Calls f(group, tile) with the fastest mapping that a tile allows.
/// @tparam Group a group
/// @tparam F callable
/// @param[in] group the group
/// @param[in] columns columns of the tile
/// @param[in] aligned whether every operand's rows start on 16 bytes and have unit stride
/// @param[in] unit whether every operand has unit stride
/// @param[in] f called once
template <class Group, class F>
TIEROPT_HOST_DEVICE void with_tile(Group const& group, int columns, bool aligned, bool unit,
                                   F const& f) {
  if (columns == segment && aligned) {
    f(group, whole_tile{});
  } else if (Group::splits_ragged && unit) {
    if constexpr (Group::splits_ragged) f(group.ragged(), ragged_tile{{columns}});
  } else {
    f(group.ragged(), strided_tile{{columns}});
  }
}

/// Takes any group or item: what the block concept is checked with (nvcc knows no lambda there).
struct any_call {
  /// Does nothing. @tparam T group or item
  template <class T>
  TIEROPT_HOST_DEVICE void operator()(T const&) const {}
};

/// A block: see the head of this file.
template <class B>
concept thread_block = requires(B const& block) {
  { B::groups } -> cuda::std::convertible_to<int>;
  { block.index() } -> cuda::std::same_as<int64_t>;
  block.for_each_group(any_call{});
  block.for_each(int64_t{}, any_call{});
  block.template shared<float[1]>();
};

/// A body: see law 1.
template <class Body>
concept block_body = cuda::std::is_trivially_copyable_v<Body> && requires {
  typename Body::storage;
  { Body::tune.groups } -> cuda::std::convertible_to<int>;
};

}  // namespace v0_1
}  // namespace tieropt
