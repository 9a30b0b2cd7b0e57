// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A step of one pass in other people's algorithms: thrust::for_each, and cub::DeviceTransform.

#include <tieropt/tieropt.cuh>

#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/zip_function.h>
#include <cub/device/device_transform.cuh>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

using tieropt::bf16;
using codec = tieropt::storage<bf16>;

/// A tier without a clip needs one pass; rounding to nearest needs no random bits.
struct adam : tieropt::adamw::tensor {
  using rounding = tieropt::nearest_rounding;
};
using parts = tieropt::tier_parts<adam, bf16, float>;

/// One weight: bf16, with its gradient and moments in fp32.
struct element_step {
  tieropt::step_scalars<float> s;  // the same for every weight of a tensor

  TIEROPT_HOST_DEVICE void operator()(bf16& p, float g, float& m, float& v) const {
    using eps = parts::eps;
    float const grad = tieropt::mul(s.grad_gain, g);
    float const numerator = parts::momentum{}(m, grad, s);
    parts::variance{}(v, tieropt::fma(grad, grad, eps::square_offset(s)), s);
    float const update = eps::quotient(numerator, tieropt::sqrt(eps::radicand(v, s)), s);
    float const decayed = tieropt::mul(codec::decode<float>(p), s.decay);
    p = codec::nearest(
        tieropt::fma(tieropt::mul(tieropt::neg(s.lr), s.update_gain), update, decayed));
  }
};

/// The same with results instead of references: what a transform asks for.
struct element_result : element_step {
  TIEROPT_HOST_DEVICE cuda::std::tuple<bf16, float, float> operator()(bf16 p, float g, float m,
                                                                      float v) const {
    element_step::operator()(p, g, m, v);
    return {p, m, v};
  }
};

struct buffers {
  thrust::device_vector<bf16> p;
  thrust::device_vector<float> g, m, v;

  explicit buffers(std::size_t n) : m(n), v(n) {
    std::vector<bf16> weights(n);
    std::vector<float> grads(n);
    for (std::size_t i = 0; i < n; ++i) {
      weights[i] = codec::nearest(static_cast<float>(std::sin(0.7 * double(i))));
      grads[i] = static_cast<float>(std::sin(1.3 * double(i)));
    }
    p = weights;
    g = grads;
  }
};

template <class T>
bool same_bits(thrust::device_vector<T> const& a, thrust::device_vector<T> const& b) {
  std::vector<T> x(a.size()), y(b.size());
  thrust::copy(a.begin(), a.end(), x.begin());
  thrust::copy(b.begin(), b.end(), y.begin());
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

bool check(char const* what, buffers const& got, buffers const& want) {
  bool const same =
      same_bits(got.p, want.p) && same_bits(got.m, want.m) && same_bits(got.v, want.v);
  std::printf("%s: %s\n", what, same ? "the library's bits" : "WRONG");
  return same;
}

/// Two steps by the library.
tieropt::status step_twice(buffers& b, tieropt::hyper const& hyper) {
  auto const n = static_cast<std::int64_t>(b.p.size());
  thrust::device_vector<std::int64_t> step(1);
  std::vector<tieropt::bound_tensor<adam, bf16, float>> bound;
  bound.push_back({.param = tieropt::view(b.p.data().get(), n),
                   .grad = tieropt::view<float const>(b.g.data().get(), n),
                   .momentum = tieropt::view(b.m.data().get(), n),
                   .variance = {.exact = tieropt::view(b.v.data().get(), n)},
                   .step = tieropt::view(step.data().get(), 1)});
  auto const plan = tieropt::make_plan<tieropt::tier_policy<adam>>(bound);
  if (!plan) return plan.error();
  thrust::device_vector<std::byte> workspace(plan->workspace_bytes());
  cuda::std::span<std::byte> const work{workspace.data().get(), workspace.size()};
  tieropt::cuda_executor const executor{cudaStreamPerThread};
  tieropt::hyper const hypers[] = {hyper};
  tieropt::status s = prepare(executor, *plan, work);
  for (int k = 1; s && k <= 2; ++k) s = enqueue(executor, *plan, work, hypers);
  cudaDeviceSynchronize();
  return s;
}

int main() {
  std::size_t const n = 5000;
  tieropt::hyper const hyper{.lr = 0.01, .weight_decay = 0.1};
  buffers library(n), with_thrust(n), with_cub(n), next(n);
  if (auto const s = step_twice(library, hyper); !s) return std::puts(message(s)), 1;

  for (int k = 1; k <= 2; ++k) {
    // The scalars of step k, on the host this time: formed in double, then rounded once.
    element_step const step{tieropt::derive_scalars<parts>(hyper, {}, k, /*key=*/0)};

    buffers& a = with_thrust;
    auto const first =
        thrust::make_zip_iterator(a.p.begin(), a.g.begin(), a.m.begin(), a.v.begin());
    thrust::for_each(first, first + n, thrust::make_zip_function(step));

    buffers& b = with_cub;
    auto const to = thrust::make_zip_iterator(next.p.begin(), next.m.begin(), next.v.begin());
    if (cub::DeviceTransform::Transform(
            cuda::std::tuple{b.p.begin(), b.g.begin(), b.m.begin(), b.v.begin()}, to, n,
            element_result{step}) != cudaSuccess) {
      return 1;
    }
    std::swap(b, next);  // the gradient is the same in both
  }
  bool const one = check("thrust::for_each", with_thrust, library);
  bool const two = check("cub::DeviceTransform", with_cub, library);
  return one && two ? 0 : 1;
}
