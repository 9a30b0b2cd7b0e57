// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Buffers whose element type and strides are known at run time, and all those of a tensor.
#pragma once

#include "support/side.hpp"
#include "support/storage_codec.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace testing::stored {

/// A small generator: a function of (seed, index).
inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t s = seed * 0xD1B54A32D192ED03u + (i + 1) * 0x9E3779B97F4A7C15u;
  s = (s ^ (s >> 30)) * 0xBF58476D1CE4E5B9u;
  s = (s ^ (s >> 27)) * 0x94D049BB133111EBu;
  return s ^ (s >> 31);
}
/// Draws one after the other.
class source {
 public:
  explicit source(std::uint64_t seed) : seed_{seed} {}
  /// Below n.
  int64_t below(int64_t n) { return static_cast<int64_t>(mixed(seed_, i_++) >> 20) % n; }
  bool one_in(int64_t n) { return below(n) == 0; }

 private:
  std::uint64_t seed_, i_ = 0;
};
/// Roughly normal with deviation 1.
inline double bell(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t const u = mixed(seed, i);
  double sum = -2;
  for (int k = 0; k < 4; ++k) sum += static_cast<double>((u >> (16 * k)) & 0xffffu) * 0x1p-16;
  return sum * 1.7320508075688772;
}

/// A shape with two of its dimensions as the matrix; a vector is one row, a scalar one element.
struct shape {
  std::vector<int64_t> extents;
  int row = -1, col = -1;  ///< dimensions, -1 where there is none

  static shape of(std::vector<int64_t> const& extents) {
    int const n = static_cast<int>(extents.size());
    return {extents, n - 2 < 0 ? -1 : n - 2, n - 1};
  }
  /// The same with n columns.
  shape with_columns(int64_t n) const {
    shape s = *this;
    if (col >= 0) s.extents[static_cast<std::size_t>(col)] = n;
    return s;
  }
  int64_t extent(int i) const { return i < 0 ? 1 : extents[static_cast<std::size_t>(i)]; }
  int64_t R() const { return extent(row); }
  int64_t C() const { return extent(col); }
  int64_t E() const {
    int64_t n = 1;
    for (int i = 0; i < static_cast<int>(extents.size()); ++i)
      n *= i == row || i == col ? 1 : extent(i);
    return n;
  }
  int64_t size() const { return E() * R() * C(); }
  /// Dimensions in logical order: those of E, row, col.
  std::vector<int> order() const {
    std::vector<int> dims;
    for (int i = 0; i < static_cast<int>(extents.size()); ++i) {
      if (i != row && i != col) dims.push_back(i);
    }
    if (row >= 0) dims.push_back(row);
    if (col >= 0) dims.push_back(col);
    return dims;
  }
};

/// How a buffer lies in memory.
enum class layout_kind {
  dense,     ///< row-major
  pitched,   ///< rows start on 32 elements
  ragged,    ///< rows and matrices have odd gaps
  reversed,  ///< column-major, and so on
  shuffled,  ///< dimensions in any order, odd gaps, no unit stride
  shifted,   ///< dense, but starts one element late
};
inline constexpr int n_layouts = 6;

/// A buffer of elements of some bytes, indexed in logical order (E, R, C); a guard fills all gaps.
class cells {
 public:
  cells() = default;
  cells(int bytes, shape const& s, layout_kind how, source& random);

  int64_t size() const { return static_cast<int64_t>(places_.size()); }
  int bytes() const { return bytes_; }
  void* at(int64_t i) { return memory_.data() + places_[static_cast<std::size_t>(i)]; }
  void const* at(int64_t i) const { return memory_.data() + places_[static_cast<std::size_t>(i)]; }
  std::uint64_t raw(int64_t i) const { return load_bits(at(i), bytes_); }
  void put(int64_t i, std::uint64_t u) { store_bits(at(i), bytes_, u); }
  void* data() { return memory_.data() + offset_ * bytes_; }
  std::vector<int64_t> const& extents() const { return extents_; }
  std::vector<int64_t> const& strides() const { return strides_; }
  bool gaps_untouched() const;
  /// The elements' bits, in logical order.
  std::vector<std::uint64_t> bits() const {
    std::vector<std::uint64_t> all;
    for (int64_t i = 0; i < size(); ++i) all.push_back(raw(i));
    return all;
  }

 private:
  int bytes_ = 1;
  std::vector<int64_t> extents_, strides_;
  int64_t offset_ = 0;
  std::vector<std::size_t> places_;  // of the elements, in bytes
  testing::vector<unsigned char> memory_;
};

/// Everything that a tensor binds.
struct bundle {
  stored::shape shape;
  int dims = 0;  ///< 0 the last two, 1 the two largest, 2 given, 3 given from the end
  bool factored = false;
  cells param, grad, momentum, momentum_scale, row, col, exact, exact_scale, master, carry, step,
      active, missed;
  bool present = true, masked = false, counts_missed = false;
  int64_t key = 0, first_element = 0;

  int64_t E() const { return shape.E(); }
  int64_t R() const { return shape.R(); }
  int64_t C() const { return shape.C(); }
  int64_t groups(int64_t columns) const { return (C() + columns - 1) / columns; }
  /// What a step may write, with names.
  template <class F>
  void for_each_state(F const& f) {
    f("param", param), f("momentum", momentum), f("scale of the momentum", momentum_scale);
    f("row", row), f("col", col), f("exact", exact), f("scale of exact", exact_scale);
    f("master", master), f("carry", carry), f("step", step), f("missed", missed);
  }
};

/// All bits of a bundle that a step may write.
using snapshot = std::vector<std::vector<std::uint64_t>>;
inline snapshot all_bits(bundle& b) {
  snapshot s;
  b.for_each_state([&](char const*, cells& c) { s.push_back(c.bits()); });
  return s;
}
/// The first buffer with other bits, or "".
inline std::string difference(bundle& a, snapshot const& want) {
  std::string what;
  std::size_t i = 0;
  a.for_each_state([&](char const* name, cells& c) {
    auto const& w = want[i++];
    for (std::size_t k = 0; k < w.size() && what.empty(); ++k) {
      if (c.raw(static_cast<int64_t>(k)) != w[k])
        what = std::string{name} + "[" + std::to_string(k) + "]";
    }
  });
  return what;
}
/// Whether nothing between the elements was written.
inline std::string touched_gap(bundle& b) {
  std::string what;
  b.for_each_state([&](char const* name, cells& c) {
    if (!c.gaps_untouched()) what = name;
  });
  if (!b.grad.gaps_untouched()) what = "grad";
  return what.empty() ? what : "wrote between the elements of " + what;
}

}  // namespace testing::stored
