// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Generates the parameters and gradients of procedural cases, exactly as the format defines them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace golden {

/// Output number `i` of splitmix64 started at state `key`.
constexpr std::uint64_t splitmix64(std::uint64_t key, std::uint64_t i) {
  std::uint64_t s = key + (i + 1) * 0x9E3779B97F4A7C15u;
  s = (s ^ (s >> 30)) * 0xBF58476D1CE4E5B9u;
  s = (s ^ (s >> 27)) * 0x94D049BB133111EBu;
  return s ^ (s >> 31);
}

/// Nearest bf16, ties to even, of a finite value that float32 holds exactly.
inline double nearest_bf16(double value) {
  auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  std::uint32_t const rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u;
  return std::bit_cast<float>(rounded);
}

/// One procedural tensor: which numbers, and how they shrink along rows and columns.
struct procedural_stream {
  std::uint64_t key = 0;
  int shift = 0;
  std::int64_t row_mod = 1;
  std::int64_t col_mod = 1;
  bool bf16 = false;

  /// The values of a tensor of the shape given; rows and columns are its last two axes.
  std::vector<double> generate(std::span<std::int64_t const> shape) const {
    std::int64_t count = 1;
    for (std::int64_t const extent : shape) count *= extent;
    std::int64_t const cols = shape.empty() ? 1 : shape.back();
    std::int64_t const rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    std::vector<double> out(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint64_t const z = splitmix64(key, static_cast<std::uint64_t>(i));
      auto const n = static_cast<std::int64_t>((z & 0xFFFF) + ((z >> 16) & 0xFFFF) +
                                               ((z >> 32) & 0xFFFF) + (z >> 48)) -
                     131070;
      std::int64_t const scale = shift + (i / cols) % rows % row_mod + i % cols % col_mod;
      double const value = std::ldexp(static_cast<double>(n), -static_cast<int>(scale));
      out[static_cast<std::size_t>(i)] = bf16 ? nearest_bf16(value) : value;
    }
    return out;
  }
};

/// How one parameter of a procedural case and its gradients are made.
struct procedural_input {
  std::uint64_t key = 0;
  int shift_init = 0;
  int shift_grad = 0;
  std::int64_t row_mod = 1;
  std::int64_t col_mod = 1;
  bool grad_bf16 = false;

  procedural_stream initial() const { return {.key = key, .shift = shift_init}; }
  procedural_stream gradient(int step) const {
    return {.key = key + static_cast<std::uint64_t>(step),
            .shift = shift_grad,
            .row_mod = row_mod,
            .col_mod = col_mod,
            .bf16 = grad_bf16};
  }
};

}  // namespace golden
