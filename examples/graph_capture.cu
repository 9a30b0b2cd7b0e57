// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A step captured once into a CUDA graph and replayed with other numbers.

#include <tieropt/tieropt.cuh>

#include <thrust/universal_vector.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using tieropt::bf16;
template <class T>
using managed = thrust::universal_vector<T>;  // memory that host and device reach

struct backbone : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
};
using policy = tieropt::tier_policy<backbone>;
constexpr std::int64_t r = 200, c = 1100;

/// A matrix with its state; two of them start alike.
struct matrix {
  managed<bf16> p = managed<bf16>(r * c), g = managed<bf16>(r * c);
  managed<float> m = managed<float>(r * c), row = managed<float>(r), col = managed<float>(c);
  managed<std::int64_t> step = managed<std::int64_t>(1);

  matrix() {
    for (std::int64_t i = 0; i < r * c; ++i) {
      p[i] = tieropt::storage<bf16>::nearest(static_cast<float>(std::sin(0.7 * double(i))));
      g[i] = tieropt::storage<bf16>::nearest(static_cast<float>(std::sin(1.3 * double(i))));
    }
  }
  std::vector<tieropt::bound_tensor<backbone, bf16>> bound() {
    std::vector<tieropt::bound_tensor<backbone, bf16>> b;
    b.push_back({.param = tieropt::view(p.data().get(), r, c),
                 .grad = tieropt::view<bf16 const>(g.data().get(), r, c),
                 .momentum = tieropt::view(m.data().get(), r, c),
                 .variance = {.row = tieropt::view(row.data().get(), r),
                              .col = tieropt::view(col.data().get(), c)},
                 .step = tieropt::view(step.data().get(), 1)});
    return b;
  }
  template <class T>
  static bool same_bits(managed<T> const& a, managed<T> const& b) {
    return std::memcmp(a.data().get(), b.data().get(), a.size() * sizeof(T)) == 0;
  }
  bool same(matrix const& o) const {
    return same_bits(p, o.p) && same_bits(m, o.m) && same_bits(row, o.row) &&
           same_bits(col, o.col) && same_bits(step, o.step);
  }
};

/// What changes from step to step: a warm-up, another seed, and one overflow.
tieropt::hyper hyper_of(int k) { return {.lr = 0.01 * k, .weight_decay = 0.1}; }
tieropt::step_inputs inputs_of(int k) {
  return {.seed = std::uint64_t(k), .grad_scale = 2, .found_inf = k == 3};
}

int main() {
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1;
  tieropt::cuda_executor const executor{stream};
  matrix replayed, eager;
  auto const bound = replayed.bound(), eager_bound = eager.bound();
  auto const plan = tieropt::make_plan<policy>(bound);
  auto const eager_plan = tieropt::make_plan<policy>(eager_bound);
  if (!plan || !eager_plan) return 1;
  managed<std::byte> memory(plan->workspace_bytes()), eager_memory(memory.size());
  cuda::std::span<std::byte> const workspace{memory.data().get(), memory.size()};
  cuda::std::span<std::byte> const eager_workspace{eager_memory.data().get(), memory.size()};

  // 1. Before the capture: prepare uploads tables, which a graph would read again at every replay.
  tieropt::status s = prepare(executor, *plan, workspace);
  if (s) s = prepare(executor, *eager_plan, eager_workspace);
  if (!s) return std::puts(message(s)), 1;

  // 2. The capture. `resident` says where the numbers will be when the step runs.
  tieropt::hyper* hypers = nullptr;
  tieropt::step_inputs* inputs = nullptr;
  if (cudaMalloc(&hypers, sizeof *hypers) != cudaSuccess) return 1;
  if (cudaMalloc(&inputs, sizeof *inputs) != cudaSuccess) return 1;
  cudaGraph_t graph;
  cudaGraphExec_t step;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  s = enqueue(executor, *plan, workspace, tieropt::resident<tieropt::hyper>{hypers},
              tieropt::resident<tieropt::step_inputs>{inputs});
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || !s) return std::puts(message(s)), 1;
  if (cudaGraphInstantiate(&step, graph, 0) != cudaSuccess) return 1;
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);

  // 3. Replays. The step counter lives on the device too, and rests with the step that overflowed.
  for (int k = 1; k <= 5; ++k) {
    tieropt::hyper const h = hyper_of(k);
    tieropt::step_inputs const in = inputs_of(k);
    cudaMemcpyAsync(hypers, &h, sizeof h, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(inputs, &in, sizeof in, cudaMemcpyHostToDevice, stream);
    cudaGraphLaunch(step, stream);
  }

  // The same steps one by one.
  for (int k = 1; s && k <= 5; ++k) {
    tieropt::hyper const h[] = {hyper_of(k)};
    s = enqueue(executor, *eager_plan, eager_workspace, h, inputs_of(k));
  }
  if (cudaStreamSynchronize(stream) != cudaSuccess || !s) return std::puts(message(s)), 1;
  bool const same = replayed.same(eager) && replayed.step[0] == 4;
  std::printf("%zu kernels captured, 5 replays, %d steps taken: %s\n", nodes, int(replayed.step[0]),
              same ? "the bits of eager steps" : "WRONG");

  cudaGraphExecDestroy(step), cudaGraphDestroy(graph);
  cudaFree(hypers), cudaFree(inputs), cudaStreamDestroy(stream);
  return same ? 0 : 1;
}
