// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Matrix products as a body, launched by an executor: the same bits on host and device.
#pragma once

#include <tieropt/executor/executor.hpp>
#include <tieropt/executor/gemm.hpp>
#include <tieropt/precision/storage.hpp>

#include <type_traits>

namespace testing {

/// D = alpha op(A) op(B) + beta C: one item per element of D, k in order, one rounding.
template <class T>
struct plain_product {
  using storage = tieropt::byte[16];
  static constexpr tieropt::tuning tune{};
  static constexpr tieropt::int64_t per_block = 256;
  using compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

  tieropt::matrix_product<T> p;

  tieropt::int64_t blocks() const { return (size() + per_block - 1) / per_block; }

  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    tieropt::int64_t const base = block.index() * per_block;
    tieropt::int64_t const left = size() - base;
    block.for_each(left < per_block ? left : per_block,
                   [&](tieropt::int64_t item) { form(base + item); });
  }

 private:
  TIEROPT_HOST_DEVICE tieropt::int64_t size() const { return p.batch * p.m * p.n; }

  TIEROPT_HOST_DEVICE static compute decode(T const& x) {
    return tieropt::storage<T>::template decode<compute>(x);
  }

  TIEROPT_HOST_DEVICE void form(tieropt::int64_t i) const {
    tieropt::int64_t const matrix = i / (p.m * p.n), row = i / p.n % p.m, col = i % p.n;
    T const* a = p.a + matrix * p.m * p.k + (p.transpose_a ? row : row * p.k);
    T const* b = p.b + matrix * p.k * p.n + (p.transpose_b ? col * p.k : col);
    tieropt::int64_t const step_a = p.transpose_a ? p.m : 1;
    tieropt::int64_t const step_b = p.transpose_b ? 1 : p.n;
    compute sum = 0;
    for (tieropt::int64_t k = 0; k < p.k; ++k, a += step_a, b += step_b) {
      sum = tieropt::fma(decode(*a), decode(*b), sum);
    }
    compute d = tieropt::mul(tieropt::to<compute>(p.alpha), sum);
    if (p.beta != 0) d = tieropt::fma(tieropt::to<compute>(p.beta), decode(p.c[i]), d);
    p.d[i] = tieropt::storage<T>::nearest(d);
  }
};

/// The gemm of the tests.
template <class Executor>
struct plain_gemm {
  Executor executor;

  template <class T>
  tieropt::status operator()(tieropt::matrix_product<T> const& p) const {
    plain_product<T> const body{p};
    return executor.launch(body.blocks(), body);
  }
};

}  // namespace testing
