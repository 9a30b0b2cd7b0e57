// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The learning rate of a step.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace moe {

/// What follows the warm-up. wsd: warm-up, stable, decay.
enum class schedule { constant, cosine, linear, wsd };
inline constexpr std::array<std::string_view, 4> schedule_names{"constant", "cosine", "linear",
                                                                "wsd"};
constexpr std::string_view name_of(schedule s) {
  return schedule_names[static_cast<std::size_t>(s)];
}

/// A share of the steps in percent, to the nearest, at least one.
constexpr std::int64_t part_of(std::int64_t steps, int percent) {
  return std::max<std::int64_t>(1, (percent * steps + 50) / 100);
}

/// Linear warm-up over 3 % of the steps; then the peak for ever (constant), a cosine to zero, a
/// line to zero, or the peak and a line to zero over the last 20 % (wsd). Step counts from 1.
inline double learning_rate(schedule s, double peak, std::int64_t step, std::int64_t steps) {
  auto const warm_up = part_of(steps, 3);
  if (step <= warm_up) return peak * static_cast<double>(step) / static_cast<double>(warm_up);
  auto const left = [&](std::int64_t decay) {  // 1 before the last `decay` steps, 0 at the end
    return static_cast<double>(std::min(steps - step, decay)) / static_cast<double>(decay);
  };
  switch (s) {
    case schedule::constant: return peak;
    case schedule::cosine:
      return peak * (1 - std::cos(std::numbers::pi * left(steps - warm_up))) / 2;
    case schedule::linear: return peak * left(steps - warm_up);
    case schedule::wsd: return peak * left(std::min(part_of(steps, 20), steps - warm_up));
  }
  return peak;
}

}  // namespace moe
