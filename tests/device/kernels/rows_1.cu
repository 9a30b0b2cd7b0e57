// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the covering array: part 1.

#include "support/kernels.cuh"
#include "support/tier_rows.hpp"

template struct testing::row_kernels<testing::rows::device[0]>;
template struct testing::row_kernels<testing::rows::device[1]>;
template struct testing::row_kernels<testing::rows::device[2]>;
template struct testing::row_kernels<testing::rows::device[3]>;
template struct testing::row_kernels<testing::rows::device[4]>;
template struct testing::row_kernels<testing::rows::device[5]>;
template struct testing::row_kernels<testing::rows::device[6]>;
template struct testing::row_kernels<testing::rows::device[7]>;
template struct testing::row_kernels<testing::rows::device[8]>;
template struct testing::row_kernels<testing::rows::device[9]>;
