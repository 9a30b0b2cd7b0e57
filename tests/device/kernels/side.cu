// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory and stream of the tests that run on a device.

#include "support/kernels.cuh"

#include <cstdio>
#include <cstdlib>

namespace testing {

namespace {

/// Ends the program when the runtime fails: nothing after it would mean anything.
void demand(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

}  // namespace

void* allocate_managed(std::size_t bytes) {
  void* memory = nullptr;
  demand(cudaMallocManaged(&memory, bytes));
  return memory;
}
void* allocate_device(std::size_t bytes) {
  void* memory = nullptr;
  demand(cudaMalloc(&memory, bytes > 0 ? bytes : 1));
  return memory;
}
void deallocate(void* memory) { demand(cudaFree(memory)); }
void copy(void* to, void const* from, std::size_t bytes) {
  demand(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

cudaStream_t stream() {
  static cudaStream_t const own = [] {
    cudaStream_t s = nullptr;
    demand(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }();
  return own;
}
tieropt::status wait() {
  cudaError_t const error = cudaStreamSynchronize(stream());
  if (error == cudaSuccess) return {};
  return {.code = tieropt::errc::device, .native = static_cast<int>(error)};
}

tieropt::status executor::upload(void* to, void const* from, std::size_t bytes) const {
  tieropt::status const s = tieropt::cuda_executor{stream()}.upload(to, from, bytes);
  return s ? wait() : s;
}

}  // namespace testing
