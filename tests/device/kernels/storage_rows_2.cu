// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the device's array of storage: part 2.

#include "support/storage_kernels.cuh"

template struct testing::stored::storage_kernels<testing::stored::names::device[5]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[6]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[7]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[8]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[9]>;
