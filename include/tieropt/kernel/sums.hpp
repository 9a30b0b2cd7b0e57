// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sums whose order belongs to the logical shape. Layer: kernel.
///
/// Row: segments of 1,024 columns, each as running sums by column mod 256 in column order and then
/// the balanced tree of neighbours over the 256; segments by the same tree. Column: leaves of 16
/// rows in order, then the tree of neighbours over leaves and tiles. Vector width, lanes, groups,
/// threads and chunks never enter.
#pragma once

#include <tieropt/block/thread_block.hpp>
#include <tieropt/precision/storage.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The balanced tree of neighbours over a stream of values: value i enters as leaf i.
/// @tparam T compute type
template <class T>
class tree_sum {
 public:
  /// The sum of nothing.
  TIEROPT_HOST_DEVICE tree_sum() : n_{0} {}
  /// Adds the next value. @param[in] x value
  TIEROPT_HOST_DEVICE void push(T x) {
    int j = 0;
    for (; (n_ >> j) & 1; ++j) x = add(level_[j], x);
    level_[j] = x;
    ++n_;
  }
  /// The sum of all values so far. @return 0 for none
  TIEROPT_HOST_DEVICE T total() const {
    T sum = T(0);
    bool any = false;
    for (int j = 0; (n_ >> j) != 0; ++j) {
      if ((n_ >> j) & 1) {
        sum = any ? add(level_[j], sum) : level_[j];
        any = true;
      }
    }
    return sum;
  }

 private:
  T level_[40];  // enough for 2^40 segments
  int64_t n_;
};

/// The tree of neighbours over 8 values. @tparam T compute type
/// @param[in] x first value @param[in] stride elements between values @return their sum
template <class T>
TIEROPT_HOST_DEVICE T tree8(T const* x, int64_t stride) {
  return add(add(add(x[0], x[stride]), add(x[2 * stride], x[3 * stride])),
             add(add(x[4 * stride], x[5 * stride]), add(x[6 * stride], x[7 * stride])));
}

/// The sum of a dense vector, by one group.
/// @tparam T compute type @tparam Group a group @tparam U element type
/// @param[in] group the group @param[in] data (n) @param[in] n elements @return the sum
template <class T, class Group, class U>
TIEROPT_HOST_DEVICE T sum_vector(Group const& group, U const* data, int64_t n) {
  tree_sum<T> tree;
  for (int64_t c0 = 0; c0 < n; c0 += segment) {
    typename Group::template fragment<T> sum;
    group.zero(sum);
    for (int k = 0; k < strips; ++k) {
      int const width = clamp_count(n - c0 - k * strip, strip);
      if (width == 0) break;
      auto const x = group.load(data + c0 + k * strip, width, unit_stride{});
      group.for_each(width, [&](auto at) { sum(at) = add(sum(at), x.template get<T>(at)); });
    }
    tree.push(group.reduce(sum));
  }
  return tree.total();
}

/// The tree of neighbours over n rows, in place, one strip of columns; row 0 holds the sum.
/// @tparam T compute type @tparam Group a group
/// @param[in] group the group @param[in,out] part (n, pitch) @param[in] n rows
/// @param[in] pitch elements between rows @param[in] width columns of the strip
template <class T, class Group>
TIEROPT_HOST_DEVICE void tree_rows(Group const& group, T* part, int64_t n, int64_t pitch,
                                   int width) {
  for (int64_t distance = 1; distance < n; distance *= 2) {
    for (int64_t i = 0; i + distance < n; i += 2 * distance) {
      auto x = group.load(part + i * pitch, width, unit_stride{});
      auto const y = group.load(part + (i + distance) * pitch, width, unit_stride{});
      group.for_each(
          width, [&](auto at) { x.put(at, add(x.template get<T>(at), y.template get<T>(at))); });
      x.store();
    }
  }
}

}  // namespace v0_1
}  // namespace tieropt
