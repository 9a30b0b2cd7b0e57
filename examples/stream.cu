// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A step between other work on a stream of your own, on device buffers of your own, and what its
/// status tells.

#include <tieropt/tieropt.cuh>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

using tieropt::bf16;

struct experts : tieropt::tier {
  using variance = tieropt::factored_variance<float>;
};
constexpr std::int64_t e = 2, r = 96, c = 320;

/// Stands for your backward pass: the gradient of |p|^2 / 2.
__host__ __device__ bf16 gradient(bf16 p) {
  using codec = tieropt::storage<bf16>;
  return codec::nearest(codec::decode<float>(p));
}
__global__ void backward(bf16 const* p, bf16* g, std::int64_t n) {
  auto const i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) g[i] = gradient(p[i]);
}

/// The same views whatever side the addresses are of: the library never asks.
std::vector<tieropt::bound_tensor<experts, bf16>> bind(bf16* p, bf16 const* g, float* row,
                                                       float* col, std::int64_t* steps) {
  std::vector<tieropt::bound_tensor<experts, bf16>> bound;
  bound.push_back({.param = tieropt::view(p, e, r, c),
                   .grad = tieropt::view(g, e, r, c),
                   .variance = {.row = tieropt::view(row, e, r), .col = tieropt::view(col, e, c)},
                   .step = tieropt::view(steps, e)});
  return bound;
}

/// [status]
/// A status is the library's sentence, or for errc::device the runtime's own error.
bool ok(tieropt::status const& s) {
  if (s) return true;
  if (s.code == tieropt::errc::device) {
    std::printf("the runtime says: %s\n", cudaGetErrorString(static_cast<cudaError_t>(s.native)));
  } else {
    std::printf("refused: %s (range %d, tensor %d)\n", message(s), s.range, int(s.tensor));
  }
  return false;
}
/// [status]

/// Zeros that lie on the device as soon as the stream gets there.
template <class T>
T* device_zeros(std::size_t n, cudaStream_t stream) {
  void* p = nullptr;
  if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess ||
      cudaMemsetAsync(p, 0, n * sizeof(T), stream) != cudaSuccess) {
    std::puts("no device memory");
    std::exit(1);
  }
  return static_cast<T*>(p);
}

int main() {
  constexpr std::size_t n = e * r * c;
  constexpr int n_steps = 5;
  tieropt::hyper const hypers[] = {{.lr = 0.05}};
  using policy = tieropt::tier_policy<experts>;

  // 1. Your streams, your events, your buffers. The library makes none.
  cudaStream_t compute, optimizer;
  cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&optimizer, cudaStreamNonBlocking);
  cudaEvent_t gradients_ready, step_done;
  cudaEventCreateWithFlags(&gradients_ready, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&step_done, cudaEventDisableTiming);
  std::vector<bf16> start(n);
  for (std::size_t i = 0; i < n; ++i)
    start[i] = tieropt::storage<bf16>::nearest(float(int(i % 17) - 8));
  auto *p = device_zeros<bf16>(n, optimizer), *g = device_zeros<bf16>(n, optimizer);
  auto *row = device_zeros<float>(e * r, optimizer), *col = device_zeros<float>(e * c, optimizer);
  auto* steps = device_zeros<std::int64_t>(e, optimizer);
  cudaMemcpyAsync(p, start.data(), n * sizeof(bf16), cudaMemcpyHostToDevice, optimizer);

  // 2. The plan, and its tables in a workspace of yours, on your stream.
  auto const bound = bind(p, g, row, col, steps);
  auto const plan = tieropt::make_plan<policy>(bound);
  if (!plan) return ok(plan.error()), 1;
  cuda::std::span<std::byte> const workspace{
      device_zeros<std::byte>(plan->workspace_bytes(), optimizer), plan->workspace_bytes()};
  tieropt::cuda_executor const executor{optimizer};
  if (!ok(prepare(executor, *plan, workspace))) return 1;

  // 3. A call that cannot work says why, before anything was launched.
  std::printf("a workspace that is too small is ");
  if (ok(enqueue(executor, *plan, workspace.first(16), hypers))) return 1;

  // 4. Five steps without a wait: the streams wait for each other through events, the host for
  // none.
  cudaEventRecord(step_done, optimizer);
  for (int k = 0; k < n_steps; ++k) {
    cudaStreamWaitEvent(compute, step_done);
    backward<<<unsigned((n + 255) / 256), 256, 0, compute>>>(p, g, n);
    cudaEventRecord(gradients_ready, compute);
    cudaStreamWaitEvent(optimizer, gradients_ready);
    if (!ok(enqueue(executor, *plan, workspace, hypers, {.seed = 7}))) return 1;
    cudaEventRecord(step_done, optimizer);
  }

  // 5. What ran asynchronously fails asynchronously: here, where you wait.
  std::vector<bf16> got(n);
  cudaMemcpyAsync(got.data(), p, n * sizeof(bf16), cudaMemcpyDeviceToHost, optimizer);
  if (cudaError_t const late = cudaStreamSynchronize(optimizer); late != cudaSuccess) {
    return ok(tieropt::status{tieropt::errc::device, late}), 1;
  }

  // The same steps on the CPU: the same bits.
  std::vector<bf16> want = start, host_g(n);
  std::vector<float> host_row(e * r), host_col(e * c);
  std::vector<std::int64_t> host_steps(e);
  auto const host_bound =
      bind(want.data(), host_g.data(), host_row.data(), host_col.data(), host_steps.data());
  auto const host_plan = tieropt::make_plan<policy>(host_bound);
  std::vector<std::byte> host_workspace(host_plan->workspace_bytes());
  tieropt::serial_executor const host;
  tieropt::status s = prepare(host, *host_plan, host_workspace);
  for (int k = 0; s && k < n_steps; ++k) {
    for (std::size_t i = 0; i < n; ++i) host_g[i] = gradient(want[i]);
    s = enqueue(host, *host_plan, host_workspace, hypers, {.seed = 7});
  }
  if (!ok(s)) return 1;
  bool const same = std::memcmp(got.data(), want.data(), n * sizeof(bf16)) == 0;
  std::printf("%d steps on a stream: %s\n", n_steps, same ? "the bits of the CPU" : "WRONG");

  for (void* const buffer : std::initializer_list<void*>{p, g, row, col, steps, workspace.data()})
    cudaFree(buffer);
  cudaEventDestroy(gradients_ready), cudaEventDestroy(step_done);
  cudaStreamDestroy(compute), cudaStreamDestroy(optimizer);
  return same ? 0 : 1;
}
