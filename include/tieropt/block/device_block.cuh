// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A block of warps: the only file that knows threads and CUB. Layer: block.
///
/// A group is a warp; how its lanes hold a strip is said in block/device_tile.cuh.
#pragma once

#include <tieropt/block/device_tile.cuh>

#include <cub/warp/warp_reduce.cuh>

#include <cuda/std/type_traits>

#include <cstring>

namespace tieropt {
inline namespace v0_1 {

/// Which elements of a strip a lane holds.
/// @tparam PerLane neighbouring elements of a lane: 1, 2, 4 or 8
template <int PerLane>
struct lane_map {
  static constexpr int per_lane = PerLane;      ///< neighbouring elements of a lane
  static constexpr int lanes = 32;              ///< of a warp
  static constexpr int held = strip / lanes;    ///< elements of a lane
  static constexpr int packs = held / PerLane;  ///< packs of a lane

  /// This lane. @return 0 .. 31
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x % lanes); }
  /// The column of an element. @param[in] v which of the lane's @return 0 .. 255
  static __device__ __forceinline__ int column_of(int v) {
    return v / PerLane * (lanes * PerLane) + lane() * PerLane + v % PerLane;
  }
};

/// A warp and its strip.
/// @tparam PerLane neighbouring elements of a lane: 1, 2, 4 or 8
template <int PerLane>
class device_group {
  static_assert(PerLane == 1 || PerLane == 2 || PerLane == 4 || PerLane == 8,
                "[tieropt-tuning-per-lane] tune.per_lane must be 1, 2, 4 or 8; see "
                "tieropt/block/thread_block.hpp");

  using map = lane_map<PerLane>;
  static constexpr int lanes = map::lanes, held = map::held, packs = map::packs;
  static constexpr unsigned all_lanes = 0xffffffffu;

  template <class N>
  static constexpr bool is_whole = cuda::std::is_same_v<N, whole_strip>;
  template <class N>
  static __device__ __forceinline__ bool below(int v, N n) {
    return is_whole<N> || column_of(v) < n;
  }

  // Block storage is moved in packs of 16 bytes, side by side over the lanes: no bank conflicts.
  template <class T>
  static constexpr int per_shared = 16 / static_cast<int>(sizeof(T));
  template <class T>
  using shared_pack = typename access_vector<T, 16>::type;

  static __device__ __forceinline__ int lane() { return map::lane(); }
  static __device__ __forceinline__ int column_of(int v) { return map::column_of(v); }

 public:
  static constexpr bool splits_ragged = false;  ///< one ragged instance serves all strides

  using slot = device_slot;  ///< one of a lane's elements

  /// 256 values, eight in each lane. @tparam T value type
  template <class T>
  struct fragment {
    T x[held];  ///< by slot
    /// A value. @param[in] at slot @return reference
    __device__ __forceinline__ T& operator()(slot at) { return x[at.v]; }
    /// A value. @param[in] at slot @return copy
    __device__ __forceinline__ T operator()(slot at) const { return x[at.v]; }
  };

  /// A strip of a buffer. @tparam U element type @tparam N width type @tparam Stride stride type
  template <class U, class N, class Stride>
  using tile = device_tile<map, U, N, Stride>;

  /// @param[in] index which group of the block
  __device__ __forceinline__ explicit device_group(int index) : index_{index} {}

  /// Which group of the block. @return 0 .. groups - 1
  __device__ __forceinline__ int index() const { return index_; }
  /// The column of a slot. @param[in] at slot @return 0 .. 255
  __device__ __forceinline__ int column(slot at) const { return column_of(at.v); }
  /// The group for ragged tiles. @return the same warp with single elements side by side
  __device__ __forceinline__ device_group<1> ragged() const { return device_group<1>{index_}; }
  /// Calls f in one lane. @tparam F callable @param[in] f called once
  template <class F>
  __device__ __forceinline__ void single(F const& f) const {
    if (lane() == 0) f();
  }
  /// Sets a fragment to zero. @tparam T value type @param[out] f fragment
  template <class T>
  __device__ __forceinline__ void zero(fragment<T>& f) const {
    TIEROPT_UNROLL
    for (int v = 0; v < held; ++v) f.x[v] = T{};
  }
  /// A strip of a buffer; columns at or beyond n are zero elements and never touched.
  /// @tparam U element type @tparam N width type @tparam Stride stride type
  /// @param[in] data element of column 0 @param[in] n width
  /// @param[in] stride elements between columns @return a tile
  /// @pre data is a buffer, not the block's storage; for whole_strip with unit_stride it is aligned
  /// to 16 bytes
  template <class U, class N, class Stride>
  __device__ __forceinline__ tile<U, N, Stride> load(U* data, N n, Stride stride) const {
    tile<U, N, Stride> x{data, n, stride};
    x.read();
    return x;
  }
  /// A strip to be written, from which nothing is read: every element below n must be put.
  /// @tparam U element type @tparam N width type @tparam Stride stride type
  /// @param[in] data element of column 0 @param[in] n width
  /// @param[in] stride elements between columns @return a tile; for its pre, see load
  template <class U, class N, class Stride>
  __device__ __forceinline__ tile<U, N, Stride> blank(U* data, N n, Stride stride) const {
    return {data, n, stride};
  }
  /// Puts a fragment into the block's storage. @tparam T value type @param[out] to its place
  /// @param[in] f fragment
  template <class T>
  __device__ __forceinline__ void keep(kept_strip<T>& to, fragment<T> const& f) const {
    TIEROPT_UNROLL
    for (int v = 0; v < held; v += per_shared<T>) {
      shared_pack<T> q;
      std::memcpy(&q, &f.x[v], sizeof q);
      *reinterpret_cast<shared_pack<T>*>(&to.x[v * lanes + lane() * per_shared<T>]) = q;
    }
  }
  /// What was kept. @tparam T value type @param[in] from its place @return a copy
  template <class T>
  __device__ __forceinline__ fragment<T> kept(kept_strip<T> const& from) const {
    fragment<T> f;
    TIEROPT_UNROLL
    for (int v = 0; v < held; v += per_shared<T>) {
      auto const q =
          *reinterpret_cast<shared_pack<T> const*>(&from.x[v * lanes + lane() * per_shared<T>]);
      std::memcpy(&f.x[v], &q, sizeof q);
    }
    return f;
  }
  /// A hint that the device does without. @tparam U element type
  template <class U>
  __device__ __forceinline__ void prefetch(U const*) const {}
  /// Calls f(at) for the elements below n. @tparam N width type @tparam F callable
  /// @param[in] n width @param[in] f called n times
  template <class N, class F>
  __device__ __forceinline__ void for_each(N n, F const& f) const {
    TIEROPT_UNROLL
    for (int v = 0; v < held; ++v) {
      if (below(v, n)) f(slot{v});
    }
  }
  /// Random bits of a strip. @tparam F callable @param[in] parity 0 or 1, the same in every lane
  /// @param[in] f 32 bits of pair j
  /// @return for element i the half (i + parity) & 1 of f((i + parity) >> 1)
  template <class F>
  __device__ __forceinline__ fragment<uint16_t> draw(uint32_t parity, F const& f) const {
    fragment<uint16_t> out;
    if constexpr (PerLane == 1) {
      TIEROPT_UNROLL
      for (int v = 0; v < held; ++v) {
        uint32_t const i = static_cast<uint32_t>(column_of(v)) + parity;
        out.x[v] = static_cast<uint16_t>(f(i / 2) >> (16 * (i % 2)));
      }
    } else {
      TIEROPT_UNROLL
      for (int k = 0; k < packs; ++k) {
        uint32_t const first = static_cast<uint32_t>(column_of(k * PerLane)) / 2;
        uint32_t pair[PerLane / 2 + 1];
        TIEROPT_UNROLL
        for (int j = 0; j < PerLane / 2; ++j) pair[j] = f(first + static_cast<uint32_t>(j));
        if (parity != 0) {
          pair[PerLane / 2] = f(first + PerLane / 2);
          TIEROPT_UNROLL
          for (int j = 0; j < PerLane / 2; ++j) pair[j] = __funnelshift_r(pair[j], pair[j + 1], 16);
        }
        TIEROPT_UNROLL
        for (int v = 0; v < PerLane; ++v) {
          out.x[k * PerLane + v] = static_cast<uint16_t>(pair[v / 2] >> (16 * (v % 2)));
        }
      }
    }
    return out;
  }
  /// Random bits of a strip, 32 for each element. @tparam F callable
  /// @param[in] f 32 bits of a column @return for each element f of its column
  template <class F>
  __device__ __forceinline__ fragment<uint32_t> draw_wide(F const& f) const {
    fragment<uint32_t> out;
    TIEROPT_UNROLL
    for (int v = 0; v < held; ++v) out.x[v] = f(static_cast<uint32_t>(column_of(v)));
    return out;
  }
  /// The largest of each 32 neighbouring columns. @tparam T float or double @tparam N width type
  /// @tparam F callable @param[in] n width; what is beyond counts as 0
  /// @param[in] f values, at least 0 @return for each element the largest of its columns
  template <class T, class N, class F>
  __device__ __forceinline__ fragment<T> largest_in_groups(N n, F const& f) const {
    using word = cuda::std::conditional_t<sizeof(T) == 4, int, long long>;  // ordered as T is
    fragment<T> out;
    TIEROPT_UNROLL
    for (int v = 0; v < held; v += PerLane) {
      word most = 0;
      TIEROPT_UNROLL
      for (int i = 0; i < PerLane; ++i) {
        word here = 0;
        if (below(v + i, n)) here = static_cast<word>(bits(f(slot{v + i})));
        most = here > most ? here : most;
      }
      TIEROPT_UNROLL
      for (int d = 1; d < scale_group / PerLane; d *= 2) {
        word const there = __shfl_xor_sync(all_lanes, most, d);
        most = there > most ? there : most;
      }
      TIEROPT_UNROLL
      for (int i = 0; i < PerLane; ++i) out.x[v + i] = __builtin_bit_cast(T, most);
    }
    return out;
  }
  /// Reads one value for each 32 neighbouring columns. @tparam N width type @tparam Stride stride
  /// type @param[in] p value of column 0, in a buffer @param[in] n width
  /// @param[in] stride between values @return for each element the value of its columns, 0 beyond n
  template <class N, class Stride>
  __device__ __forceinline__ fragment<float> read_groups(float const* p, N n, Stride stride) const {
    __builtin_assume(__isGlobal(p));
    fragment<float> out;
    TIEROPT_UNROLL
    for (int v = 0; v < held; v += PerLane) {
      float const value = below(v, n) ? p[column_of(v) / scale_group * stride] : 0.0f;
      TIEROPT_UNROLL
      for (int i = 0; i < PerLane; ++i) out.x[v + i] = below(v + i, n) ? value : 0.0f;
    }
    return out;
  }
  /// Writes one value for each 32 neighbouring columns, after the reads of the whole group.
  /// @tparam N width type @tparam Stride stride type @tparam Values callable
  /// @param[out] p value of column 0, in a buffer @param[in] n width
  /// @param[in] stride between values @param[in] values taken from the first of each 32 columns
  template <class N, class Stride, class Values>
  __device__ __forceinline__ void write_groups(float* p, N n, Stride stride,
                                               Values const& values) const {
    __builtin_assume(__isGlobal(p));
    __syncwarp();
    TIEROPT_UNROLL
    for (int v = 0; v < held; v += PerLane) {
      int const c = column_of(v);
      if (c % scale_group == 0 && below(v, n)) p[c / scale_group * stride] = values(slot{v});
    }
  }
  /// Reads one bit for each column, eight to a byte. @tparam N width type @tparam Stride stride
  /// type @param[in] p byte of column 0, in a buffer @param[in] n width
  /// @param[in] stride between bytes @return for each element its bit, 0 beyond n
  template <class N, class Stride>
  __device__ __forceinline__ fragment<uint32_t> read_bits(uint8_t const* p, N n,
                                                          Stride stride) const {
    __builtin_assume(__isGlobal(p));
    fragment<uint32_t> out;
    TIEROPT_UNROLL
    for (int v = 0; v < held; v += PerLane) {
      int const c = column_of(v);
      uint32_t const eight = below(v, n) ? p[c / 8 * stride] : 0u;
      TIEROPT_UNROLL
      for (int i = 0; i < PerLane; ++i) {
        out.x[v + i] = below(v + i, n) ? eight >> (c % 8 + i) & 1u : 0u;
      }
    }
    return out;
  }
  /// Writes one bit for each column, after the reads of the whole group; bits at or beyond n in the
  /// last byte are 0. @tparam N width type @tparam Stride stride type @tparam Bits callable
  /// @param[out] p byte of column 0, in a buffer @param[in] n width
  /// @param[in] stride between bytes @param[in] values 0 or 1 of each column
  template <class N, class Stride, class Bits>
  __device__ __forceinline__ void write_bits(uint8_t* p, N n, Stride stride,
                                             Bits const& values) const {
    __builtin_assume(__isGlobal(p));
    __syncwarp();
    TIEROPT_UNROLL
    for (int v = 0; v < held; v += PerLane) {
      int const c = column_of(v);
      uint32_t eight = 0;
      TIEROPT_UNROLL
      for (int i = 0; i < PerLane; ++i) {
        if (below(v + i, n)) eight |= values(slot{v + i}) << (c % 8 + i);
      }
      TIEROPT_UNROLL
      for (int d = 1; d < 8 / PerLane; d *= 2) eight |= __shfl_xor_sync(all_lanes, eight, d);
      if (c % 8 == 0 && below(v, n)) p[c / 8 * stride] = static_cast<uint8_t>(eight);
    }
  }
  /// The adjacent balanced tree of the 256 values. @tparam T float or double
  /// @param[in] f fragment @return their sum, in every lane
  template <class T>
  __device__ __forceinline__ T reduce(fragment<T> const& f) const {
    // Neighbours in the lane, then neighbouring lanes, then the packs: in every pass level[i] takes
    // level[2 i] + level[2 i + 1]. WarpReduce's tree for lane 0 is the one of neighbouring lanes.
    T level[held];
    TIEROPT_UNROLL
    for (int v = 0; v < held; ++v) level[v] = f.x[v];
    fold<held, packs>(level);
    using warp_reduce = cub::WarpReduce<T>;
    typename warp_reduce::TempStorage nothing;  // empty: a warp reduces by shuffles
    TIEROPT_UNROLL
    for (int k = 0; k < packs; ++k) level[k] = warp_reduce(nothing).Sum(level[k]);
    fold<packs, 1>(level);
    return __shfl_sync(all_lanes, level[0], 0);
  }
  /// Calls f(root), where root(at) is the correctly rounded root of radicand(at), formed on demand.
  /// @tparam N width type @tparam Radicand callable @tparam F callable
  /// @param[in] radicand called once per element below n
  /// @param[in] f called once; it asks for each element below n once
  template <class N, class Radicand, class F>
  __device__ __forceinline__ void with_roots(N, Radicand const& radicand, F const& f) const {
    f([&](slot at) { return sqrt(radicand(at)); });
  }

 private:
  // Levels of the tree within a lane, from From values to To.
  template <int From, int To, class T>
  static __device__ __forceinline__ void fold(T* level) {
    if constexpr (From > To) {
      TIEROPT_UNROLL
      for (int i = 0; i < From / 2; ++i) level[i] = add(level[2 * i], level[2 * i + 1]);
      fold<From / 2, To>(level);
    }
  }

  int index_;
};

/// A block of warps.
/// @tparam Groups warps of the block
/// @tparam PerLane neighbouring elements of a lane: 1, 2, 4 or 8
template <int Groups, int PerLane>
class device_block {
 public:
  static constexpr int groups = Groups;  ///< groups of the block

  /// @param[in] memory the block's storage, in shared memory
  __device__ __forceinline__ explicit device_block(void* memory) : memory_{memory} {}

  /// Which block of the grid. @return from 0
  __device__ __forceinline__ int64_t index() const { return static_cast<int64_t>(blockIdx.x); }
  /// Calls f(group) in every warp, then waits for the block. @tparam F callable
  /// @param[in] f called once per group
  template <class F>
  __device__ __forceinline__ void for_each_group(F const& f) const {
    f(device_group<PerLane>{static_cast<int>(threadIdx.x / 32)});
    __syncthreads();
  }
  /// Calls f(i) for i below n, then waits for the block. @tparam F callable
  /// @param[in] n items @param[in] f called n times
  template <class F>
  __device__ __forceinline__ void for_each(int64_t n, F const& f) const {
    for (int64_t i = static_cast<int64_t>(threadIdx.x); i < n; i += Groups * 32) f(i);
    __syncthreads();
  }
  /// The block's storage. @tparam T the body's storage type @return reference
  template <class T>
  __device__ __forceinline__ T& shared() const {
    return *static_cast<T*>(memory_);
  }

 private:
  void* memory_;
};

}  // namespace v0_1
}  // namespace tieropt
