// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device copies of host vectors, and checks of their bits.
#pragma once

#include "support/catch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace device_test {

/// Ends the program when the runtime fails: nothing after it would mean anything.
/// @param[in] error what a call of the runtime returned
inline void demand(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// A piece of device memory of its own.
/// @tparam T element type
template <class T>
class device_buffer {
 public:
  /// @param[in] count elements; their content is undefined
  explicit device_buffer(std::size_t count) : count_{count} {
    demand(cudaMalloc(reinterpret_cast<void**>(&data_), (count > 0 ? count : 1) * sizeof(T)));
  }
  /// @param[in] host what it starts with
  explicit device_buffer(std::vector<T> const& host) : device_buffer{host.size()} {
    demand(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  device_buffer(device_buffer const&) = delete;
  device_buffer& operator=(device_buffer const&) = delete;
  ~device_buffer() { cudaFree(data_); }

  /// @return first element, on the device
  T* data() const { return data_; }
  /// @return elements
  std::size_t size() const { return count_; }
  /// Waits for the device. @return a copy on the host
  std::vector<T> download() const {
    std::vector<T> host(count_);
    demand(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Where two arrays first differ in their bits. @tparam T element type
/// @param[in] a an array @param[in] b an array of the same size @return an index, or the size
template <class T>
std::size_t first_difference(std::vector<T> const& a, std::vector<T> const& b) {
  std::size_t i = 0;
  while (i < a.size() && std::memcmp(&a[i], &b[i], sizeof(T)) == 0) ++i;
  return i;
}

/// Checks, with what they are about.
class checks {
 public:
  /// @param[in] holds whether it does @param[in] what a sentence
  void expect(bool holds, char const* what) const {
    INFO(context_ << ": " << what);
    CHECK(holds);
  }
  /// @tparam T element type @param[in] host expected @param[in] device found, of the same size
  /// @param[in] what names the array
  template <class T>
  void equal_bits(std::vector<T> const& host, std::vector<T> const& device,
                  char const* what) const {
    INFO(context_ << ": " << what << ", the first index that differs");
    CHECK(first_difference(host, device) == host.size());
  }
  /// Names what the next checks are about. @tparam Values printf arguments
  /// @param[in] format printf format @param[in] values its values
  template <class... Values>
  void about(char const* format, Values... values) {
    std::snprintf(context_, sizeof context_, format, values...);
  }

 private:
  char context_[200] = "";
};

}  // namespace device_test
