// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// step_object.cpp on a device.

#include <tieropt/tieropt.cuh>

#include "steps.hpp"

extern "C" __attribute__((visibility("default"))) void const* run_steps(std::size_t* n_bytes) {
  void *memory = nullptr, *workspace = nullptr;
  cudaStream_t stream = nullptr;
  *n_bytes = sizeof(buffers);
  if (cudaMallocManaged(&memory, sizeof(buffers)) != cudaSuccess) return nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess) return nullptr;
  std::memset(memory, 0, sizeof(buffers));
  auto const make_workspace = [&](std::size_t bytes) {
    bool const made = cudaMalloc(&workspace, bytes) == cudaSuccess;
    return cuda::std::span<std::byte>{static_cast<std::byte*>(workspace), made ? bytes : 0};
  };
  bool waited = true;
  auto const wait = [&] { waited = waited && cudaStreamSynchronize(stream) == cudaSuccess; };
  bool const stepped = take_steps(tieropt::cuda_executor{stream}, *static_cast<buffers*>(memory),
                                  make_workspace, wait);
  cudaFree(workspace);
  cudaStreamDestroy(stream);
  return stepped && waited ? memory : nullptr;  // the caller reads it until the process ends
}
