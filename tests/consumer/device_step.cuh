// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One step of one matrix on a device. What the device consumers compile.

#pragma once

#include <tieropt/tieropt.cuh>

struct device_consumer_tier : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
};

/// One step on a 4 x 5 matrix of ones with a gradient of one.
/// @return the first weight afterwards, -1 when a call was refused
inline float device_step() {
  struct buffers {
    float param[20], grad[20], momentum[20], row[4], col[5];
    std::int64_t step[1];
  };
  buffers* b = nullptr;
  void* memory = nullptr;
  if (cudaMallocManaged(&b, sizeof(buffers)) != cudaSuccess) return -1;
  *b = {};
  for (int i = 0; i < 20; ++i) b->param[i] = b->grad[i] = 1;
  tieropt::bound_tensor<device_consumer_tier, float> const bound[] = {
      {.param = tieropt::view(b->param, 4, 5),
       .grad = tieropt::view(b->grad, 4, 5),
       .momentum = tieropt::view(b->momentum, 4, 5),
       .variance = {.row = tieropt::view(b->row, 4), .col = tieropt::view(b->col, 5)},
       .step = tieropt::view(b->step, 1)}};
  cuda::std::span const range{bound};
  auto const plan = tieropt::make_plan<tieropt::tier_policy<device_consumer_tier>>(range);
  if (!plan || cudaMalloc(&memory, plan->workspace_bytes()) != cudaSuccess) return -1;
  cuda::std::span<std::byte> const workspace{static_cast<std::byte*>(memory),
                                             plan->workspace_bytes()};
  tieropt::cuda_executor const executor{nullptr};
  tieropt::hyper const hypers[] = {{.lr = 0.25}};
  if (!prepare(executor, *plan, workspace)) return -1;
  if (!enqueue(executor, *plan, workspace, hypers)) return -1;
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  float const weight = b->param[0];
  cudaFree(memory);
  cudaFree(b);
  return weight;
}
