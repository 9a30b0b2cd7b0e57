// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the user sees: a progress bar, the closing table, curves as CSV.
#pragma once

#include "moe/errors.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moe {

/// printf into a string.
template <class... Args>
std::string format(char const* pattern, Args... args) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, pattern, args...)), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern, args...);
  return text;
}

/// Bytes in the largest binary unit that leaves at least 1.
inline std::string readable_bytes(double bytes) {
  char const* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int u = 0;
  for (; bytes >= 1024 && u < 4; ++u) bytes /= 1024;
  return format(u == 0 ? "%.0f %s" : "%.2f %s", bytes, units[u]);
}

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One line on stderr: rewritten in place on a terminal, else a new one now and then.
class progress_bar {
 public:
  /// @param[in] lines how many new ones, evenly over the steps
  progress_bar(std::string_view name, std::string_view unit, std::int64_t steps, int lines)
      : name_{name}, unit_{unit}, steps_{steps}, lines_{lines}, start_{seconds_now()} {}

  void show(std::int64_t step, double loss, double per_second) {
    double const now = seconds_now();
    bool const last = step == steps_;
    bool const due =
        terminal_ ? now - shown_ > 0.1 : step * lines_ / steps_ != (step - 1) * lines_ / steps_;
    if (!last && !due) return;
    shown_ = now;
    int const width = 24;
    auto const filled = static_cast<std::size_t>(step * width / steps_);
    auto const left = static_cast<int>((now - start_) / static_cast<double>(step) *
                                       static_cast<double>(steps_ - step));
    std::string const bar = std::string(filled, '=') + std::string(width - filled, ' ');
    std::fprintf(stderr, "%s%-24s [%s] %lld/%lld  loss %.3f  %.0f %ss/s  %d:%02d left%s",
                 terminal_ ? "\r" : "", name_.c_str(), bar.c_str(), static_cast<long long>(step),
                 static_cast<long long>(steps_), loss, per_second, unit_.c_str(), left / 60,
                 left % 60, terminal_ ? (last ? "\x1b[K\n" : "\x1b[K") : "\n");
    std::fflush(stderr);
  }

 private:
  std::string name_, unit_;
  std::int64_t steps_, lines_;
  double start_;
  double shown_ = 0;
  bool terminal_ = isatty(STDERR_FILENO) == 1;
};

/// Rows of text, columns as wide as they need; the first column flush left, the others right.
class text_table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print(std::FILE* to) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (auto const& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (std::size_t i = 0; i < widths.size(); ++i) {
        std::string const gap(widths[i] - rows_[r][i].size(), ' ');
        line += (i == 0 ? rows_[r][i] + gap : "  " + gap + rows_[r][i]);
      }
      std::fprintf(to, "%s\n", line.c_str());
      if (r == 0) std::fprintf(to, "%s\n", std::string(line.size(), '-').c_str());
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Opens a CSV file and writes its head.
inline std::ofstream open_csv(std::filesystem::path const& path, std::string_view head) {
  std::ofstream file(path);
  file << head << '\n';
  if (!file.flush()) throw input_error(path.string() + ": cannot be written");
  return file;
}

}  // namespace moe
