// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of Adafactor, without momentum and with one.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_adafactor() {
  register_tier<tieropt::adafactor::tensor>("all", "adafactor");
  register_tier<tieropt::adafactor::with_momentum>("all", "adafactor_momentum");
}

}  // namespace bench
