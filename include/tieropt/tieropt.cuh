// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything of tieropt.hpp, and the executor for CUDA streams: for nvcc.
#pragma once

#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/tieropt.hpp>
