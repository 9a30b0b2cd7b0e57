// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A strip of a buffer in the registers of a warp: vector accesses, and the ragged path. Layer:
/// block.
///
/// A lane holds eight elements of the strip: packs of per_lane neighbours, the packs of the 32
/// lanes side by side. The vector path moves a pack in accesses of at most 16 bytes; the ragged
/// path has packs of one element, so that a warp's accesses stay side by side whatever the
/// alignment.
#pragma once

#if !defined(__CUDACC__) && !defined(TIEROPT_DOXYGEN)
#error \
    "[tieropt-config-cuda] the .cuh headers need a CUDA compiler; tieropt/tieropt.hpp is for all others"
#endif

#include <tieropt/block/thread_block.hpp>
#include <tieropt/precision/storage.hpp>

#include <cuda/std/type_traits>

#include <cstring>

namespace tieropt {
inline namespace v0_1 {

/// The vector that one access moves.
/// @tparam Word float, double, uint32_t or uint64_t
/// @tparam Bytes 1 to 16
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
struct access_vector<uint32_t, 1> : cuda::std::type_identity<unsigned char> {};
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
  if constexpr (cuda::std::is_base_of_v<storage_as<U, bf16_format>, codec>) {
    return &codec::template nearest<float> == &storage_as<U, bf16_format>::template nearest<float>;
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

/// One of a lane's elements.
struct device_slot {
  int v;  ///< from 0 to 7, known at compile time once loops are unrolled
};

/// A strip of a buffer, in registers.
/// @tparam Map which elements a lane holds: lane_map of block/device_block.cuh
/// @tparam U element type, const where it is only read
/// @tparam N whole_strip or int
/// @tparam Stride unit_stride or int64_t
template <class Map, class U, class N, class Stride>
class device_tile {
  using slot = device_slot;
  static constexpr int lanes = Map::lanes, held = Map::held, per_lane = Map::per_lane;
  using element_type = cuda::std::remove_const_t<U>;
  using codec = storage<element_type>;
  static constexpr int size = sizeof(element_type);
  static_assert(size == 1 || size == 2 || size == 4 || size == 8,
                "[tieropt-storage-size] element types have 1, 2, 4 or 8 bytes; see "
                "tieropt/precision/storage.hpp");
  static constexpr bool vector =
      cuda::std::is_same_v<N, whole_strip> && cuda::std::is_same_v<Stride, unit_stride>;
  static constexpr int access = per_lane * size < 16 ? per_lane * size : 16;  // bytes
  static constexpr int per_access = access / size;                            // elements
  // A compute type is its own word.
  using word = cuda::std::conditional_t<compute_type<element_type>, element_type,
                                        cuda::std::conditional_t<size == 8, uint64_t, uint32_t>>;
  static constexpr int per_word = size < 4 && vector ? (access < 4 ? access : 4) / size : 1;
  using access_type = typename access_vector<word, access>::type;
  // nvcc 13.0 breaks off where a pointer to a struct of chars is said to be global.
  static constexpr bool natural = alignof(element_type) == size;
  // For the same reason structs of one byte are read and written as bytes.
  using byte_type = cuda::std::conditional_t<cuda::std::is_const_v<U>, uint8_t const, uint8_t>;
  using memory_type = cuda::std::conditional_t<size == 1, byte_type, U>;

 public:
  /// @param[in] data element of column 0 @param[in] n width @param[in] stride between columns
  __device__ __forceinline__ device_tile(U* data, N n, Stride stride)
      : data_{reinterpret_cast<memory_type*>(data)}, n_{n}, stride_{stride} {}
  /// Reads the strip.
  __device__ __forceinline__ void read() {
    if constexpr (vector) {
      auto const* const p = global();
      TIEROPT_UNROLL
      for (int v = 0; v < held; v += per_access) {
        auto const q = *reinterpret_cast<access_type const*>(p + Map::column_of(v));
        std::memcpy(&words_[v / per_word], &q, access);
      }
    } else {
      walk([&](int v, memory_type* p) {
        set(v, Map::column_of(v) < n_ ? __builtin_bit_cast(element_type, *p) : element_type{});
      });
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
  /// @param[in] r random bits, as many as the codec takes
  template <class T>
  __device__ __forceinline__ void put(slot at, T x, uint32_t r) {
    put_element(at, codec::stochastic(x, r));
  }
  /// An element as it is stored. @param[in] at slot @return element
  __device__ __forceinline__ element_type element(slot at) const { return element_of(at.v); }
  /// Stores an element as it is. @param[in] at slot @param[in] x element
  __device__ __forceinline__ void put_element(slot at, element_type x) {
    set(at.v, x);
    has_first_[at.v / 2] = false;
  }
  /// Writes the strip back.
  __device__ __forceinline__ void store() const {
    if constexpr (vector) {
      TIEROPT_UNROLL
      for (int v = 0; v < held; v += per_access) {
        access_type q;
        std::memcpy(&q, &words_[v / per_word], access);
        // A plain store of a pack is split into its elements.
        __stwb(reinterpret_cast<access_type*>(data_ + Map::column_of(v)), q);
      }
    } else {
      walk([&](int v, memory_type* p) {
        if (Map::column_of(v) < n_) {
          *p = __builtin_bit_cast(cuda::std::remove_const_t<memory_type>, element_of(v));
        }
      });
    }
  }

 private:
  // Whether two neighbours can be rounded by one cvt.rn.bf16x2.
  template <class T>
  static constexpr bool pairs =
      rounds_as_bf16<element_type>() && per_word == 2 && cuda::std::is_same_v<T, float>;

  // The strip, said to be global.
  __device__ __forceinline__ memory_type* global() const {
    memory_type* p = data_;
    if constexpr (size == 1) {  // its type is forgotten
      auto address = reinterpret_cast<uint64_t>(p);
      asm("" : "+l"(address));
      p = reinterpret_cast<memory_type*>(address);
    }
    if constexpr (natural) __builtin_assume(__isGlobal(p));
    return p;
  }
  // Calls f(v, address) for the lane's elements. The compiler must take the first address and the
  // stride as they come: it would keep every product with the stride in registers, across rows.
  template <class F>
  __device__ __forceinline__ void walk(F const& f) const {
    memory_type* p = data_ + Map::column_of(0) * stride_;
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
      p += (v % per_lane == per_lane - 1 ? (lanes - 1) * per_lane + 1 : 1) * stride;
    }
  }
  // Parts of words by shifts: what decodes 16 bits then shifts only once.
  using part = cuda::std::conditional_t<size == 1, uint8_t, uint16_t>;
  static __device__ __forceinline__ int shift_of(int v) { return v % per_word * 8 * size; }
  __device__ __forceinline__ element_type element_of(int v) const {
    if constexpr (size < 4) {
      return __builtin_bit_cast(element_type,
                                static_cast<part>(words_[v / per_word] >> shift_of(v)));
    } else {
      return __builtin_bit_cast(element_type, words_[v]);
    }
  }
  __device__ __forceinline__ void set(int v, element_type x) {
    if constexpr (size < 4) {
      uint32_t bits = __builtin_bit_cast(part, x);  // const stops nvcc 13.0 with an error
      uint32_t& w = words_[v / per_word];
      if constexpr (per_word == 1) {
        w = bits;
      } else {
        constexpr uint32_t mask = (1u << (8 * size)) - 1;
        w = (w & ~(mask << shift_of(v))) | (bits << shift_of(v));
      }
    } else {
      words_[v] = __builtin_bit_cast(word, x);
    }
  }

  memory_type* data_;
  N n_;
  Stride stride_;
  word words_[held / per_word]{};
  float first_[held / 2]{};
  bool has_first_[held / 2]{};
};

}  // namespace v0_1
}  // namespace tieropt
