// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Buffers of any element type and layout, filled and read through the tests' own conversions.
#pragma once

#include "support/exact_format.hpp"
#include "support/side.hpp"

#include <tieropt/precision/storage.hpp>
#include <tieropt/view.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace testing {

using std::int64_t;

/// A small generator whose values are a function of (seed, index).
inline std::uint64_t scramble(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t s = seed * 0xD1B54A32D192ED03u + (i + 1) * 0x9E3779B97F4A7C15u;
  s = (s ^ (s >> 30)) * 0xBF58476D1CE4E5B9u;
  s = (s ^ (s >> 27)) * 0x94D049BB133111EBu;
  return s ^ (s >> 31);
}
/// Uniform in [-1, 1), a multiple of 2^-20.
inline double uniform(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(scramble(seed, i) >> 43) * 0x1p-20 - 1;
}
/// Roughly normal with deviation 1: a sum of four uniforms.
inline double normal(std::uint64_t seed, std::uint64_t i) {
  double sum = 0;
  for (int k = 0; k < 4; ++k) sum += uniform(seed + 1000003u * k, i);
  return sum * 0.8660254037844386;
}

/// What the tests know of an element type.
template <class T>
struct element;
template <>
struct element<float> {
  static constexpr binary_format format = fp32_format;
  static double decode(float x) { return x; }
  static float encode(double x) { return static_cast<float>(x); }
};
template <>
struct element<double> {
  static constexpr binary_format format = fp64_format;
  static double decode(double x) { return x; }
  static double encode(double x) { return x; }
};
template <class T, int Kind>
struct element_16 {
  static constexpr binary_format format = Kind == 0 ? bf16_format : fp16_format;
  static double decode(T x) { return decode16(format, x.raw); }
  static T encode(double x) { return T{encode16(format, format.nearest(x))}; }
};
template <>
struct element<tieropt::bf16> : element_16<tieropt::bf16, 0> {};
template <>
struct element<tieropt::fp16> : element_16<tieropt::fp16, 1> {};

/// How the elements of an (E, R, C) buffer lie in memory.
enum class layout { row_major, column_major, padded, strided, pitched, shifted };
inline constexpr int n_layouts = 6;

/// A buffer of some extents whose last two are the matrix, with guard elements in all gaps. A
/// row-major one has none, so that tools see accesses beyond its ends.
template <class T>
class buffer {
 public:
  buffer() = default;
  explicit buffer(std::vector<int64_t> const& extents, layout how = layout::row_major)
      : extents_{extents} {
    int64_t E = 1;
    std::size_t const n = extents.size();
    C_ = n > 0 ? extents[n - 1] : 1;
    R_ = n > 1 ? extents[n - 2] : 1;
    for (std::size_t i = 0; i + 2 < n; ++i) E *= extents[i];
    E_ = E;
    switch (how) {
      case layout::row_major: col_ = 1, row_ = C_, matrix_ = R_ * C_, offset_ = 0; break;
      case layout::column_major: matrix_ = 1, row_ = E_, col_ = E_ * R_, offset_ = 0; break;
      case layout::padded: col_ = 1, row_ = C_ + 5, matrix_ = R_ * row_ + 7, offset_ = 1; break;
      case layout::strided:
        row_ = 2, col_ = 2 * R_ + 3, matrix_ = C_ * col_ + 1, offset_ = 3;
        break;
      case layout::pitched: col_ = 1, row_ = C_ / 8 * 8 + 16, matrix_ = R_ * row_; break;
      case layout::shifted: col_ = 1, row_ = C_, matrix_ = R_ * C_, offset_ = 1; break;
    }
    int64_t size = how == layout::row_major ? 0 : offset_ + 9;
    if (E_ * R_ * C_ > 0) size += (E_ - 1) * matrix_ + (R_ - 1) * row_ + (C_ - 1) * col_ + 1;
    memory_.resize(static_cast<std::size_t>(size > 0 ? size : 1));
    std::memset(static_cast<void*>(memory_.data()), guard, memory_.size() * sizeof(T));
    for (int64_t i = 0; i < this->size(); ++i) (*this)[i] = T{};
  }

  int64_t size() const { return E_ * R_ * C_; }
  int64_t E() const { return E_; }
  int64_t R() const { return R_; }
  int64_t C() const { return C_; }

  /// Element i in row-major order.
  T& operator[](int64_t i) { return memory_[place(i)]; }
  T const& operator[](int64_t i) const { return memory_[place(i)]; }

  tieropt::tensor_view<T> view() { return make_view<T>(memory_.data()); }
  tieropt::tensor_view<T const> view() const { return make_view<T const>(memory_.data()); }
  T* data() { return memory_.data() + offset_; }
  T const* data() const { return memory_.data() + offset_; }

  template <class Real = double>
  std::vector<Real> values() const {
    std::vector<Real> out(static_cast<std::size_t>(size()));
    for (int64_t i = 0; i < size(); ++i) {
      out[static_cast<std::size_t>(i)] = static_cast<Real>(element<T>::decode((*this)[i]));
    }
    return out;
  }
  /// Sets element i to f(i), rounded to nearest.
  template <class F>
  void fill(F const& f) {
    for (int64_t i = 0; i < size(); ++i) (*this)[i] = element<T>::encode(f(i));
  }
  /// Whether everything between and around the elements is as it was.
  bool gaps_untouched() const {
    std::vector<char> used(memory_.size());
    if (size() == 0 && used.size() == 1) return true;
    for (int64_t i = 0; i < size(); ++i) used[place(i)] = 1;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (used[i]) continue;
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &memory_[i], sizeof(T));
      for (unsigned char const b : bytes) {
        if (b != guard) return false;
      }
    }
    return true;
  }
  /// Whether all bytes are equal, gaps included.
  friend bool operator==(buffer const& a, buffer const& b) {
    return a.memory_.size() == b.memory_.size() &&
           (a.memory_.empty() ||
            std::memcmp(a.memory_.data(), b.memory_.data(), a.memory_.size() * sizeof(T)) == 0);
  }

 private:
  static constexpr unsigned char guard = 0x5A;

  std::size_t place(int64_t i) const {
    int64_t const c = i % C_, r = i / C_ % R_, e = i / (C_ * R_);
    return static_cast<std::size_t>(offset_ + e * matrix_ + r * row_ + c * col_);
  }
  template <class U>
  tieropt::tensor_view<U> make_view(U* memory) const {
    tieropt::tensor_view<U> v;
    v.data = memory + offset_;
    v.rank = static_cast<int>(extents_.size());
    int64_t outer = matrix_;
    for (int i = v.rank - 1; i >= 0; --i) {
      v.extent[i] = extents_[static_cast<std::size_t>(i)];
      if (i == v.rank - 1) {
        v.stride[i] = col_;
      } else if (i == v.rank - 2) {
        v.stride[i] = row_;
      } else {
        v.stride[i] = outer;
        outer *= v.extent[i];
      }
    }
    return v;
  }

  std::vector<int64_t> extents_;
  int64_t E_ = 0, R_ = 0, C_ = 0;
  int64_t matrix_ = 0, row_ = 0, col_ = 0, offset_ = 0;
  vector<T> memory_;
};

}  // namespace testing
