// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the device's array of storage: part 1.

#include "support/storage_kernels.cuh"

template struct testing::stored::storage_kernels<testing::stored::names::device[0]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[1]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[2]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[3]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[4]>;
