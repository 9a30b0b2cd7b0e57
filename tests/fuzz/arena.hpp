// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that views of any kind are laid into, and what may be touched there.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>
#include <sanitizer/asan_interface.h>

#include <tieropt/view.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace fuzz {

using std::int64_t;

/// What must hold; the fuzzer keeps the input that breaks it.
inline void require(bool holds, char const* sentence) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", sentence);
  std::abort();
}

/// Bytes of a buffer that all views share, and the random choices of an input.
class arena {
 public:
  static constexpr int64_t size = 1 << 14;

  arena(FuzzedDataProvider& choices) : in{choices}, memory_(size) {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      memory_[i] = static_cast<unsigned char>(0x30 + i * 37 % 13);  // small floats of any width
    }
  }

  FuzzedDataProvider& in;

  int64_t number(int64_t low, int64_t high) { return in.ConsumeIntegralInRange(low, high); }
  /// True once in n.
  bool seldom(int n) { return number(1, n) == n; }

  /// A view of some extents in some layout: mostly sound, sometimes not.
  template <class T>
  tieropt::tensor_view<T> view(std::vector<int64_t> const& extents) {
    tieropt::tensor_view<T> v;
    v.rank = static_cast<int>(extents.size());
    std::copy(extents.begin(), extents.end(), v.extent);
    lay_out(v);
    if (seldom(12)) spoil(v);
    return v;
  }

  /// Whether all elements lie in here, and are few.
  template <class T>
  bool holds(tieropt::tensor_view<T> const& v) const {
    if (v.rank > tieropt::max_rank) return false;
    __int128 elements = 1, last = 0;
    for (int i = 0; i < v.rank; ++i) {
      if (v.extent[i] < 0) return false;
      if (v.extent[i] == 0) return true;
      elements *= v.extent[i];
      if (v.extent[i] > 1) last += static_cast<__int128>(v.extent[i] - 1) * v.stride[i];
      if (elements > size || last > size || last < 0) return false;
    }
    if (v.rank < 0 || v.data == nullptr) return true;
    __int128 const at = reinterpret_cast<std::uintptr_t>(v.data);
    __int128 const begin = reinterpret_cast<std::uintptr_t>(memory_.data());
    return begin <= at && at + (last + 1) * static_cast<int64_t>(sizeof(T)) <= begin + size;
  }

  /// The bytes, gaps included.
  std::vector<unsigned char> const& bytes() const { return memory_; }
  /// Where an element starts.
  int64_t offset(void const* p) const {
    return reinterpret_cast<unsigned char const*>(p) - memory_.data();
  }

  /// Makes what no view covers unreadable, in units of 8 bytes, or readable again.
  void guard(std::vector<unsigned char> const& used) {
    unsigned char const none[8]{};
    for (int64_t i = 0; i < size; i += 8) {
      if (std::memcmp(&used[static_cast<std::size_t>(i)], none, 8) == 0) {
        ASAN_POISON_MEMORY_REGION(memory_.data() + i, 8);
      }
    }
  }
  void unguard() { ASAN_UNPOISON_MEMORY_REGION(memory_.data(), memory_.size()); }

 private:
  template <class T>
  void lay_out(tieropt::tensor_view<T>& v) {
    int const kind = static_cast<int>(number(0, 7));
    int order[tieropt::max_rank];
    std::iota(order, order + v.rank, 0);
    if (kind == 3 || kind == 4) {
      for (int i = v.rank - 1; i > 0; --i) std::swap(order[i], order[number(0, i)]);
    }
    int64_t reach = 1;
    for (int k = v.rank - 1; k >= 0; --k) {
      int const i = order[k];
      v.stride[i] = reach;
      if (kind == 2 || kind == 4) v.stride[i] += number(0, 3);
      if (kind == 5) v.stride[i] = number(0, 40);
      reach = kind == 5 ? reach
                        : std::min(v.stride[i] * std::clamp<int64_t>(v.extent[i], 1, size), size);
    }
    int64_t const align = alignof(T), element = sizeof(T);
    int64_t at = (used_ + align - 1) / align * align;
    at += kind % 2 == 0 ? (16 - at % 16) % 16 : element * number(0, 3);
    if (kind == 5) at = number(0, size / align - 1) * align;
    v.data = reinterpret_cast<T*>(memory_.data() + std::min(at, size - element));
    used_ = std::min(at + reach * element, size);
  }
  template <class T>
  void spoil(tieropt::tensor_view<T>& v) {
    auto const any = [&] { return in.ConsumeIntegral<int64_t>(); };
    auto const at = [&](void const* p, int64_t by) {
      return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) +
                                  static_cast<std::uintptr_t>(by));
    };
    int64_t const i = number(0, tieropt::max_rank - 1);
    switch (number(0, 9)) {
      case 0: v.data = nullptr; break;
      case 1: v.data = at(v.data, 1); break;
      case 2: v.extent[i] = any(); break;
      case 3: v.stride[i] = any(); break;
      case 4: v.rank = static_cast<int>(number(-2, 10)); break;
      case 5: v = {}; break;
      case 6: v.data = at(memory_.data(), number(0, size - 1)); break;
      case 7: v.data = at(nullptr, any()); break;
      case 8: v.extent[i] = number(0, 9); break;
      default: v.stride[i] = number(-2, 9); break;
    }
  }

  std::vector<unsigned char> memory_;
  int64_t used_ = 0;
};

/// Whether a view has no elements; the extents beside a 0 may be anything.
template <class T>
bool is_empty(tieropt::tensor_view<T> const& v) {
  return v.rank < 0 || v.data == nullptr || std::count(v.extent, v.extent + v.rank, 0) > 0;
}

/// Calls f(element) for every element of a view, in row-major order.
template <class T, class F>
void for_each_element(tieropt::tensor_view<T> const& v, F const& f) {
  if (is_empty(v)) return;
  int64_t index[tieropt::max_rank]{};
  for (;;) {
    int64_t at = 0;
    for (int i = 0; i < v.rank; ++i) at += index[i] * (v.extent[i] > 1 ? v.stride[i] : 0);
    f(v.data + at);
    int i = v.rank - 1;
    while (i >= 0 && ++index[i] == v.extent[i]) index[i--] = 0;
    if (i < 0) return;
  }
}

}  // namespace fuzz
