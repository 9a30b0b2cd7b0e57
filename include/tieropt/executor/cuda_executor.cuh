// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bodies on a CUDA stream: the library's one kernel. Layer: executor.
#pragma once

#include <tieropt/block/device_block.cuh>
#include <tieropt/executor/executor.hpp>

#include <cuda_runtime_api.h>

#include <cstring>

namespace tieropt {
inline namespace v0_1 {

/// Shared memory that a kernel may have without asking for more.
inline constexpr size_t static_shared_bytes = 48 * 1024;

/// The mapping of a body. @tparam Body a body @return without zeros
template <class Body>
consteval tuning tuning_of() {
  return Body::tune.or_else(8, 2);
}

/// One block of a body.
/// @tparam Body a body
/// @param[in] body the body, uniform in the grid
template <class Body>
TIEROPT_KERNEL void __launch_bounds__(tuning_of<Body>().groups * 32,
                                      tuning_of<Body>().blocks_per_sm)
    run_on_device(Body const __grid_constant__ body) {
  using block = device_block<Body::tune.groups, tuning_of<Body>().per_lane>;
  static_assert(thread_block<block>);
  if constexpr (sizeof(typename Body::storage) > static_shared_bytes) {
    extern __shared__ uint4 tieropt_storage[];
    body(block{tieropt_storage});
  } else {
    __shared__ alignas(16) byte storage[sizeof(typename Body::storage)];
    body(block{storage});
  }
}

/// Enqueues on a stream: never waits for the device, allocates or uses another stream.
class cuda_executor {
 public:
  static constexpr int64_t max_blocks = 0x7fffffff;  ///< of a grid

  /// @param[in] stream the caller's stream
  TIEROPT_HOST explicit cuda_executor(cudaStream_t stream) : stream_{stream} {}

  /// The caller's stream. @return stream
  TIEROPT_HOST cudaStream_t stream() const { return stream_; }

  /// Copies from host memory, which may change on return.
  ///
  /// In pieces from the stack, which the runtime stages without waiting for the stream: a copy
  /// straight from pinned memory would read it later.
  /// @param[out] to device memory
  /// @param[in] from host memory
  /// @param[in] bytes size
  /// @return errc::capturing while the stream captures (a replay would read stale memory),
  ///   errc::device
  TIEROPT_HOST status upload(void* to, void const* from, size_t bytes) const {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaError_t const asked = cudaStreamIsCapturing(stream_, &capture);
    if (asked == cudaErrorStreamCaptureImplicit || capture != cudaStreamCaptureStatusNone) {
      return {.code = errc::capturing, .native = static_cast<int>(asked)};
    }
    if (asked != cudaSuccess) return from_native(asked);
    byte staged[16 * 1024];
    for (size_t at = 0; at < bytes; at += sizeof staged) {
      size_t const n = bytes - at < sizeof staged ? bytes - at : sizeof staged;
      std::memcpy(staged, static_cast<byte const*>(from) + at, n);
      status const s = from_native(
          cudaMemcpyAsync(static_cast<byte*>(to) + at, staged, n, cudaMemcpyHostToDevice, stream_));
      if (!s) return s;
    }
    return {};
  }

  /// Launches a body: one thread block per block.
  /// @tparam Body a body
  /// @param[in] blocks how many, 0 for nothing
  /// @param[in] body the body
  /// @return errc::too_large beyond max_blocks, errc::device
  template <block_body Body>
  TIEROPT_HOST status launch(int64_t blocks, Body const& body) const {
    if (blocks <= 0) return {};
    if (blocks > max_blocks) return {.code = errc::too_large};
    constexpr size_t shared = sizeof(typename Body::storage);
    constexpr size_t dynamic = shared > static_shared_bytes ? shared : 0;
    if constexpr (dynamic != 0) {
      cudaError_t const grown =
          cudaFuncSetAttribute(run_on_device<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(dynamic));
      if (grown != cudaSuccess) return from_native(grown);
    }
    // The launch's own return value: cudaGetLastError would report, and clear, what others left.
    void* arguments[] = {const_cast<Body*>(&body)};
    return from_native(cudaLaunchKernel(run_on_device<Body>, dim3(static_cast<unsigned>(blocks)),
                                        dim3(Body::tune.groups * 32), arguments, dynamic, stream_));
  }

 private:
  TIEROPT_HOST static status from_native(cudaError_t error) {
    if (error == cudaSuccess) return {};
    return {.code = errc::device, .native = static_cast<int>(error)};
  }

  cudaStream_t stream_;
};

}  // namespace v0_1
}  // namespace tieropt
