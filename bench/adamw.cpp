// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of AdamW from the same parts.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_adamw() { register_tier<tieropt::adamw::tensor>("all", "adamw"); }

}  // namespace bench
