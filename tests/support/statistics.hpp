// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Statistics of random bits: uniformity, chi-square of pairs, correlation, bit against bit.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace testing {

/// Chi-square of n values over k equally likely cells, as a distance from its mean in deviations.
inline double chi_square_deviations(std::vector<std::int64_t> const& cells) {
  double n = 0, chi = 0;
  for (auto const c : cells) n += static_cast<double>(c);
  double const mean = n / static_cast<double>(cells.size());
  for (auto const c : cells) {
    chi += (static_cast<double>(c) - mean) * (static_cast<double>(c) - mean) / mean;
  }
  double const freedom = static_cast<double>(cells.size()) - 1;
  return (chi - freedom) / std::sqrt(2 * freedom);
}

/// How two streams of 16-bit values depend on each other, in standard deviations of independence.
struct pair_statistics {
  double high_cells = 0;   ///< chi-square of the 16 x 16 cells of the upper four bits
  double low_cells = 0;    ///< the same for the lower four bits
  double correlation = 0;  ///< Pearson's
  double worst_bits = 0;   ///< the most dependent pair of one bit each

  double worst() const {
    return std::fmax(std::fmax(std::fabs(high_cells), std::fabs(low_cells)),
                     std::fmax(std::fabs(correlation), worst_bits));
  }
};

/// Compares a(i) with b(i) for i in [0, n).
template <class A, class B>
pair_statistics compare_streams(A a, B b, int n) {
  std::vector<std::int64_t> high(256), low(256);
  std::array<std::array<std::int64_t, 16>, 16> equal{};
  double sum_a = 0, sum_b = 0, sum_ab = 0, sum_aa = 0, sum_bb = 0;
  for (int i = 0; i < n; ++i) {
    std::uint32_t const x = a(i), y = b(i);
    ++high[(x >> 12) * 16 + (y >> 12)];
    ++low[(x & 15) * 16 + (y & 15)];
    double const u = x, v = y;
    sum_a += u, sum_b += v, sum_ab += u * v, sum_aa += u * u, sum_bb += v * v;
    for (int j = 0; j < 16; ++j) {
      std::uint32_t const same = ~(((x >> j) & 1 ? 0xFFFFu : 0u) ^ y);
      for (int k = 0; k < 16; ++k) equal[j][k] += (same >> k) & 1;
    }
  }
  double const count = n;
  double const covariance = sum_ab / count - sum_a / count * (sum_b / count);
  double const variance_a = sum_aa / count - sum_a / count * (sum_a / count);
  double const variance_b = sum_bb / count - sum_b / count * (sum_b / count);
  pair_statistics s;
  s.high_cells = chi_square_deviations(high);
  s.low_cells = chi_square_deviations(low);
  s.correlation = covariance / std::sqrt(variance_a * variance_b) * std::sqrt(count);
  for (auto const& line : equal) {
    for (auto const e : line) {
      double const d = std::fabs(static_cast<double>(e) - count / 2) / std::sqrt(count / 4);
      s.worst_bits = std::fmax(s.worst_bits, d);
    }
  }
  return s;
}

}  // namespace testing
