// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A block as plain loops, for any order of its slots. Layer: block.
#pragma once

#include <tieropt/block/host_tile.hpp>

#include <cuda/std/type_traits>

#include <cstring>

namespace tieropt {
inline namespace v0_1 {

/// A group as one loop over 256 slots.
/// @tparam Order forward_order or permuted_order
template <class Order>
class host_group {
 public:
  static constexpr bool splits_ragged = true;  ///< unit strides are worth an instance of their own

  /// 256 values. @tparam T value type
  template <class T>
  struct fragment {
    alignas(64) T x[strip];  ///< by slot
    /// A value. @param[in] at slot @return reference
    TIEROPT_HOST_DEVICE T& operator()(int at) { return x[at]; }
    /// A value. @param[in] at slot @return copy
    TIEROPT_HOST_DEVICE T operator()(int at) const { return x[at]; }
  };

  /// @param[in] index which group of the block
  /// @param[in] order how slots are visited
  TIEROPT_HOST_DEVICE host_group(int index, Order order) : index_{index}, order_{order} {}

  /// Which group of the block. @return 0 .. groups - 1
  TIEROPT_HOST_DEVICE int index() const { return index_; }
  /// The column of a slot. @param[in] at slot @return at
  TIEROPT_HOST_DEVICE int column(int at) const { return at; }
  /// The group for ragged tiles. @return itself
  TIEROPT_HOST_DEVICE host_group const& ragged() const { return *this; }
  /// Calls f once. @tparam F callable @param[in] f called once
  template <class F>
  TIEROPT_HOST_DEVICE void single(F const& f) const {
    f();
  }
  /// Sets a fragment to zero. @tparam T value type @param[out] f fragment
  template <class T>
  TIEROPT_HOST_DEVICE void zero(fragment<T>& f) const {
    for (int i = 0; i < strip; ++i) f.x[i] = T{};
  }
  /// A strip of a buffer. @tparam U element type @tparam N width type @tparam Stride stride type
  /// @param[in] data element of column 0 @param[in] stride elements between columns @return a tile
  template <class U, class N, class Stride>
  TIEROPT_HOST_DEVICE host_tile<U, Stride> load(U* data, N, Stride stride) const {
    return {data, stride};
  }
  /// A strip to be written. @tparam U element type @tparam N width type @tparam Stride stride type
  /// @param[in] data element of column 0 @param[in] n width
  /// @param[in] stride elements between columns @return a tile
  template <class U, class N, class Stride>
  TIEROPT_HOST_DEVICE host_tile<U, Stride> blank(U* data, N n, Stride stride) const {
    return load(data, n, stride);
  }
  /// Puts a fragment into the block's storage. @tparam T value type @param[out] to its place
  /// @param[in] f fragment
  template <class T>
  TIEROPT_HOST_DEVICE void keep(kept_strip<T>& to, fragment<T> const& f) const {
    std::memcpy(to.x, f.x, sizeof f.x);
  }
  /// What was kept. @tparam T value type @param[in] from its place @return a view, read by slot
  template <class T>
  TIEROPT_HOST_DEVICE kept_view<T> kept(kept_strip<T> const& from) const {
    return {from.x};
  }
  /// Hints that a strip will be read. @tparam U element type @param[in] data element of column 0
  template <class U>
  TIEROPT_HOST_DEVICE void prefetch(U const* data) const {
#if !defined(__CUDA_ARCH__)  // nvcc also parses this for the device
    for (size_t b = 0; b < strip * sizeof(U); b += 64) {
      __builtin_prefetch(reinterpret_cast<char const*>(data) + b);
    }
#endif
  }
  /// Calls f(at) for the elements below n. @tparam N width type @tparam F callable
  /// @param[in] n width @param[in] f called n times
  template <class N, class F>
  TIEROPT_HOST_DEVICE void for_each(N n, F const& f) const {
    order_.visit(n, f);
  }
  /// Random bits of a strip. @tparam F callable @param[in] parity 0 or 1
  /// @param[in] f 32 bits of pair j
  /// @return for element i the half (i + parity) & 1 of f((i + parity) >> 1)
  template <class F>
  TIEROPT_HOST_DEVICE fragment<uint16_t> draw(uint32_t parity, F const& f) const {
    constexpr int pairs = strip / 2;
    alignas(64) uint32_t bits[pairs + 1];
    TIEROPT_IVDEP
    for (int j = 0; j < pairs; ++j) bits[j] = f(static_cast<uint32_t>(j));
    if (parity != 0) bits[pairs] = f(pairs);
    fragment<uint16_t> out;  // the low half of a draw comes first, as in little-endian memory
    std::memcpy(out.x, reinterpret_cast<byte const*>(bits) + 2 * parity, sizeof out.x);
    return out;
  }
  /// Random bits of a strip, 32 for each element. @tparam F callable
  /// @param[in] f 32 bits of a column @return for each element f of its column
  template <class F>
  TIEROPT_HOST_DEVICE fragment<uint32_t> draw_wide(F const& f) const {
    fragment<uint32_t> out;
    TIEROPT_IVDEP
    for (int i = 0; i < strip; ++i) out.x[i] = f(static_cast<uint32_t>(i));
    return out;
  }
  /// The largest of each 32 neighbouring columns. @tparam T float or double @tparam N width type
  /// @tparam F callable @param[in] n width; what is beyond counts as 0
  /// @param[in] f values, at least 0 @return for each element the largest of its columns
  template <class T, class N, class F>
  TIEROPT_HOST_DEVICE fragment<T> largest_in_groups(N n, F const& f) const {
    using word = cuda::std::conditional_t<sizeof(T) == 4, int, int64_t>;  // ordered as T is
    fragment<word> here;
    if constexpr (!cuda::std::is_same_v<N, whole_strip>) zero(here);
    for_each(n, [&](int at) { here(at) = static_cast<word>(bits(f(at))); });
    fragment<T> out;
    for (int i = 0; i < strip; i += scale_group) {
      word most = 0;
      for (int k = 0; k < scale_group; ++k) most = here.x[i + k] > most ? here.x[i + k] : most;
      for (int k = 0; k < scale_group; ++k) out.x[i + k] = __builtin_bit_cast(T, most);
    }
    return out;
  }
  /// Reads one value for each 32 neighbouring columns. @tparam N width type @tparam Stride stride
  /// type @param[in] p value of column 0 @param[in] n width @param[in] stride between values
  /// @return for each element the value of its columns, 0 beyond n
  template <class N, class Stride>
  TIEROPT_HOST_DEVICE fragment<float> read_groups(float const* p, N n, Stride stride) const {
    fragment<float> out;
    for (int i = 0; i < strip; i += scale_group) {
      float const value = i < n ? p[i / scale_group * stride] : 0.0f;
      for (int k = 0; k < scale_group; ++k) out.x[i + k] = i + k < n ? value : 0.0f;
    }
    return out;
  }
  /// Writes one value for each 32 neighbouring columns. @tparam N width type @tparam Stride stride
  /// type @tparam Values callable @param[out] p value of column 0 @param[in] n width
  /// @param[in] stride between values @param[in] values taken from the first of each 32 columns
  template <class N, class Stride, class Values>
  TIEROPT_HOST_DEVICE void write_groups(float* p, N n, Stride stride, Values const& values) const {
    for (int i = 0; i < n; i += scale_group) p[i / scale_group * stride] = values(i);
  }
  /// Reads one bit for each column, eight to a byte. @tparam N width type @tparam Stride stride
  /// type @param[in] p byte of column 0 @param[in] n width @param[in] stride between bytes
  /// @return for each element its bit, 0 beyond n
  template <class N, class Stride>
  TIEROPT_HOST_DEVICE fragment<uint32_t> read_bits(uint8_t const* p, N n, Stride stride) const {
    fragment<uint32_t> out;
    for (int b = 0; b < strip / 8; ++b) {
      uint32_t const eight = 8 * b < n ? p[b * stride] : 0u;
      for (int k = 0; k < 8; ++k) out.x[8 * b + k] = 8 * b + k < n ? eight >> k & 1u : 0u;
    }
    return out;
  }
  /// Writes one bit for each column; bits at or beyond n in the last byte are 0. @tparam N width
  /// type @tparam Stride stride type @tparam Bits callable @param[out] p byte of column 0
  /// @param[in] n width @param[in] stride between bytes @param[in] values 0 or 1 of each column
  template <class N, class Stride, class Bits>
  TIEROPT_HOST_DEVICE void write_bits(uint8_t* p, N n, Stride stride, Bits const& values) const {
    fragment<uint8_t> single_bits;
    if constexpr (!cuda::std::is_same_v<N, whole_strip>) zero(single_bits);
    for_each(n, [&](int at) { single_bits(at) = static_cast<uint8_t>(values(at)); });
    for (int i = 0; i < n; i += 8) {
      uint32_t eight = 0;
      for (int k = 0; k < 8; ++k) eight |= static_cast<uint32_t>(single_bits.x[i + k]) << k;
      p[i / 8 * stride] = static_cast<uint8_t>(eight);
    }
  }
  /// The adjacent balanced tree of the 256 values. @tparam T value type @param[in] f fragment
  /// @return their sum
  template <class T>
  TIEROPT_HOST_DEVICE T reduce(fragment<T> const& f) const {
    alignas(64) T level[strip / 2];
    halve<strip / 2>(f.x, level);
    return fold_level<strip / 4>(level);
  }
  /// Calls f(root), where root(at) is the correctly rounded root of radicand(at).
  /// @tparam N width type @tparam Radicand callable @tparam F callable
  /// @param[in] n width @param[in] radicand called once per element below n
  /// @param[in] f called once; it asks for each element below n once
  template <class N, class Radicand, class F>
  TIEROPT_HOST_DEVICE void with_roots(N n, Radicand const& radicand, F const& f) const {
    fragment<decltype(radicand(0))> x;
    if constexpr (!cuda::std::is_same_v<N, whole_strip>) zero(x);
    for_each(n, [&](int at) { x(at) = radicand(at); });
    roots(x.x);
    f(x);
  }

 private:
  template <int N, class T>
  TIEROPT_HOST_DEVICE static void halve(T const* in, T* out) {
    TIEROPT_IVDEP
    for (int i = 0; i < N; ++i) out[i] = add(in[2 * i], in[2 * i + 1]);
  }
  template <int N, class T>
  TIEROPT_HOST_DEVICE static T fold_level(T const* in) {
    alignas(64) T out[N];
    halve<N>(in, out);
    if constexpr (N == 1) {
      return out[0];
    } else {
      return fold_level<N / 2>(out);
    }
  }
  // g++ does not vectorise a root that may set errno, so that the vector instruction is asked for.
  // nvcc also parses this for the device, which has no vectors; it never runs there.
  TIEROPT_HOST_DEVICE static void roots(float* x) {
#if defined(__CUDA_ARCH__)
    for (int i = 0; i < strip; ++i) x[i] = sqrt(x[i]);
#elif defined(__AVX__)
    using pack = float __attribute__((vector_size(32), aligned(4), may_alias));
    for (int i = 0; i < strip; i += 8) {
      auto* p = reinterpret_cast<pack*>(x + i);
      *p = __builtin_ia32_sqrtps256(*p);
    }
#elif defined(__SSE2__)
    using pack = float __attribute__((vector_size(16), aligned(4), may_alias));
    for (int i = 0; i < strip; i += 4) {
      auto* p = reinterpret_cast<pack*>(x + i);
      *p = __builtin_ia32_sqrtps(*p);
    }
#else
    for (int i = 0; i < strip; ++i) x[i] = sqrt(x[i]);
#endif
  }
  TIEROPT_HOST_DEVICE static void roots(double* x) {
#if defined(__CUDA_ARCH__)
    for (int i = 0; i < strip; ++i) x[i] = sqrt(x[i]);
#elif defined(__AVX__)
    using pack = double __attribute__((vector_size(32), aligned(8), may_alias));
    for (int i = 0; i < strip; i += 4) {
      auto* p = reinterpret_cast<pack*>(x + i);
      *p = __builtin_ia32_sqrtpd256(*p);
    }
#elif defined(__SSE2__)
    using pack = double __attribute__((vector_size(16), aligned(8), may_alias));
    for (int i = 0; i < strip; i += 2) {
      auto* p = reinterpret_cast<pack*>(x + i);
      *p = __builtin_ia32_sqrtpd(*p);
    }
#else
    for (int i = 0; i < strip; ++i) x[i] = sqrt(x[i]);
#endif
  }

  int index_;
  Order order_;
};

/// A block whose groups run one after the other.
/// @tparam Groups groups of the block
/// @tparam Order forward_order or permuted_order
template <int Groups, class Order = forward_order>
class host_block {
 public:
  static constexpr int groups = Groups;  ///< groups of the block

  /// @param[in] index which block of the grid
  /// @param[in] memory the block's storage
  /// @param[in] order how slots are visited
  TIEROPT_HOST_DEVICE host_block(int64_t index, void* memory, Order order)
      : index_{index}, memory_{memory}, order_{order} {}

  /// Which block of the grid. @return from 0
  TIEROPT_HOST_DEVICE int64_t index() const { return index_; }
  /// Calls f(group) for every group. @tparam F callable @param[in] f called once per group
  template <class F>
  TIEROPT_HOST_DEVICE void for_each_group(F const& f) const {
    for (int g = 0; g < Groups; ++g) {
      f(host_group<Order>{static_cast<int>(order_.item(g, Groups)), order_});
    }
  }
  /// Calls f(i) for i below n. @tparam F callable @param[in] n items @param[in] f called n times
  template <class F>
  TIEROPT_HOST_DEVICE void for_each(int64_t n, F const& f) const {
    for (int64_t i = 0; i < n; ++i) f(order_.item(i, n));
  }
  /// The block's storage. @tparam T the body's storage type @return reference
  template <class T>
  TIEROPT_HOST_DEVICE T& shared() const {
    return *static_cast<T*>(memory_);
  }

 private:
  int64_t index_;
  void* memory_;
  Order order_;
};

/// Runs one block of a body on the calling thread.
/// @tparam Body a body
/// @tparam Order forward_order or permuted_order
/// @param[in] body the body
/// @param[in] index which block of the grid
/// @param[in] order how slots are visited
template <class Body, class Order>
[[gnu::flatten]] TIEROPT_HOST void run_on_host(Body const& body, int64_t index, Order order) {
  alignas(64) byte memory[sizeof(typename Body::storage)];
  body(host_block<Body::tune.groups, Order>{index, memory, order});
}

}  // namespace v0_1
}  // namespace tieropt
