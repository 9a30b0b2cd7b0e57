// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of the published backbone tier.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_published_backbone() {
  register_tier<tieropt::skewadam::published::backbone>("backbone", "published");
}

}  // namespace bench
