// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of the corrected router tier.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_corrected_router() {
  register_tier<tieropt::skewadam::corrected::router>("router", "corrected");
}

}  // namespace bench
