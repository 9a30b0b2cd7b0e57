// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where memory lives and which executor runs: `golden::side` is the host's, under nvcc a device's.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__CUDACC__)
#include <tieropt/tieropt.cuh>
#else
#include <tieropt/tieropt.hpp>
#endif

#include "runs.hpp"

namespace golden {

/// Plain vectors and the host executors.
class host_side {
 public:
  template <class T>
  using vector = std::vector<T>;
  /// Rounded parameters take thousands of tiny steps: there threads would only wait for each other.
  template <class Param>
  using executor = std::conditional_t<tieropt::storage<Param>::draws, tieropt::serial_executor,
                                      tieropt::host_executor>;

  template <class Param>
  executor<Param> make_executor() const {
    return {};
  }
  std::span<std::byte> make_workspace(std::size_t bytes) {
    workspace_.resize(bytes);
    return workspace_;
  }
  /// The steps enqueued so far are done.
  void wait() const {}
  /// One element of the workspace.
  template <class T>
  T read(T const* from) const {
    return *from;
  }

 private:
  std::vector<std::byte> workspace_;
};

#if defined(__CUDACC__)

inline void check(cudaError_t error, char const* call) {
  if (error != cudaSuccess) {
    throw library_error(std::string(call) + " failed: " + cudaGetErrorString(error));
  }
}

/// Memory that both sides reach.
template <class T>
struct managed_allocator {
  using value_type = T;

  managed_allocator() = default;
  template <class U>
  managed_allocator(managed_allocator<U> const&) {}

  T* allocate(std::size_t n) {
    T* p = nullptr;
    check(cudaMallocManaged(&p, n * sizeof(T)), "cudaMallocManaged");
    return p;
  }
  void deallocate(T* p, std::size_t) { cudaFree(p); }
  bool operator==(managed_allocator const&) const = default;
};

/// Managed buffers, a workspace that only the device reaches, and a stream of its own.
class device_side {
 public:
  template <class T>
  using vector = std::vector<T, managed_allocator<T>>;
  template <class Param>
  using executor = tieropt::cuda_executor;

  device_side() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  device_side(device_side const&) = delete;
  device_side& operator=(device_side const&) = delete;
  ~device_side() {
    cudaStreamSynchronize(stream_);
    cudaFree(workspace_);
    cudaStreamDestroy(stream_);
  }

  template <class Param>
  executor<Param> make_executor() const {
    return tieropt::cuda_executor{stream_};
  }
  std::span<std::byte> make_workspace(std::size_t bytes) {
    check(cudaMalloc(&workspace_, bytes), "cudaMalloc");
    return {static_cast<std::byte*>(workspace_), bytes};
  }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
  template <class T>
  T read(T const* from) const {
    T value;
    check(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    wait();
    return value;
  }

 private:
  cudaStream_t stream_ = nullptr;
  void* workspace_ = nullptr;
};

using side = device_side;

#else

using side = host_side;

#endif

}  // namespace golden
