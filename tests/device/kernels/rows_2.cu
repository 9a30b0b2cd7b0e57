// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the covering array: part 2.

#include "support/kernels.cuh"
#include "support/tier_rows.hpp"

template struct testing::row_kernels<testing::rows::device[10]>;
template struct testing::row_kernels<testing::rows::device[11]>;
template struct testing::row_kernels<testing::rows::device[12]>;
template struct testing::row_kernels<testing::rows::device[13]>;
template struct testing::row_kernels<testing::rows::device[14]>;
template struct testing::row_kernels<testing::rows::device[15]>;
template struct testing::row_kernels<testing::rows::device[16]>;
template struct testing::row_kernels<testing::rows::device[17]>;
template struct testing::row_kernels<testing::rows::device[18]>;
template struct testing::row_kernels<testing::rows::device[19]>;
