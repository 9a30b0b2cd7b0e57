// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the device's array of storage: part 4.

#include "support/storage_kernels.cuh"

template struct testing::stored::storage_kernels<testing::stored::names::device[15]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[16]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[17]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[18]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[19]>;
