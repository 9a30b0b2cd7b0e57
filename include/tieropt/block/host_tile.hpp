// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Orders of the slots of a host group, and its strips of buffers. Layer: block.
#pragma once

#include <tieropt/block/thread_block.hpp>
#include <tieropt/precision/storage.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// Visits slots first to last, in loops that vectorise.
struct forward_order {
  /// Calls f(i) for i below 256. @tparam F callable @param[in] f called 256 times
  template <class F>
  TIEROPT_HOST_DEVICE void visit(whole_strip, F const& f) const {
    TIEROPT_IVDEP
    for (int i = 0; i < strip; ++i) f(i);
  }
  /// Calls f(i) for i below n. @tparam F callable @param[in] n at most 256 @param[in] f called n
  /// times
  template <class F>
  TIEROPT_HOST_DEVICE void visit(int n, F const& f) const {
    // A loop of constant trip and its remainder; one loop over n would be versioned and slow.
    int i = 0;
    for (; i + strip <= n; i += strip) visit(whole_strip{}, [&](int k) { f(i + k); });
    constexpr int part = 16;
    for (; i + part <= n; i += part) {
      TIEROPT_IVDEP
      for (int k = 0; k < part; ++k) f(i + k);
    }
    for (; i < n; ++i) f(i);
  }
  /// Which item comes k-th. @param[in] k position @return k
  TIEROPT_HOST_DEVICE int64_t item(int64_t k, int64_t) const { return k; }
};

/// Visits slots and items in a given order: exposes bodies that depend on one.
struct permuted_order {
  int const* order;  ///< a permutation of 0 .. 255

  /// Calls f(i) for i below n. @tparam F callable @param[in] n at most 256 @param[in] f called n
  /// times
  template <class F>
  TIEROPT_HOST_DEVICE void visit(int n, F const& f) const {
    for (int k = 0; k < strip; ++k) {
      if (order[k] < n) f(order[k]);
    }
  }
  /// Which item comes k-th: last to first. @param[in] k position @param[in] n items @return item
  TIEROPT_HOST_DEVICE int64_t item(int64_t k, int64_t n) const { return n - 1 - k; }
};

/// Elements in place: nothing is copied.
/// @tparam U element type, const where it is only read
/// @tparam Stride unit_stride or int64_t
template <class U, class Stride>
struct host_tile {
  using element_type = cuda::std::remove_const_t<U>;  ///< what a column holds
  using codec = storage<element_type>;                ///< how elements are stored
  U* data;                                            ///< element 0
  Stride stride;                                      ///< elements between columns

  /// Decodes. @tparam T compute type @param[in] at slot @return value
  template <class T>
  TIEROPT_HOST_DEVICE T get(int at) const {
    return codec::template decode<T>(data[at * stride]);
  }
  /// Rounds to nearest. @tparam T compute type @param[in] at slot @param[in] x value
  template <class T>
  TIEROPT_HOST_DEVICE void put(int at, T x) const {
    data[at * stride] = codec::nearest(x);
  }
  /// Rounds stochastically. @tparam T compute type @param[in] at slot @param[in] x value
  /// @param[in] r random bits, as many as the codec takes
  template <class T>
  TIEROPT_HOST_DEVICE void put(int at, T x, uint32_t r) const {
    data[at * stride] = codec::stochastic(x, r);
  }
  /// An element as it is stored. @param[in] at slot @return element
  TIEROPT_HOST_DEVICE element_type element(int at) const { return data[at * stride]; }
  /// Stores an element as it is. @param[in] at slot @param[in] x element
  TIEROPT_HOST_DEVICE void put_element(int at, element_type x) const { data[at * stride] = x; }
  /// Everything is in place already.
  TIEROPT_HOST_DEVICE void store() const {}
};

/// A kept strip in place.
/// @tparam T value type
template <class T>
struct kept_view {
  T const* x;  ///< by slot
  /// A value. @param[in] at slot @return copy
  TIEROPT_HOST_DEVICE T operator()(int at) const { return x[at]; }
};

}  // namespace v0_1
}  // namespace tieropt
