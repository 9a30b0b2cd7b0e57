// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// cuBLASLt's products against plain sums, and in a graph: on a GPU only.

#include <tieropt/executor/cublaslt_gemm.cuh>

#include "device/buffer.cuh"
#include "support/buffers.hpp"

#include <cmath>
#include <vector>

using device_test::demand;
using device_test::device_buffer;
using tieropt::int64_t;

namespace {

struct library {
  cublasLtHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  library() {
    REQUIRE(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    demand(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~library() {
    cublasLtDestroy(handle);
    cudaStreamDestroy(stream);
  }
  tieropt::cublaslt_gemm gemm() const { return {handle, stream}; }
};

template <class T>
std::vector<T> numbers(int64_t count, std::uint64_t seed) {
  std::vector<T> v;
  for (int64_t i = 0; i < count; ++i) {
    v.push_back(testing::element<T>::encode(testing::uniform(seed, static_cast<std::uint64_t>(i))));
  }
  return v;
}

}  // namespace

TEMPLATE_TEST_CASE("cuBLASLt has the operands where the caller says", "[gemm]", float, double,
                   tieropt::bf16, tieropt::fp16) {
  using T = TestType;
  using codec = testing::element<T>;
  library const own;
  double const unit = std::ldexp(1.0, 1 - codec::format.precision);
  for (int64_t const batch : {1, 5}) {
    for (int const transposed : {0, 1, 2}) {
      for (bool const odd : {false, true}) {
        bool const ta = transposed == 1, tb = transposed == 2;
        int64_t const m = odd ? 7 : 24, n = odd ? 9 : 40, k = odd ? 13 : 64;
        auto const a = numbers<T>(batch * m * k, 1), b = numbers<T>(batch * k * n, 2),
                   c = numbers<T>(batch * m * n, 3);
        device_buffer<T> const da{a}, db{b}, dc{c}, dd{c.size()};
        for (double const beta : {0.0, -0.5}) {
          REQUIRE(own.gemm()(
              tieropt::matrix_product<T>{batch, m, n, k, ta, tb, 1.5, beta, da.data(), db.data(),
                                         beta == 0 ? nullptr : dc.data(), dd.data()}));
          demand(cudaStreamSynchronize(own.stream));
          auto const d = dd.download();
          for (int64_t i = 0; i < batch * m * n; ++i) {
            int64_t const e = i / (m * n), row = i / n % m, col = i % n;
            double want = 0;
            for (int64_t j = 0; j < k; ++j) {
              int64_t const x = e * m * k + (ta ? j * m + row : row * k + j);
              int64_t const y = e * k * n + (tb ? col * k + j : j * n + col);
              want += codec::decode(a[static_cast<std::size_t>(x)]) *
                      codec::decode(b[static_cast<std::size_t>(y)]);
            }
            want = 1.5 * want + beta * codec::decode(c[static_cast<std::size_t>(i)]);
            double const got = codec::decode(d[static_cast<std::size_t>(i)]);
            // One rounding to T; sums of 64 products below 1, in float or double.
            double const sums = std::is_same_v<T, double> ? 0x1p-44 : 0x1p-15;
            REQUIRE(std::fabs(got - want) <= unit * std::fabs(want) + sums);
          }
        }
      }
    }
  }
}

TEST_CASE("cuBLASLt's products can be captured", "[gemm]") {
  library const own;
  int64_t const n = 64;
  auto const a = numbers<float>(n * n, 1);
  device_buffer<float> const da{a}, eager{a.size()}, replayed{a.size()};
  auto const into = [&](float* d) {
    return own.gemm()(tieropt::matrix_product<float>{1, n, n, n, false, true, 1, 0, da.data(),
                                                     da.data(), nullptr, d});
  };
  REQUIRE(into(eager.data()));
  demand(cudaStreamSynchronize(own.stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  demand(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeGlobal));
  REQUIRE(into(replayed.data()));
  demand(cudaStreamEndCapture(own.stream, &graph));
  demand(cudaGraphInstantiate(&exec, graph, 0));
  demand(cudaGraphLaunch(exec, own.stream));
  demand(cudaStreamSynchronize(own.stream));
  CHECK(replayed.download() == eager.download());
  demand(cudaGraphExecDestroy(exec));
  demand(cudaGraphDestroy(graph));
}
