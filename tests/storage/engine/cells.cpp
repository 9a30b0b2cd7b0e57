// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How buffers lie in memory.

#include "support/storage_cells.hpp"

#include <algorithm>
#include <numeric>

namespace testing::stored {

namespace {
constexpr unsigned char guard = 0x5A;
}

cells::cells(int bytes, shape const& s, layout_kind how, source& random)
    : bytes_{bytes}, extents_{s.extents}, strides_(s.extents.size(), 1) {
  std::size_t const n = extents_.size();
  std::vector<std::size_t> memory_order(n);  // slowest first
  std::iota(memory_order.begin(), memory_order.end(), 0);
  if (how == layout_kind::reversed) std::reverse(memory_order.begin(), memory_order.end());
  if (how == layout_kind::shuffled) {
    for (std::size_t i = n; i > 1; --i) {
      std::swap(memory_order[i - 1],
                memory_order[static_cast<std::size_t>(random.below(static_cast<int64_t>(i)))]);
    }
  }
  int64_t next = how == layout_kind::shuffled ? 1 + random.below(3) : 1;
  for (std::size_t k = n; k-- > 0;) {
    std::size_t const dim = memory_order[k];
    strides_[dim] = next;
    next *= how == layout_kind::dense ? extents_[dim] : std::max<int64_t>(extents_[dim], 1);
    bool const innermost = k + 1 == n;
    if (how == layout_kind::pitched && innermost) next = (next + 31) / 32 * 32 + 32;
    if (how == layout_kind::ragged) next += innermost ? 5 : 7;
    if (how == layout_kind::shuffled) next += random.below(4);
  }
  if (how == layout_kind::ragged || how == layout_kind::shuffled) offset_ = 1 + random.below(5);
  if (how == layout_kind::shifted) offset_ = 1;

  int64_t const size = s.size();
  int64_t last = 0;
  for (std::size_t i = 0; i < n; ++i) last += std::max<int64_t>(extents_[i] - 1, 0) * strides_[i];
  // A dense buffer has nothing around it, so that tools see accesses beyond its ends.
  int64_t const length = how == layout_kind::dense ? (size > 0 ? last + 1 : 0) : offset_ + last + 9;
  memory_.assign(static_cast<std::size_t>(std::max<int64_t>(length, 1) * bytes), guard);

  std::vector<int> const order = s.order();
  std::vector<int64_t> index(n, 0);
  places_.reserve(static_cast<std::size_t>(size));
  int64_t place = offset_;
  for (int64_t i = 0; i < size; ++i) {
    places_.push_back(static_cast<std::size_t>(place * bytes));
    for (std::size_t k = order.size(); k-- > 0;) {
      auto const dim = static_cast<std::size_t>(order[k]);
      place += strides_[dim];
      if (++index[dim] < extents_[dim]) break;
      place -= extents_[dim] * strides_[dim];
      index[dim] = 0;
    }
  }
  for (int64_t i = 0; i < size; ++i) put(i, 0);
}

bool cells::gaps_untouched() const {
  if (places_.empty() && memory_.size() == static_cast<std::size_t>(bytes_)) return true;
  std::vector<char> used(memory_.size());
  for (std::size_t const p : places_)
    std::fill_n(used.begin() + static_cast<std::ptrdiff_t>(p), bytes_, 1);
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (!used[i] && memory_[i] != guard) return false;
  }
  return true;
}

}  // namespace testing::stored
