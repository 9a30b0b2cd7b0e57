// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hand-written steps of one pass, AdamW and Lion; see hand.cuh.
#pragma once

#include "hand.cuh"

namespace hand {

/// AdamW in one pass.
template <bool Stochastic>
__global__ void __launch_bounds__(256, 3)
    hand_adamw(uint16_t* __restrict__ param, uint16_t const* __restrict__ grad,
               float* __restrict__ momentum, float* __restrict__ exact, scalars const s,
               int64_t C) {
  constexpr int N = 4;
  place<N> const at{C};
  int64_t first = at.row * C + at.col;
  float const q = -(s.lr * s.update_gain);
  for (int r = 0; r < 16; ++r, first += C) {
#pragma unroll
    for (int j = 0; j < 32 / N; ++j) {
      int64_t const i0 = first + j * 32 * N;
      float x[N], p[N], m[N], v[N];
      uint32_t w[N / 2];
      load(x, grad + i0);
      load(p, param + i0);
      load(m, momentum + i0);
      load(v, exact + i0);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        x[i] *= s.grad_gain;
        m[i] = fmaf(s.one_minus_beta1, x[i], s.beta1 * m[i]);
        v[i] = fmaf(s.beta2, v[i], s.one_minus_beta2 * (x[i] * x[i]));
        float const u = m[i] / fmaf(sqrtf(v[i]), s.root_correction2, s.eps);
        p[i] = fmaf(q, u, p[i] * s.decay);
      }
      store(momentum + i0, m);
      store(exact + i0, v);
      round<Stochastic>(w, p, s, static_cast<uint32_t>(i0));
      store(param + i0, w);
    }
  }
}

/// Lion in one pass.
template <bool Stochastic>
__global__ void __launch_bounds__(256, 3)
    hand_lion(uint16_t* __restrict__ param, uint16_t const* __restrict__ grad,
              float* __restrict__ momentum, scalars const s, int64_t C) {
  constexpr int N = 4;
  place<N> const at{C};
  int64_t first = at.row * C + at.col;
  for (int r = 0; r < 16; ++r, first += C) {
#pragma unroll
    for (int j = 0; j < 32 / N; ++j) {
      int64_t const i0 = first + j * 32 * N;
      float x[N], p[N], m[N];
      uint32_t w[N / 2];
      load(x, grad + i0);
      load(p, param + i0);
      load(m, momentum + i0);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        x[i] *= s.grad_gain;
        float const u = fmaf(s.one_minus_beta1, x[i], s.beta1 * m[i]);
        m[i] = fmaf(s.one_minus_beta2, x[i], s.beta2 * m[i]);
        p[i] = fmaf(-s.lr, fabsf(u) > 0 ? copysignf(1, u) : u, p[i] * s.decay);
      }
      store(momentum + i0, m);
      round<Stochastic>(w, p, s, static_cast<uint32_t>(i0));
      store(param + i0, w);
    }
  }
}

/// AdamW. @tparam Stochastic rounding @param[in] t buffers @param[in] s scalars
/// @param[in] stream the caller's stream
template <bool Stochastic>
void adamw_step(matrix const& t, scalars const& s, cudaStream_t stream) {
  hand_adamw<Stochastic>
      <<<t.tiles(), 256, 0, stream>>>(t.param, t.grad, t.momentum, t.exact, s, t.C);
}

/// Lion. @tparam Stochastic rounding @param[in] t buffers @param[in] s scalars
/// @param[in] stream the caller's stream
template <bool Stochastic>
void lion_step(matrix const& t, scalars const& s, cudaStream_t stream) {
  hand_lion<Stochastic><<<t.tiles(), 256, 0, stream>>>(t.param, t.grad, t.momentum, s, t.C);
}

}  // namespace hand
