// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a variant is named, validated once, and timed against a memcpy and hand-written loops.
///
/// Time on a shared machine drifts. So a step is never compared with a copy of another minute:
/// rounds of a few steps take turns with rounds of memcpy calls that move as many bytes as the plan
/// says the step moves (read and written counted), on the same threads and over as much memory,
/// and, where there are some, with rounds of hand-written loops on the same buffers. All rates and
/// ratios are of the fastest step against the fastest copy (the fastest hand-written step) of that
/// one interleaved run, from about as many of each; Google Benchmark's own Time column is the mean.
#pragma once

#include "memory.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace bench {

/// Tensors of one variant: each is (E, R, C).
struct workload {
  std::int64_t matrices;     ///< E
  std::int64_t rows;         ///< R
  std::int64_t cols;         ///< C
  std::int64_t tensors = 1;  ///< how many

  /// Elements of all tensors. @return count
  std::int64_t elements() const { return tensors * matrices * rows * cols; }
  /// The axes of a name. @return "Matrices:E/Rows:R/Cols:C", and tensors if there are many
  std::string name() const {
    return "Matrices:" + std::to_string(matrices) + "/Rows:" + std::to_string(rows) +
           "/Cols:" + std::to_string(cols) +
           (tensors == 1 ? "" : "/Tensors:" + std::to_string(tensors));
  }
};

/// Where each variant is run: bound by memory, bound by caches, odd, a vocabulary's, many and
/// small.
inline constexpr workload workloads[] = {
    {16, 2048, 4096}, {1, 128, 4096}, {1, 257, 1129}, {1, 128, 50257}, {1, 64, 64, 1000}};

/// What a step of some variant costs besides time.
struct step_cost {
  std::int64_t parameters;   ///< updated
  std::int64_t traffic;      ///< bytes that a streaming step reads and writes
  std::int64_t working_set;  ///< bytes of parameters, gradients and states
  std::int64_t launches;     ///< of the executor, 0 for hand-written loops
};

/// The fastest times of one variant; kept while Google Benchmark calls it again and again.
struct fastest {
  double step = std::numeric_limits<double>::infinity();  ///< seconds
  double copy = std::numeric_limits<double>::infinity();  ///< seconds
  double hand = std::numeric_limits<double>::infinity();  ///< seconds
};

/// Whether any variant was skipped as wrong: the program's exit status.
inline bool any_wrong = false;

/// Times steps against copies and hand-written steps, as the head of this file says.
/// @tparam Step callable @tparam Hand callable
/// @param[in,out] state of Google Benchmark
/// @param[in,out] best the variant's fastest times
/// @param[in] cost of a step
/// @param[in] step one step
/// @param[in] hand one hand-written step
/// @param[in] has_hand whether there is one
template <class Step, class Hand>
void time_interleaved(benchmark::State& state, fastest& best, step_cost const& cost,
                      Step const& step, Hand const& hand, bool has_hand) {
  copier const copies{cost.working_set};
  auto const seconds = [](auto const& f) {
    auto const begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  auto const round = std::clamp<std::int64_t>((std::int64_t{32} << 20) / cost.traffic, 1, 32);
  auto const take_turns = [&] {
    for (std::int64_t k = 0; k < round; ++k) {
      best.copy = std::min(best.copy, seconds([&] { copies.run(cost.traffic); }));
    }
    for (std::int64_t k = 0; has_hand && k < round; ++k) {
      best.hand = std::min(best.hand, seconds(hand));
    }
    for (std::int64_t k = 0; k < round; ++k) best.step = std::min(best.step, seconds(step));
  };
  std::int64_t i = 0;
  for (auto _ : state) {
    if (i++ % round == 0) take_turns();
    double const t = seconds(step);
    best.step = std::min(best.step, t);
    state.SetIterationTime(t);
  }
  take_turns();

  auto const plain = [&](char const* name, double x) { state.counters[name] = x; };
  auto const n = static_cast<double>(cost.parameters), bytes = static_cast<double>(cost.traffic);
  plain("params/s", n / best.step);
  state.counters["bytes/s"] = benchmark::Counter(bytes / best.step, benchmark::Counter::kDefaults,
                                                 benchmark::Counter::kIs1000);
  plain("bytes/param", bytes / n);
  plain("launches", cost.launches);
  plain("of_memcpy", best.copy / best.step);
  plain("of_hand", has_hand ? best.hand / best.step : std::numeric_limits<double>::quiet_NaN());
}

}  // namespace bench
