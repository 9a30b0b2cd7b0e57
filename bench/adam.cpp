// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Benchmarks of Adam with L2 regularisation.
#include "tiers.hpp"
#include "variants.hpp"

namespace bench {

void register_adam() { register_tier<tieropt::adam::tensor>("all", "adam"); }

}  // namespace bench
