// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The CUDA executor: its errors, its uploads, what a capture sees of it.

#include <tieropt/block/host_block.hpp>
#include <tieropt/executor/cuda_executor.cuh>

#include "device/buffer.cuh"

using device_test::demand;
using tieropt::errc;

static_assert(tieropt::executor<tieropt::cuda_executor>);
static_assert(tieropt::thread_block<tieropt::device_block<8, 8>>);
static_assert(tieropt::thread_block<tieropt::host_block<8>>);

namespace {

/// Does nothing with its shared memory.
template <int Bytes>
struct large_body {
  using storage = char[Bytes];
  static constexpr tieropt::tuning tune{};
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const&) const {}
};

struct own_stream {
  cudaStream_t stream = nullptr;
  tieropt::cuda_executor executor;
  own_stream() : stream{create()}, executor{stream} {}
  ~own_stream() { demand(cudaStreamDestroy(stream)); }
  static cudaStream_t create() {
    cudaStream_t s = nullptr;
    demand(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }
};

}  // namespace

TEST_CASE("launches that cannot be are refused", "[executor]") {
  own_stream const own;
  CHECK(own.executor.launch(0, tieropt::empty_body{}));
  CHECK(own.executor.launch(3, tieropt::empty_body{}));
  CHECK(own.executor.launch(tieropt::int64_t{1} << 31, tieropt::empty_body{}).code ==
        errc::too_large);
  tieropt::status const huge = own.executor.launch(1, large_body<1 << 20>{});
  CHECK(huge.code == errc::device);
  CHECK(huge.native != 0);
  cudaGetLastError();
}

TEST_CASE("the source of an upload may change afterwards", "[executor]") {
  own_stream const own;
  std::vector<int> from(100000, 42);
  std::vector<int> const expected = from;
  device_test::device_buffer<int> const to{from.size()};
  CHECK(own.executor.upload(to.data(), from.data(), from.size() * sizeof(int)));
  for (int& x : from) x = 0;
  demand(cudaStreamSynchronize(own.stream));
  CHECK(expected == to.download());
  CHECK(own.executor.upload(to.data(), from.data(), 0));
}

TEST_CASE("what others left behind is neither reported nor cleared", "[executor]") {
  own_stream const own;
  cudaSetDevice(1000);
  CHECK(own.executor.launch(1, tieropt::empty_body{}));
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("launches are captured, uploads refused", "[executor]") {
  own_stream const own;
  device_test::device_buffer<int> const to{1};
  int const from = 1;
  cudaGraph_t graph = nullptr;
  demand(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal));
  CHECK(own.executor.upload(to.data(), &from, 4).code == errc::capturing);
  CHECK(own.executor.launch(2, tieropt::empty_body{}));
  CHECK(own.executor.launch(2, large_body<(1 << 16)>{}));
  demand(cudaStreamEndCapture(own.stream, &graph));
  std::size_t nodes = 0;
  demand(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 2);
  demand(cudaGraphDestroy(graph));
}
