// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Independent tasks over the available threads.
///
/// Tasks are cut by the shapes alone and write disjoint elements: results do not depend on the
/// number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace moe {

/// Calls f(0) … f(n - 1), each once.
template <class F>
void for_each_task(std::int64_t n, F const& f) {
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
  for (std::int64_t i = 0; i < n; ++i) f(i);
}

/// Calls f(first, count) for consecutive panels of n elements.
template <class F>
void for_each_panel(std::int64_t n, std::int64_t panel, F const& f) {
  for_each_task((n + panel - 1) / panel,
                [&](auto i) { f(i * panel, std::min(panel, n - i * panel)); });
}

/// Tasks of different kinds, collected first and run together.
class task_list {
 public:
  template <class F>
  void add(F f) {
    tasks_.emplace_back(std::move(f));
  }
  void run() {
    for_each_task(static_cast<std::int64_t>(tasks_.size()),
                  [&](auto i) { tasks_[static_cast<std::size_t>(i)](); });
    tasks_.clear();
  }

 private:
  std::vector<std::function<void()>> tasks_;
};

}  // namespace moe
