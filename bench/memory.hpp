// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that outlives a variant, so that its pages are there before anything is timed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace bench {

/// Threads that the next parallel loop will run on. @return 1 without OpenMP
inline int n_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/// Sets the threads of the loops to come. @param[in] n threads; of no effect without OpenMP
inline void use_threads([[maybe_unused]] int n) {
#if defined(_OPENMP)
  omp_set_num_threads(n);
#endif
}

/// A block of memory that grows and is never given back.
class pool {
 public:
  /// Makes room and forgets what was carved. @param[in] bytes in all, padding of carve() included
  void reserve(std::size_t bytes) {
    used_ = 0;
    if (bytes <= size_) return;
    memory_.reset();
    size_ = (bytes + page - 1) / page * page;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, size_)));
    if (memory_ == nullptr) throw std::bad_alloc{};
    auto const n = static_cast<std::int64_t>(size_ / page);
    std::byte* const memory = memory_.get();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) std::memset(memory + i * page, 0, page);
  }

  /// The next piece; pieces start on 64 bytes and not all at the same offset in their page.
  /// @tparam T element type @param[in] n elements @return its address
  template <class T>
  T* carve(std::int64_t n) {
    auto* const at = reinterpret_cast<T*>(memory_.get() + used_);
    used_ += padded<T>(n);
    return at;
  }

  /// What carve() takes. @tparam T element type @param[in] n elements @return bytes
  template <class T>
  static std::size_t padded(std::int64_t n) {
    return (static_cast<std::size_t>(n) * sizeof(T) + 63) / 64 * 64 + 320;
  }

 private:
  static constexpr std::size_t page = 4096;
  struct release {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, release> memory_;
  std::size_t size_ = 0, used_ = 0;
};

/// Copies with memcpy on as many threads as the step runs on, over as much memory as it works on.
class copier {
 public:
  /// @param[in] working_set bytes that the step works on; copies go round in half of it each, at
  /// most 512 MiB, which no cache holds
  explicit copier(std::int64_t working_set)
      : half_{std::clamp<std::int64_t>(working_set / 2, 4096, std::int64_t{512} << 20)} {
    memory().reserve(2 * pool::padded<std::byte>(half_));
    from_ = memory().carve<std::byte>(half_);
    to_ = memory().carve<std::byte>(half_);
  }

  /// Copies. @param[in] bytes to move: half of them are read, half are written
  void run(std::int64_t bytes) const {
#pragma omp parallel
    {
#if defined(_OPENMP)
      std::int64_t const n = omp_get_num_threads(), t = omp_get_thread_num();
#else
      std::int64_t const n = 1, t = 0;
#endif
      std::int64_t const begin = half_ * t / n, slice = half_ * (t + 1) / n - begin;
      for (std::int64_t left = bytes / 2 / n; left > 0; left -= slice) {
        std::memcpy(to_ + begin, from_ + begin, static_cast<std::size_t>(std::min(left, slice)));
      }
    }
  }

 private:
  static pool& memory() {
    static pool shared;
    return shared;
  }
  std::int64_t half_;
  std::byte* from_;
  std::byte* to_;
};

}  // namespace bench
