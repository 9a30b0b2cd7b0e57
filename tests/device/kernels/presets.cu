// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the presets that tests run.

#include "support/kernels.cuh"

#include <tieropt/policy/adamw.hpp>
#include <tieropt/policy/skewadam.hpp>

namespace corrected = tieropt::skewadam::corrected;
namespace published = tieropt::skewadam::published;
using tieropt::bf16;
using tieropt::fp16;

template struct testing::kernels<corrected::backbone, bf16>;
template struct testing::kernels<corrected::backbone, float>;
template struct testing::kernels<corrected::backbone, float, bf16>;
template struct testing::kernels<corrected::experts, bf16>;
template struct testing::kernels<corrected::experts, float>;
template struct testing::kernels<corrected::router, float>;
template struct testing::kernels<corrected::router, float, bf16>;
template struct testing::kernels<published::backbone, float>;
template struct testing::kernels<published::backbone, bf16, float>;
template struct testing::kernels<published::experts, bf16>;
template struct testing::kernels<tieropt::adamw::tensor, float>;
template struct testing::kernels<tieropt::adamw::tensor, bf16>;
template struct testing::kernels<tieropt::adamw::tensor, bf16, float>;
