// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mean and spread of a few runs, and the best line of a sweep.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace moe {

/// Of the runs of one line that ended with a finite number.
struct spread {
  std::int64_t runs = 0;      // finite ones
  std::int64_t diverged = 0;  // the others
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();  // of a sample, n - 1; 0 of one run
  double least = std::numeric_limits<double>::quiet_NaN();
  double most = std::numeric_limits<double>::quiet_NaN();
};

inline spread spread_of(std::span<double const> values) {
  spread s;
  double sum = 0;
  for (double const x : values) {
    if (!std::isfinite(x)) {
      ++s.diverged;
      continue;
    }
    sum += x;
    s.least = s.runs == 0 ? x : std::min(s.least, x);
    s.most = s.runs == 0 ? x : std::max(s.most, x);
    ++s.runs;
  }
  if (s.runs == 0) return s;
  s.mean = sum / static_cast<double>(s.runs);
  double squares = 0;
  for (double const x : values) {
    if (std::isfinite(x)) squares += (x - s.mean) * (x - s.mean);
  }
  s.deviation = s.runs == 1 ? 0 : std::sqrt(squares / static_cast<double>(s.runs - 1));
  return s;
}

/// The line with the best mean among those of which no run diverged; lines.size() if there is none.
/// Of equal ones, the first.
inline std::size_t best_line(std::span<spread const> lines, bool higher_is_better) {
  std::size_t best = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].runs == 0 || lines[i].diverged > 0) continue;
    if (best == lines.size() ||
        (higher_is_better ? lines[i].mean > lines[best].mean : lines[i].mean < lines[best].mean)) {
      best = i;
    }
  }
  return best;
}

}  // namespace moe
