// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Covering arrays: few rows in which every two levels of every two axes meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace testing::pairwise {

/// One level of every axis.
using row = std::vector<int>;

/// The axes: how many levels each has, and which pairs of levels cannot meet.
struct space {
  std::vector<int> levels;
  bool (*allowed)(int axis_a, int level_a, int axis_b, int level_b) = nullptr;

  bool fits(int a, int x, int b, int y) const {
    if (allowed == nullptr) return true;
    return allowed(a, x, b, y) && allowed(b, y, a, x);
  }
  bool fits(row const& r) const {
    for (int a = 0; a < axes(); ++a) {
      for (int b = a + 1; b < axes(); ++b) {
        if (r[a] >= 0 && r[b] >= 0 && !fits(a, r[a], b, r[b])) return false;
      }
    }
    return true;
  }
  int axes() const { return static_cast<int>(levels.size()); }
};

/// Which pairs have met.
class coverage {
 public:
  explicit coverage(space const& s) : space_(s) {
    for (int a = 0; a < s.axes(); ++a) {
      first_.push_back(total_);
      total_ += s.levels[a];
    }
    met_.assign(static_cast<std::size_t>(total_) * total_, 0);
  }
  bool met(int a, int x, int b, int y) const { return met_[index(a, x, b, y)] != 0; }
  /// Takes a row in; a level below 0 leaves its axis open.
  void add(row const& r) {
    for (int a = 0; a < space_.axes(); ++a) {
      for (int b = 0; b < space_.axes(); ++b) {
        if (r[a] >= 0 && r[b] >= 0) met_[index(a, r[a], b, r[b])] = 1;
      }
    }
  }
  int gain(row const& r, int axis, int level) const {
    int n = 0;
    for (int b = 0; b < space_.axes(); ++b) {
      if (b != axis && r[b] >= 0 && !met(axis, level, b, r[b])) ++n;
    }
    return n;
  }
  /// The pairs that could meet and have not, as text; empty when all are covered.
  std::string missing() const {
    std::string text;
    for (int a = 0; a < space_.axes(); ++a) {
      for (int b = a + 1; b < space_.axes(); ++b) {
        for (int x = 0; x < space_.levels[a]; ++x) {
          for (int y = 0; y < space_.levels[b]; ++y) {
            if (space_.fits(a, x, b, y) && !met(a, x, b, y)) {
              text += "axis " + std::to_string(a) + "=" + std::to_string(x) + " with axis " +
                      std::to_string(b) + "=" + std::to_string(y) + "; ";
            }
          }
        }
      }
    }
    return text;
  }

 private:
  std::size_t index(int a, int x, int b, int y) const {
    return static_cast<std::size_t>(first_[a] + x) * total_ + first_[b] + y;
  }
  space space_;
  std::vector<int> first_;
  int total_ = 0;
  std::vector<char> met_;
};

/// What is missing from a list of rows; also names a row that holds a forbidden pair.
inline std::string missing(space const& s, std::vector<row> const& rows) {
  coverage c(s);
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!s.fits(rows[i])) text += "row " + std::to_string(i) + " holds a forbidden pair; ";
    c.add(rows[i]);
  }
  return text + c.missing();
}

/// A covering array, greedily: each row starts from an uncovered pair; deterministic for a seed.
inline std::vector<row> generate(space const& s, std::uint64_t seed) {
  coverage covered(s);
  std::vector<row> rows;
  auto const random = [&seed](int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((seed >> 33) % static_cast<std::uint64_t>(n));
  };
  auto const extend = [&](row r) {  // fills the open axes, best gain first
    for (int open = 0; open < s.axes(); ++open) {
      int best_axis = -1, best_level = -1, best = -1;
      for (int a = 0; a < s.axes(); ++a) {
        if (r[a] >= 0) continue;
        int const start = random(s.levels[a]);
        for (int i = 0; i < s.levels[a]; ++i) {
          int const x = (start + i) % s.levels[a];
          row tried = r;
          tried[a] = x;
          if (!s.fits(tried)) continue;
          int const gain = covered.gain(r, a, x);
          if (gain > best) best = gain, best_axis = a, best_level = x;
        }
      }
      if (best_axis < 0) break;
      r[best_axis] = best_level;
    }
    return r;
  };
  auto const fresh = [&](row const& r) {
    int n = 0;
    for (int a = 0; a < s.axes(); ++a) {
      for (int b = a + 1; b < s.axes(); ++b) n += covered.met(a, r[a], b, r[b]) ? 0 : 1;
    }
    return n;
  };
  for (int a = 0; a < s.axes(); ++a) {
    for (int b = a + 1; b < s.axes(); ++b) {
      for (int x = 0; x < s.levels[a]; ++x) {
        for (int y = 0; y < s.levels[b]; ++y) {
          if (!s.fits(a, x, b, y) || covered.met(a, x, b, y)) continue;
          row best;
          for (int attempt = 0; attempt < 8; ++attempt) {
            row r(s.levels.size(), -1);
            r[a] = x;
            r[b] = y;
            r = extend(r);
            bool whole = true;
            for (int const level : r) whole = whole && level >= 0;
            if (whole && (best.empty() || fresh(r) > fresh(best))) best = r;
          }
          if (best.empty()) continue;
          covered.add(best);
          rows.push_back(best);
        }
      }
    }
  }
  return rows;
}

}  // namespace testing::pairwise
