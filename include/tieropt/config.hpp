// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one place that asks which compiler this is. Layer: root.
#pragma once

#include <cstddef>
#include <cstdint>

#if __cplusplus < 202002L && !defined(TIEROPT_DOXYGEN)
#error "[tieropt-config-standard] tieropt needs C++20: compile with -std=c++20"
#endif

#if defined(__FAST_MATH__)
#error \
    "[tieropt-config-fast-math] tieropt needs IEEE arithmetic on the host: drop -ffast-math (or -Ofast) here"
#endif

#if defined(__x86_64__) && !defined(__FMA__) && !defined(TIEROPT_NO_FMA_NOTE)
#pragma message( \
    "tieropt: without -mfma (or -march=x86-64-v3) every fused multiply-add is a library call")
#endif

// A hidden template over a type of an unnamed namespace has nothing to hide: harmless, and said for
// every tier of a user's that lies in one.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 1407
#endif

/// Marks a function that runs on both sides, is always inlined and never leaves its shared object.
#if defined(__CUDACC__)
#define TIEROPT_HOST_DEVICE \
  __host__ __device__ __forceinline__ __attribute__((visibility("hidden")))
#else
#define TIEROPT_HOST_DEVICE inline __attribute__((always_inline, visibility("hidden")))
#endif

/// Marks a host function of the library: shared objects with different releases or flags keep
/// their own copy.
#define TIEROPT_HOST inline __attribute__((visibility("hidden")))

/// Marks the kernel: hidden like every function of the library.
#if defined(__CUDACC__)
#define TIEROPT_KERNEL __global__ __attribute__((visibility("hidden")))
#endif

/// Unrolls the loop that follows, on the device.
#if defined(__CUDA_ARCH__)
#define TIEROPT_UNROLL _Pragma("unroll")
#else
#define TIEROPT_UNROLL
#endif

/// Keeps the loop that follows a loop, on the device.
#if defined(__CUDA_ARCH__)
#define TIEROPT_NO_UNROLL _Pragma("unroll 1")
#else
#define TIEROPT_NO_UNROLL
#endif

/// Says that the iterations of the loop that follows are independent, on the host.
#if defined(__CUDA_ARCH__)
#define TIEROPT_IVDEP
#elif defined(__clang__)
#define TIEROPT_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TIEROPT_IVDEP _Pragma("GCC ivdep")
#endif

/// Everything of the library; the inline version keeps two releases apart in one process.
namespace tieropt {
inline namespace v0_1 {

using std::byte;
using std::int64_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

/// Smallest integer that is not below a / b, for a >= 0 and b > 0.
/// @param[in] a dividend
/// @param[in] b divisor
/// @return the quotient, rounded up
TIEROPT_HOST_DEVICE constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The smaller of two counts; the first one fits an int when the second does.
/// @param[in] a a count
/// @param[in] b a bound that fits an int
/// @return min(a, b), and 0 when a is negative
TIEROPT_HOST_DEVICE constexpr int clamp_count(int64_t a, int b) {
  return a < 0 ? 0 : a < b ? static_cast<int>(a) : b;
}

}  // namespace v0_1
}  // namespace tieropt
