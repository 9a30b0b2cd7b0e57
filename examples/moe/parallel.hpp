// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Independent tasks over the available threads, and panels of rows as tasks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace moe {

/// Rows of one task. Panels depend on the shape alone, so results do not depend on the thread
/// count.
inline constexpr std::int64_t token_panel = 256;
inline constexpr std::int64_t weight_panel = 64;

/// Calls f(0) … f(n - 1), each once; no two calls may write the same element.
template <class F> void for_each_task(std::int64_t n, F const& f) {
#ifdef _OPENMP
  #pragma omp parallel for schedule(dynamic, 1)
#endif
  for (std::int64_t i = 0; i < n; ++i) {
    f(i);
  }
}

/// Calls f(first, count) for consecutive panels of n_rows rows.
template <class F> void for_each_panel(std::int64_t n_rows, std::int64_t panel, F const& f) {
  for_each_task((n_rows + panel - 1) / panel, [&](std::int64_t i) {
    auto const first = i * panel;
    f(first, std::min(panel, n_rows - first));
  });
}

}  // namespace moe
