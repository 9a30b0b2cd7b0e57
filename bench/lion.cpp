// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of Lion.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_lion() { register_tier<tieropt::lion::tensor>("all", "lion"); }

}  // namespace bench
