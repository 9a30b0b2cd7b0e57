// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of Muon, and of the matrix products that its tests bring.

#include "support/kernels.cuh"
#include "support/plain_gemm.hpp"

#include <tieropt/policy/muon.hpp>

template struct testing::kernels<tieropt::muon::matrix, tieropt::bf16>;
template void testing::keep_launch<testing::plain_product<tieropt::bf16>>();
