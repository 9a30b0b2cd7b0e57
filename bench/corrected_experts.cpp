// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of the corrected expert tier.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_corrected_experts() {
  register_tier<tieropt::skewadam::corrected::experts>("experts", "corrected");
}

}  // namespace bench
