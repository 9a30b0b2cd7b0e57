// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything of tieropt.hpp, and what needs the CUDA runtime: for nvcc.
#pragma once

#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/plan/device_schedule.cuh>
#include <tieropt/tieropt.hpp>
