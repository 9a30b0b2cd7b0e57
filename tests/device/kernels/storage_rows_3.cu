// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the device's array of storage: part 3.

#include "support/storage_kernels.cuh"

template struct testing::stored::storage_kernels<testing::stored::names::device[10]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[11]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[12]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[13]>;
template struct testing::stored::storage_kernels<testing::stored::names::device[14]>;
