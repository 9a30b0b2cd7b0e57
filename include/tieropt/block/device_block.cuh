// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A block of warps: the only file that knows threads, vector accesses and CUB. Layer: block.
///
/// A group is a warp. A lane holds eight elements of the strip: packs of PerLane neighbours, the
/// packs of the 32 lanes side by side. The vector path moves a pack in accesses of at most 16
/// bytes; the ragged path has packs of one element, so that a warp's accesses stay side by side
/// whatever the alignment.
#pragma once

#include <tieropt/block/thread_block.hpp>
#include <tieropt/precision/storage.hpp>

#include <cub/warp/warp_reduce.cuh>

#include <cuda/std/type_traits>

#include <cstring>

namespace tieropt {
inline namespace v0_1 {

/// The vector that one access moves.
/// @tparam Word float, double, uint32_t or uint64_t
/// @tparam Bytes 2 to 16
template <class Word, int Bytes>
struct access_vector;
template <>
struct access_vector<uint32_t, 16> : cuda::std::type_identity<uint4> {};
template <>
struct access_vector<uint32_t, 8> : cuda::std::type_identity<uint2> {};
template <>
struct access_vector<uint32_t, 4> : cuda::std::type_identity<unsigned int> {};
template <>
struct access_vector<uint32_t, 2> : cuda::std::type_identity<unsigned short> {};
template <>
struct access_vector<uint64_t, 16> : cuda::std::type_identity<ulonglong2> {};
template <>
struct access_vector<uint64_t, 8> : cuda::std::type_identity<unsigned long long> {};
template <>
struct access_vector<float, 16> : cuda::std::type_identity<float4> {};
template <>
struct access_vector<float, 8> : cuda::std::type_identity<float2> {};
template <>
struct access_vector<float, 4> : cuda::std::type_identity<float> {};
template <>
struct access_vector<double, 16> : cuda::std::type_identity<double2> {};
template <>
struct access_vector<double, 8> : cuda::std::type_identity<double> {};

/// Whether elements are rounded to nearest as bfloat16 by the library's own codec.
/// @tparam U element type
/// @return true where cvt.rn.bf16x2 gives the codec's bits
template <class U>
consteval bool rounds_as_bf16() {
  using codec = storage<U>;
  if constexpr (cuda::std::is_base_of_v<storage_16<U, bf16_format>, codec>) {
    return &codec::template nearest<float> == &storage_16<U, bf16_format>::template nearest<float>;
  } else {
    return false;
  }
}

/// Two values as bfloat16, nearest even, NaN to 0x7FFF. @param[in] low value of the low half
/// @param[in] high value of the high half @return both
__device__ __forceinline__ uint32_t nearest_bf16_pair(float low, float high) {
#if __CUDA_ARCH__ >= 800
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return bf16_format::nearest(low) | static_cast<uint32_t>(bf16_format::nearest(high)) << 16;
#endif
}

/// A warp and its strip.
/// @tparam PerLane neighbouring elements of a lane: 1, 2, 4 or 8
template <int PerLane>
class device_group {
  static_assert(PerLane == 1 || PerLane == 2 || PerLane == 4 || PerLane == 8,
                "[tieropt-tuning-per-lane] tune.per_lane must be 1, 2, 4 or 8; see "
                "tieropt/block/thread_block.hpp");

  static constexpr int lanes = 32;
  static constexpr int held = strip / lanes;    // elements of a lane
  static constexpr int packs = held / PerLane;  // packs of a lane
  static constexpr unsigned all_lanes = 0xffffffffu;

  template <class N>
  static constexpr bool is_whole = cuda::std::is_same_v<N, whole_strip>;

  // Block storage is moved in packs of 16 bytes, side by side over the lanes: no bank conflicts.
  template <class T>
  static constexpr int per_shared = 16 / static_cast<int>(sizeof(T));
  template <class T>
  using shared_pack = typename access_vector<T, 16>::type;

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x % lanes); }
  static __device__ __forceinline__ int column_of(int v) {
    return v / PerLane * (lanes * PerLane) + lane() * PerLane + v % PerLane;
  }

 public:
  static constexpr bool splits_ragged = false;  ///< one ragged instance serves all strides

  /// One of a lane's elements.
  struct slot {
    int v;  ///< from 0 to 7, known at compile time once loops are unrolled
  };

  /// 256 values, eight in each lane. @tparam T value type
  template <class T>
  struct fragment {
    T x[held];  ///< by slot
    /// A value. @param[in] at slot @return reference
    __device__ __forceinline__ T& operator()(slot at) { return x[at.v]; }
    /// A value. @param[in] at slot @return copy
    __device__ __forceinline__ T operator()(slot at) const { return x[at.v]; }
  };

  /// A strip of a buffer, in registers.
  /// @tparam U element type, const where it is only read
  /// @tparam N whole_strip or int
  /// @tparam Stride unit_stride or int64_t
  template <class U, class N, class Stride>
  class tile {
    using element = cuda::std::remove_const_t<U>;
    using codec = storage<element>;
    static constexpr int size = sizeof(element);
    static_assert(size == 2 || size == 4 || size == 8,
                  "[tieropt-storage-size] element types have 2, 4 or 8 bytes; see "
                  "tieropt/precision/storage.hpp");
    static constexpr bool vector = is_whole<N> && cuda::std::is_same_v<Stride, unit_stride>;
    static constexpr int access = PerLane * size < 16 ? PerLane * size : 16;  // bytes
    static constexpr int per_access = access / size;                          // elements
    // A compute type is its own word.
    using word = cuda::std::conditional_t<compute_type<element>, element,
                                          cuda::std::conditional_t<size == 8, uint64_t, uint32_t>>;
    static constexpr int per_word = vector && access >= 4 && size == 2 ? 2 : 1;  // elements
    using access_type = typename access_vector<word, access>::type;
    // nvcc 13.0 breaks off where a pointer to a struct of chars is said to be global.
    static constexpr bool natural = alignof(element) == size;

   public:
    /// @param[in] data element of column 0 @param[in] n width @param[in] stride between columns
    __device__ __forceinline__ tile(U* data, N n, Stride stride)
        : data_{data}, n_{n}, stride_{stride} {}
    /// Reads the strip.
    __device__ __forceinline__ void read() {
      if constexpr (vector) {
        if constexpr (natural) __builtin_assume(__isGlobal(data_));
        TIEROPT_UNROLL
        for (int v = 0; v < held; v += per_access) {
          auto const q = *reinterpret_cast<access_type const*>(data_ + column_of(v));
          std::memcpy(&words_[v / per_word], &q, access);
        }
      } else {
        walk([&](int v, U const* p) { set(v, column_of(v) < n_ ? *p : element{}); });
      }
    }

    /// Decodes. @tparam T compute type @param[in] at slot @return value
    template <class T>
    __device__ __forceinline__ T get(slot at) const {
      return codec::template decode<T>(element_of(at.v));
    }
    /// Rounds to nearest. @tparam T compute type @param[in] at slot @param[in] x value
    template <class T>
    __device__ __forceinline__ void put(slot at, T x) {
      set(at.v, codec::nearest(x));
      if constexpr (pairs<T>) {
        // The second of two neighbours rounds both in one instruction; the first rounding is dead.
        if (at.v % 2 == 0) {
          first_[at.v / 2] = x;
          has_first_[at.v / 2] = true;
        } else if (has_first_[at.v / 2]) {
          words_[at.v / 2] = nearest_bf16_pair(first_[at.v / 2], x);
        }
      }
    }
    /// Rounds stochastically. @tparam T compute type @param[in] at slot @param[in] x value
    /// @param[in] r 16 random bits
    template <class T>
    __device__ __forceinline__ void put(slot at, T x, uint32_t r) {
      set(at.v, codec::stochastic(x, r));
      if constexpr (pairs<T>) has_first_[at.v / 2] = false;
    }
    /// Writes the strip back.
    __device__ __forceinline__ void store() const {
      if constexpr (vector) {
        TIEROPT_UNROLL
        for (int v = 0; v < held; v += per_access) {
          access_type q;
          std::memcpy(&q, &words_[v / per_word], access);
          // A plain store of a pack is split into its elements.
          __stwb(reinterpret_cast<access_type*>(data_ + column_of(v)), q);
        }
      } else {
        walk([&](int v, U* p) {
          if (column_of(v) < n_) *p = element_of(v);
        });
      }
    }

   private:
    // Whether two neighbours can be rounded by one cvt.rn.bf16x2.
    template <class T>
    static constexpr bool pairs =
        rounds_as_bf16<element>() && per_word == 2 && cuda::std::is_same_v<T, float>;

    // Calls f(v, address) for the lane's elements. The compiler must take the first address and the
    // stride as they come: it would keep every product with the stride in registers, across rows.
    template <class F>
    __device__ __forceinline__ void walk(F const& f) const {
      U* p = data_ + column_of(0) * stride_;
      int64_t stride = stride_;
      if constexpr (cuda::std::is_same_v<Stride, unit_stride>) {
        asm volatile("" : "+l"(p));
      } else {
        asm volatile("" : "+l"(p), "+l"(stride));
      }
      if constexpr (natural) __builtin_assume(__isGlobal(p));
      TIEROPT_UNROLL
      for (int v = 0; v < held; ++v) {
        f(v, p);
        p += (v % PerLane == PerLane - 1 ? (lanes - 1) * PerLane + 1 : 1) * stride;
      }
    }
    // Halves of words by shifts: what decodes them then shifts only once.
    __device__ __forceinline__ element element_of(int v) const {
      if constexpr (size == 2) {
        uint32_t const w = words_[v / per_word];
        return __builtin_bit_cast(element, static_cast<uint16_t>(v % per_word == 0 ? w : w >> 16));
      } else {
        return __builtin_bit_cast(element, words_[v]);
      }
    }
    __device__ __forceinline__ void set(int v, element x) {
      if constexpr (size == 2) {
        uint32_t half = __builtin_bit_cast(uint16_t, x);  // const stops nvcc 13.0 with an error
        uint32_t& w = words_[v / per_word];
        if constexpr (per_word == 1) {
          w = half;
        } else {
          w = v % 2 == 0 ? (w & 0xffff0000u) | half : (w & 0xffffu) | (half << 16);
        }
      } else {
        words_[v] = __builtin_bit_cast(word, x);
      }
    }

    U* data_;
    N n_;
    Stride stride_;
    word words_[held / per_word]{};
    float first_[held / 2]{};
    bool has_first_[held / 2]{};
  };

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
      if constexpr (is_whole<N>) {
        f(slot{v});
      } else if (column_of(v) < n) {
        f(slot{v});
      }
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
