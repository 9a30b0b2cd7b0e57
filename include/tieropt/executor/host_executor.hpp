// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bodies on the CPU: blocks in parallel through Thrust, or one after the other. Layer: executor.
#pragma once

// Thrust needs to be told which system runs its device policies when no CUDA compiler is at work.
#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM)
#if defined(_OPENMP)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_OMP
#else
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
#endif

#include <tieropt/block/host_block.hpp>
#include <tieropt/executor/executor.hpp>

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#if defined(__CUDACC__) && defined(_OPENMP)
#include <thrust/system/omp/execution_policy.h>
#elif defined(__CUDACC__)
#include <thrust/system/cpp/execution_policy.h>
#endif

#include <cstring>

namespace tieropt {
inline namespace v0_1 {

/// Runs the blocks of a launch in parallel on a Thrust host system, and waits for them.
/// @tparam Policy a Thrust execution policy of a host system, such as decltype(thrust::tbb::par)
template <class Policy>
class host_executor_on {
 public:
  /// @param[in] policy the Thrust policy
  TIEROPT_HOST explicit host_executor_on(Policy const& policy) : policy_{policy} {}
  /// The policy's default object.
  TIEROPT_HOST host_executor_on() = default;

  /// Copies. @param[out] to destination @param[in] from source @param[in] bytes size @return ok
  TIEROPT_HOST status upload(void* to, void const* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
    return {};
  }
  /// Runs all blocks. @tparam Body a body @param[in] blocks how many @param[in] body the body
  /// @return ok
  template <block_body Body>
  TIEROPT_HOST status launch(int64_t blocks, Body const& body) const {
    if (blocks == 1) {  // no threads to wake
      run_on_host(body, 0, forward_order{});
      return {};
    }
    thrust::for_each_n(policy_, thrust::counting_iterator<int64_t>{0}, blocks,
                       run_block<Body>{body});
    return {};
  }

 private:
  // Hidden, and with it what Thrust makes of it.
  template <class Body>
  struct [[gnu::visibility("hidden")]] run_block {
    Body body;
    TIEROPT_HOST void operator()(int64_t index) const { run_on_host(body, index, forward_order{}); }
  };
  Policy policy_;
};

/// The system that THRUST_DEVICE_SYSTEM names (OMP, TBB or CPP; OpenMP by default where it is on,
/// one thread else). A CUDA compiler takes OpenMP or one thread.
#if !defined(__CUDACC__)
using host_system = thrust::device_system_tag;
#elif defined(_OPENMP)
using host_system = thrust::omp::tag;
#else
using host_system = thrust::cpp::tag;
#endif

/// The parallel executor.
using host_executor = host_executor_on<host_system>;

/// Runs the blocks on the calling thread, first to last.
struct serial_executor {
  /// Copies. @param[out] to destination @param[in] from source @param[in] bytes size @return ok
  TIEROPT_HOST status upload(void* to, void const* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
    return {};
  }
  /// Runs all blocks. @tparam Body a body @param[in] blocks how many @param[in] body the body
  /// @return ok
  template <block_body Body>
  TIEROPT_HOST status launch(int64_t blocks, Body const& body) const {
    for (int64_t b = 0; b < blocks; ++b) run_on_host(body, b, forward_order{});
    return {};
  }
};

/// Runs blocks, groups, items last to first and slots in a given order: for tests of bodies.
struct shuffled_executor {
  int const* order;  ///< a permutation of 0 .. 255

  /// Copies. @param[out] to destination @param[in] from source @param[in] bytes size @return ok
  TIEROPT_HOST status upload(void* to, void const* from, size_t bytes) const {
    std::memcpy(to, from, bytes);
    return {};
  }
  /// Runs all blocks. @tparam Body a body @param[in] blocks how many @param[in] body the body
  /// @return ok
  template <block_body Body>
  TIEROPT_HOST status launch(int64_t blocks, Body const& body) const {
    for (int64_t b = blocks; b-- > 0;) run_on_host(body, b, permuted_order{order});
    return {};
  }
};

}  // namespace v0_1
}  // namespace tieropt
