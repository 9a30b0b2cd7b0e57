// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The schedule that suits a CUDA device. Layer: plan.
#pragma once

#include <tieropt/plan/schedule.hpp>

#include <cuda/std/expected>

#include <cuda_runtime_api.h>

namespace tieropt {
inline namespace v0_1 {

/// Lets the planner choose for a device: automatic() with five sixths of its L2, since tables,
/// partial sums and weights on their way out want room too.
/// @param[in] device the runtime's number of the device
/// @return the schedule, for make_plan; or errc::device
TIEROPT_HOST cuda::std::expected<schedule, status> schedule_for_device(int device) {
  int l2 = 0;
  cudaError_t const error = cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device);
  if (error != cudaSuccess) {
    return cuda::std::unexpected(status{errc::device, static_cast<int>(error)});
  }
  return automatic(int64_t{l2} / 6 * 5);
}

}  // namespace v0_1
}  // namespace tieropt
