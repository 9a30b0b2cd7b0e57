// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tensors in one piece of managed memory: two of one recipe can be compared as a whole.
#pragma once

#include "support/catch.hpp"

#include <tieropt/tieropt.cuh>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace device_test {

using tieropt::int64_t;
using tieropt::uint64_t;

#define REQUIRE_CUDA(call) REQUIRE((call) == cudaSuccess)

/// Managed memory that is handed out piece by piece.
class arena {
 public:
  explicit arena(std::size_t bytes) : bytes_{bytes} {
    REQUIRE_CUDA(cudaMallocManaged(reinterpret_cast<void**>(&data_), bytes));
    std::memset(data_, 0, bytes);
  }
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;
  ~arena() { cudaFree(data_); }

  template <class T>
  T* take(int64_t n, std::string const& name) {
    std::size_t const bytes = static_cast<std::size_t>(n) * sizeof(T);
    if (used_ + bytes > bytes_) FAIL("the arena is too small");
    T* const p = reinterpret_cast<T*>(data_ + used_);
    pieces_.push_back({used_, bytes, name});
    used_ += (bytes + 15) / 16 * 16;
    return p;
  }
  template <class T, class F>
  T* take(int64_t n, std::string const& name, F const& f) {
    T* const p = take<T>(n, name);
    fill(p, n, f);
    return p;
  }
  template <class T, class F>
  static void fill(T* p, int64_t n, F const& f) {
    for (int64_t i = 0; i < n; ++i) p[i] = tieropt::storage<T>::nearest(static_cast<float>(f(i)));
  }
  /// The first piece that differs, or "".
  std::string difference(arena const& o) const {
    for (auto const& p : pieces_) {
      if (std::memcmp(data_ + p.at, o.data_ + p.at, p.bytes) != 0) return p.name;
    }
    return used_ == o.used_ ? "" : "number of pieces";
  }
  std::vector<std::byte> copy() const { return {data_, data_ + used_}; }

 private:
  struct piece {
    std::size_t at, bytes;
    std::string name;
  };
  std::byte* data_ = nullptr;
  std::size_t bytes_, used_ = 0;
  std::vector<piece> pieces_;
};

/// Device memory as it comes.
class device_memory {
 public:
  explicit device_memory(std::size_t bytes) : bytes_{bytes} {
    REQUIRE_CUDA(cudaMalloc(&data_, bytes > 0 ? bytes : 1));
  }
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;
  ~device_memory() { cudaFree(data_); }
  operator cuda::std::span<std::byte>() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

class stream {
 public:
  explicit stream(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream_, flags));
  }
  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;
  ~stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }
  void wait() const { REQUIRE_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A captured graph, ready for replays.
class graph {
 public:
  /// Captures what f() enqueues on a stream.
  template <class F>
  graph(cudaStream_t s, cudaStreamCaptureMode mode, F const& f) {
    REQUIRE_CUDA(cudaStreamBeginCapture(s, mode));
    f();
    REQUIRE_CUDA(cudaStreamEndCapture(s, &graph_));
  }
  graph(graph const&) = delete;
  graph& operator=(graph const&) = delete;
  ~graph() {
    if (ready_) cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }
  int64_t nodes() const {
    std::size_t n = 0;
    REQUIRE_CUDA(cudaGraphGetNodes(graph_, nullptr, &n));
    return static_cast<int64_t>(n);
  }
  int64_t kernels() const {
    std::vector<cudaGraphNode_t> all(static_cast<std::size_t>(nodes()));
    std::size_t n = all.size();
    if (n > 0) REQUIRE_CUDA(cudaGraphGetNodes(graph_, all.data(), &n));
    int64_t count = 0;
    for (auto const node : all) {
      cudaGraphNodeType type{};
      REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
      count += type == cudaGraphNodeTypeKernel;
    }
    return count;
  }
  void launch(cudaStream_t s) {
    if (!ready_) REQUIRE_CUDA(cudaGraphInstantiate(&ready_, graph_, 0));
    REQUIRE_CUDA(cudaGraphLaunch(ready_, s));
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

/// A number in [-1, 1).
inline double number(uint64_t i) {
  return static_cast<double>(static_cast<int64_t>(tieropt::mix64(i))) * 0x1p-63;
}

using extents = std::vector<int64_t>;

/// A dense row-major view of any rank.
template <class T>
tieropt::tensor_view<T> view_of(T* data, extents const& shape) {
  tieropt::tensor_view<T> v;
  v.data = data;
  v.rank = static_cast<int>(shape.size());
  int64_t stride = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    v.extent[i] = shape[static_cast<std::size_t>(i)];
    v.stride[i] = stride;
    stride *= v.extent[i];
  }
  return v;
}

inline int64_t matrices(extents const& shape) {
  int64_t n = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) n *= shape[i];
  return n;
}

/// Binds a tensor to an arena: numbers in the parameter and the gradient, zeros in the states.
template <class Tier, class Param, class Grad>
tieropt::bound_tensor<Tier, Param, Grad> bind(arena& memory, extents const& shape, int64_t key) {
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  bound b;
  int64_t size = 1;
  for (int64_t const x : shape) size *= x;
  auto const seed = static_cast<uint64_t>(key) << 32;
  std::string const of = " of tensor " + std::to_string(key);
  b.param = view_of(
      memory.take<Param>(size, "param" + of, [=](int64_t i) { return number(seed + i); }), shape);
  b.grad = view_of<Grad const>(
      memory.take<Grad>(size, "grad" + of, [=](int64_t i) { return 0.01 * number(~seed - i); }),
      shape);
  if constexpr (tieropt::keeps_momentum<typename Tier::momentum>) {
    b.momentum = view_of(memory.take<typename bound::momentum_type>(size, "momentum" + of), shape);
  }
  using variance = typename bound::variance_type;
  if (Tier::variance::factored && shape.size() > 1) {
    extents rows = shape, cols = shape;
    rows.pop_back();
    cols.erase(cols.end() - 2);
    int64_t const E = matrices(shape);
    b.variance.row = view_of(memory.take<variance>(E * rows.back(), "row" + of), rows);
    b.variance.col = view_of(memory.take<variance>(E * cols.back(), "col" + of), cols);
  } else {
    b.variance.exact = view_of(memory.take<variance>(size, "exact" + of), shape);
  }
  int64_t const steps = Tier::step_scope == tieropt::scope::tensor ? 1 : matrices(shape);
  b.step = tieropt::view(memory.take<int64_t>(steps, "step" + of), steps);
  b.key = key;
  return b;
}

}  // namespace device_test
