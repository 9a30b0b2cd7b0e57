// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The learning rate of a step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace moe {

/// Linear warm-up over 3 % of the steps, then a cosine to zero; step counts from 1.
inline double learning_rate(double peak, std::int64_t step, std::int64_t steps) {
  auto const warm_up = std::max<std::int64_t>(1, (3 * steps + 50) / 100);
  if (step <= warm_up) return peak * static_cast<double>(step) / static_cast<double>(warm_up);
  double const way = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
  return peak * (1 + std::cos(std::numbers::pi * way)) / 2;
}

}  // namespace moe
