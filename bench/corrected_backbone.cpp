// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of the corrected backbone tier.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_corrected_backbone() {
  register_tier<tieropt::skewadam::corrected::backbone>("backbone", "corrected");
}

}  // namespace bench
