// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The library's parts in kernels of your own: functors on scalars, and whole passes.

#include <tieropt/tieropt.cuh>

#include <thrust/universal_vector.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using tieropt::bf16;
using codec = tieropt::storage<bf16>;
template <class T>
using managed = thrust::universal_vector<T>;  // memory that host and device reach

template <class T>
bool same_bits(managed<T> const& a, managed<T> const& b) {
  return std::memcmp(a.data().get(), b.data().get(), a.size() * sizeof(T)) == 0;
}

template <class T>
managed<T> waves(std::size_t n, double frequency) {
  managed<T> v(n);
  for (std::size_t i = 0; i < n; ++i) {
    v[i] = tieropt::storage<T>::nearest(static_cast<float>(std::sin(frequency * double(i))));
  }
  return v;
}

// ---- 1. Functors: a tier without a clip needs one pass, and a weight only its own numbers -------

struct vectors : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using clip = tieropt::no_clip;
};
using vector_parts = tieropt::tier_parts<vectors, float, float>;

struct vector_buffers {
  managed<float> p, g, m, v;
  managed<std::int64_t> step;

  explicit vector_buffers(std::size_t n)
      : p(waves<float>(n, 0.7)), g(waves<float>(n, 1.3)), m(n, 0.f), v(n, 0.f), step(1, 0) {}
};

/// One thread, one weight. The scalars come from the step counter, in double, as in the library.
__global__ void step_of_my_own(std::int64_t n, float* p, float const* g, float* m, float* v,
                               std::int64_t const* step, tieropt::hyper hyper) {
  auto const i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto const s = tieropt::derive_scalars<vector_parts>(hyper, {}, *step + 1, /*key=*/0);
  using eps = vector_parts::eps;
  float const grad = tieropt::mul(s.grad_gain, g[i]);
  float const numerator = vector_parts::momentum{}(m[i], grad, s);
  vector_parts::variance{}(v[i], tieropt::fma(grad, grad, eps::square_offset(s)), s);
  float const root = tieropt::sqrt(eps::radicand(v[i], s));
  float const update = eps::quotient(numerator, root, s);
  float const step_size = tieropt::mul(tieropt::neg(s.lr), s.update_gain);
  p[i] = tieropt::fma(step_size, update, tieropt::mul(p[i], s.decay));
}

bool functors(cudaStream_t stream) {
  std::int64_t const n = 1000;
  vector_buffers own(n), library(n);
  tieropt::hyper const hypers[] = {{.lr = 0.01, .weight_decay = 0.1}};
  auto const data = [](auto& v) { return v.data().get(); };
  step_of_my_own<<<8, 128, 0, stream>>>(n, data(own.p), data(own.g), data(own.m), data(own.v),
                                        data(own.step), hypers[0]);

  std::vector<tieropt::bound_tensor<vectors, float>> bound;
  bound.push_back({.param = tieropt::view(data(library.p), n),
                   .grad = tieropt::view<float const>(data(library.g), n),
                   .momentum = tieropt::view(data(library.m), n),
                   .variance = {.exact = tieropt::view(data(library.v), n)},
                   .step = tieropt::view(data(library.step), 1)});
  auto const plan = tieropt::make_plan<tieropt::tier_policy<vectors>>(bound);
  if (!plan) return std::puts(message(plan.error())), false;
  managed<std::byte> workspace(plan->workspace_bytes());
  cuda::std::span<std::byte> const work{data(workspace), workspace.size()};
  tieropt::cuda_executor const executor{stream};
  tieropt::status s = prepare(executor, *plan, work);
  if (s) s = enqueue(executor, *plan, work, hypers);
  if (!s) return std::puts(message(s)), false;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return false;
  return same_bits(own.p, library.p) && same_bits(own.m, library.m) && same_bits(own.v, library.v);
}

// ---- 2. Passes: a factored and clipped tier needs five, each a body with the work of one block --

struct experts : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
};
using expert_parts = tieropt::tier_parts<experts, bf16, bf16>;

struct expert_buffers {
  static constexpr std::int64_t e = 3, r = 150, c = 1100;
  managed<bf16> p = waves<bf16>(e * r * c, 0.7), g = waves<bf16>(e * r * c, 1.3);
  managed<float> m = managed<float>(e * r * c), row = managed<float>(e * r),
                 col = managed<float>(e * c);
  managed<std::int64_t> step = managed<std::int64_t>(e);

  tieropt::bound_tensor<experts, bf16> bound() {
    return {.param = tieropt::view(p.data().get(), e, r, c),
            .grad = tieropt::view<bf16 const>(g.data().get(), e, r, c),
            .momentum = tieropt::view(m.data().get(), e, r, c),
            .variance = {.row = tieropt::view(row.data().get(), e, r),
                         .col = tieropt::view(col.data().get(), e, c)},
            .step = tieropt::view(step.data().get(), e)};
  }
};

/// A kernel of your own around a body of the library's: a block gives it its threads and its shared
/// memory, and can do whatever else it likes. This one counts the blocks.
template <class Body>
__global__ void __launch_bounds__(Body::tune.groups * 32)
    kernel_of_my_own(Body const __grid_constant__ body, unsigned long long* blocks) {
  __shared__ alignas(16) std::byte storage[sizeof(typename Body::storage)];
  body(tieropt::device_block<Body::tune.groups, Body::tune.per_lane>{storage});
  if (threadIdx.x == 0) atomicAdd(blocks, 1ull);
}

bool passes(cudaStream_t stream) {
  tieropt::hyper const hypers[] = {{.lr = 0.01, .weight_decay = 0.1}};
  tieropt::step_inputs const inputs{.seed = 42};
  expert_buffers own, library;
  managed<unsigned long long> blocks(1);

  // The plan says how many blocks a pass has, and prepare fills the table that the bodies read.
  auto const prepared = [&](expert_buffers& b, auto const& then) -> tieropt::status {
    std::vector bound{b.bound()};
    auto const plan = tieropt::make_plan<tieropt::tier_policy<experts>>(bound);
    if (!plan) return plan.error();
    managed<std::byte> workspace(plan->workspace_bytes());
    cuda::std::span<std::byte> const work{workspace.data().get(), workspace.size()};
    tieropt::cuda_executor const executor{stream};
    tieropt::status s = prepare(executor, *plan, work);
    if (s) s = then(executor, *plan, work);
    cudaStreamSynchronize(stream);  // before the workspace goes
    return s;
  };
  tieropt::status s = prepared(own, [&](auto const&, auto const& plan, auto const& work) {
    auto const& size = plan.size(0);
    auto const table = tieropt::workspace_of<0>(plan, work).table(size.tensors);
    auto const launch = [&](std::int64_t n, auto const& body) {
      kernel_of_my_own<<<unsigned(n), body.tune.groups * 32, 0, stream>>>(body,
                                                                          blocks.data().get());
    };
    auto const matrices = tieropt::ceil_div(size.matrices, tieropt::matrices_per_block);
    using parts = expert_parts;
    launch(matrices, tieropt::begin_step_body<parts>{
                         table, size.matrices, nullptr, nullptr, inputs, {hypers[0]}});
    launch(size.tiles, tieropt::table_body<tieropt::squares_pass<parts>, parts>{table, 0});
    launch(size.folds, tieropt::table_body<tieropt::fold_pass<parts>, parts>{table, 0});
    launch(size.tiles, tieropt::table_body<tieropt::measure_pass<parts>, parts>{table, 0});
    launch(size.clips, tieropt::table_body<tieropt::find_factors_pass<parts>, parts>{table, 0});
    launch(size.tiles, tieropt::table_body<tieropt::apply_pass<parts>, parts>{table, 0});
    launch(matrices, tieropt::commit_steps_body<parts>{table, size.matrices});
    return tieropt::status{};
  });
  if (s)
    s = prepared(library, [&](auto const& executor, auto const& plan, auto const& work) {
      return enqueue(executor, plan, work, hypers, inputs);
    });
  if (!s) return std::puts(message(s)), false;
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  std::printf("seven launches of a kernel of my own: %llu blocks\n",
              static_cast<unsigned long long>(blocks[0]));
  return own.step[0] == 1 && same_bits(own.p, library.p) && same_bits(own.m, library.m) &&
         same_bits(own.row, library.row) && same_bits(own.col, library.col);
}

int main() {
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1;
  bool const one = functors(stream), two = passes(stream);
  std::printf("functors on scalars: %s\n", one ? "the library's bits" : "WRONG");
  std::printf("passes in a kernel of my own: %s\n", two ? "the library's bits" : "WRONG");
  cudaStreamDestroy(stream);
  return one && two ? 0 : 1;
}
