// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of tiers, tunings and an element type that only tests have.

#include "support/kernels.cuh"
#include "support/own_parts.hpp"

#include <tieropt/policy/skewadam.hpp>

namespace corrected = tieropt::skewadam::corrected;
using tieropt::bf16;

template struct testing::kernels<testing::factored_means, float>;
template struct testing::kernels<testing::plain_norm, float>;
template struct testing::kernels<testing::signs, float>;
template struct testing::kernels<corrected::experts, testing::framework_bf16>;
template struct testing::kernels<testing::tuned<corrected::backbone, 1, 1>, bf16>;
template struct testing::kernels<testing::tuned<corrected::backbone, 2, 4>, bf16>;
template struct testing::kernels<testing::tuned<corrected::backbone, 4, 2>, bf16>;
template struct testing::kernels<testing::tuned<corrected::router, 1, 4>, float>;
template struct testing::kernels<testing::tuned<corrected::router, 2, 1>, float>;
