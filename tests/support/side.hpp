// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a test runs: on the host or, with TIEROPT_TEST_DEVICE, the same source on a device.
#pragma once

#include <tieropt/executor/gemm.hpp>
#if !defined(TIEROPT_TEST_DEVICE)
#include <tieropt/executor/host_executor.hpp>
#endif

#include <cuda/std/span>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace testing {

#if defined(TIEROPT_TEST_DEVICE)

inline constexpr bool on_device = true;

// What needs the CUDA runtime is in side.cu, what needs nvcc in kernels.cuh.
void* allocate_managed(std::size_t bytes);  // an allocation for each call: neighbours are watched
void* allocate_device(std::size_t bytes);
void deallocate(void* memory);
void copy(void* to, void const* from, std::size_t bytes);  // between any two places

/// Memory that both sides see.
template <class T>
struct allocator {
  using value_type = T;
  allocator() = default;
  template <class U>
  allocator(allocator<U> const&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(allocate_managed(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { testing::deallocate(memory); }
  friend bool operator==(allocator, allocator) { return true; }
};

/// Launches on a stream of its own, and waits. Kernels are those that kernels.cuh was asked for.
struct executor {
  tieropt::status upload(void* to, void const* from, std::size_t bytes) const;
  template <tieropt::block_body Body>
  tieropt::status launch(tieropt::int64_t blocks, Body const& body) const;
};

#else

inline constexpr bool on_device = false;
using executor = tieropt::serial_executor;
template <class T>
using allocator = std::allocator<T>;
inline void* allocate_device(std::size_t bytes) { return ::operator new(bytes); }
inline void deallocate(void* memory) { ::operator delete(memory); }
inline void copy(void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

#endif

/// What bodies read and write.
template <class T>
using vector = std::vector<T, allocator<T>>;

/// Whether an executor's bodies run where testing::executor's do.
template <class X>
inline constexpr bool runs_there = std::is_base_of_v<executor, X>;
template <class X, class Gemm>
inline constexpr bool runs_there<tieropt::gemm_executor<X, Gemm>> = runs_there<X>;

/// Scratch memory where the bodies of an executor, of the host or derived from testing::executor,
/// read and perhaps nobody else.
class scratch {
 public:
  template <class X>
  scratch(X const&, std::size_t bytes)
      : memory_{runs_there<X> ? allocate_device(bytes) : ::operator new(bytes),
                runs_there<X> ? deallocate : [](void* p) { ::operator delete(p); }},
        size_{bytes} {}
  explicit scratch(std::size_t bytes) : scratch{executor{}, bytes} {}
  operator cuda::std::span<std::byte>() { return {static_cast<std::byte*>(memory_.get()), size_}; }
  /// A copy that the host can read.
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(size_);
    copy(all.data(), memory_.get(), size_);
    return all;
  }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;
  std::size_t size_;
};

/// A value in scratch memory.
template <class T>
T read(T const* place) {
  T value;
  copy(&value, place, sizeof value);
  return value;
}

}  // namespace testing
