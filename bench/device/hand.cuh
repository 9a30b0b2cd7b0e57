// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device kernels as one would write them by hand: what the library's are to be compared with.
///
/// Here the factored tiers. One (R, C) matrix of bf16, dense, R a multiple of 128 and C of 1,024,
/// all scalars as kernel arguments; nothing else is possible. The tile is the library's (128 x
/// 1,024 by 8 warps), and so are the rounding bits and the order of sums: the results can be
/// compared bit for bit. A pack is 16 bytes of the widest operand.
#pragma once

#include <tieropt/precision/random.hpp>

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace hand {

using std::int64_t;
using std::uint16_t;
using std::uint32_t;

/// Scalars of one step.
struct scalars {
  float grad_gain;         ///< unscale and global clip, one factor
  float beta1;             ///< decay of the momentum
  float one_minus_beta1;   ///< formed in double
  float beta2;             ///< decay of the second moment
  float one_minus_beta2;   ///< formed in double
  float correction2;       ///< 1 / (1 - beta2^k)
  float root_correction2;  ///< its root
  float update_gain;       ///< 1 / (1 - beta1^k) with a momentum, else 1
  float eps;               ///< inside the average, or added to the root
  float clip;              ///< threshold of the update's RMS
  float lr;                ///< learning rate
  float decay;             ///< 1 - lr weight_decay
  uint32_t key0, key1;     ///< of the rounding bits
  uint32_t first_pair;     ///< half the index of the matrix's first element in its tensor
};

/// Buffers of one matrix; those that a tier does not use are null.
struct matrix {
  int64_t R, C;                    ///< shape
  uint16_t* param = nullptr;       ///< (R, C) bf16
  uint16_t const* grad = nullptr;  ///< (R, C) bf16
  float* momentum = nullptr;       ///< (R, C)
  float* exact = nullptr;          ///< (R, C)
  float* row = nullptr;            ///< (R) factors
  float* col = nullptr;            ///< (C) factors
  float* row_part = nullptr;       ///< (C / 1024, R) scratch
  float* col_part = nullptr;       ///< (R / 128, C) scratch
  float* row_value = nullptr;      ///< (R) scratch
  float* col_value = nullptr;      ///< (C) scratch
  float* norm_part = nullptr;      ///< (R / 128, C / 1024) scratch
  float* factor = nullptr;         ///< (1) scratch

  /// Blocks of a pass over the matrix. @return tiles
  unsigned tiles() const { return static_cast<unsigned>(R / 128 * (C / 1024)); }
};

// ---- packs --------------------------------------------------------------------------------------

__device__ __forceinline__ float low(uint32_t w) { return __uint_as_float(w << 16); }
__device__ __forceinline__ float high(uint32_t w) { return __uint_as_float(w & 0xffff0000u); }

__device__ __forceinline__ void load(float (&x)[8], uint16_t const* p) {
  uint4 const q = *reinterpret_cast<uint4 const*>(p);
  x[0] = low(q.x), x[1] = high(q.x), x[2] = low(q.y), x[3] = high(q.y);
  x[4] = low(q.z), x[5] = high(q.z), x[6] = low(q.w), x[7] = high(q.w);
}
__device__ __forceinline__ void load(float (&x)[4], uint16_t const* p) {
  uint2 const q = *reinterpret_cast<uint2 const*>(p);
  x[0] = low(q.x), x[1] = high(q.x), x[2] = low(q.y), x[3] = high(q.y);
}
__device__ __forceinline__ void load(float (&x)[4], float const* p) {
  float4 const q = *reinterpret_cast<float4 const*>(p);
  x[0] = q.x, x[1] = q.y, x[2] = q.z, x[3] = q.w;
}
__device__ __forceinline__ void load(float (&x)[8], float const* p) {
  float4 const q = reinterpret_cast<float4 const*>(p)[0], r = reinterpret_cast<float4 const*>(p)[1];
  x[0] = q.x, x[1] = q.y, x[2] = q.z, x[3] = q.w, x[4] = r.x, x[5] = r.y, x[6] = r.z, x[7] = r.w;
}
__device__ __forceinline__ void store(float* p, float const (&x)[4]) {
  *reinterpret_cast<float4*>(p) = make_float4(x[0], x[1], x[2], x[3]);
}
__device__ __forceinline__ void store(uint16_t* p, uint32_t const (&w)[4]) {
  *reinterpret_cast<uint4*>(p) = make_uint4(w[0], w[1], w[2], w[3]);
}
__device__ __forceinline__ void store(uint16_t* p, uint32_t const (&w)[2]) {
  *reinterpret_cast<uint2*>(p) = make_uint2(w[0], w[1]);
}

// Two values as bf16; NaN becomes 0x7FFF.
__device__ __forceinline__ uint32_t nearest(float a, float b) {
  __nv_bfloat162 const pair = __floats2bfloat162_rn(a, b);
  return *reinterpret_cast<uint32_t const*>(&pair);
}
__device__ __forceinline__ uint32_t stochastic(float a, float b, uint32_t bits) {
  uint32_t const x = a != a ? 0x7fff0000u : __float_as_uint(a) + (bits & 0xffffu);
  uint32_t const y = b != b ? 0x7fff0000u : __float_as_uint(b) + (bits >> 16);
  return __byte_perm(x, y, 0x7632);
}
template <bool Stochastic, int N>
__device__ __forceinline__ void round(uint32_t (&w)[N / 2], float const (&x)[N], scalars const& s,
                                      uint32_t first) {
#pragma unroll
  for (uint32_t i = 0; i < N / 2; ++i) {
    w[i] = Stochastic ? stochastic(x[2 * i], x[2 * i + 1],
                                   tieropt::mix32(s.first_pair + first / 2 + i, s.key0, s.key1))
                      : nearest(x[2 * i], x[2 * i + 1]);
  }
}

// ---- sums ---------------------------------------------------------------------------------------

__device__ __forceinline__ float tree4(float const* a) { return (a[0] + a[1]) + (a[2] + a[3]); }
__device__ __forceinline__ float tree8(float const* a) { return tree4(a) + tree4(a + 4); }
__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int o = 1; o < 32; o *= 2) x += __shfl_xor_sync(~0u, x, o);
  return x;
}
// Of 256 sums by column, packs of N neighbours in a lane.
template <int N>
__device__ __forceinline__ float strip_sum(float const (&a)[8]) {
  if (N == 8) return warp_sum(tree8(a));
  return warp_sum(tree4(a)) + warp_sum(tree4(a + 4));
}
// Of n <= 64 values.
__device__ __forceinline__ float tree(float const* p, int n, int64_t stride) {
  float eights[8] = {};
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (8 * j >= n) break;
    float a[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i] = 8 * j + i < n ? p[(8 * j + i) * stride] : 0;
    eights[j] = tree8(a);
  }
  return tree8(eights);
}
// Of n <= 8192 values, by a block of 8 warps; valid in all threads.
__device__ __forceinline__ float block_sum(float const* p, int n) {
  __shared__ float sums[8];
  int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float a[8] = {};
  for (int k = 0; k < 4; ++k) {
    int const c = warp * 1024 + k * 256 + lane * 8;
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i] += c + i < n ? p[c + i] : 0;
  }
  float const sum = strip_sum<8>(a);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  return tree8(sums);
}

// ---- tiles --------------------------------------------------------------------------------------

// Where a lane works: packs j = 0 .. 32 / N - 1 of a row lie 32 N columns apart.
template <int N>
struct place {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int segment, tile;
  int64_t row, col;  // of the lane's first element

  __device__ explicit place(int64_t C) {
    int const segments = static_cast<int>(C / 1024);
    segment = blockIdx.x % segments, tile = blockIdx.x / segments;
    row = tile * 128 + warp * 16, col = segment * 1024 + lane * N;
  }
};

/// Row sums per segment and column sums per tile of the squared gradients.
__global__ void __launch_bounds__(256, 3)
    hand_squares(uint16_t const* __restrict__ grad, float* __restrict__ row_part,
                 float* __restrict__ col_part, scalars const s, int64_t R, int64_t C) {
  __shared__ __align__(16) float leaf_sums[8][1024];
  place<8> const at{C};
  float col[4][8] = {};
  uint16_t const* g = grad + at.row * C + at.col;
  for (int r = 0; r < 16; ++r, g += C) {
    float row[8] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float x[8];
      load(x, g + k * 256);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        float const v = s.grad_gain * x[i];
        row[i] = fmaf(v, v, row[i]);
        col[k][i] = fmaf(v, v, col[k][i]);
      }
    }
    float const sum = strip_sum<8>(row);
    if (at.lane == 0) row_part[at.segment * R + at.row + r] = sum;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float* const to = &leaf_sums[at.warp][k * 256 + at.lane * 8];
    store(to, {col[k][0], col[k][1], col[k][2], col[k][3]});
    store(to + 4, {col[k][4], col[k][5], col[k][6], col[k][7]});
  }
  __syncthreads();
  for (int c = threadIdx.x; c < 1024; c += 256) {
    float a[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i] = leaf_sums[i][c];
    col_part[at.tile * C + at.segment * 1024 + c] = tree8(a);
  }
}

/// Partial sums into factors and their reciprocal roots; block 0 the rows, the others the columns.
__global__ void __launch_bounds__(256, 3)
    hand_fold(float const* __restrict__ row_part, float const* __restrict__ col_part,
              float* __restrict__ row, float* __restrict__ col, float* __restrict__ row_value,
              float* __restrict__ col_value, scalars const s, int64_t R, int64_t C) {
  auto const blend = [&](float v, float sum, int64_t n) {
    return fmaf(s.beta2, v, s.one_minus_beta2 * (sum / static_cast<float>(n) + s.eps));
  };
  if (blockIdx.x > 0) {
    for (int64_t c = (blockIdx.x - 1) * 1024 + threadIdx.x; c < blockIdx.x * 1024; c += 256) {
      float const v = blend(col[c], tree(col_part + c, static_cast<int>(R / 128), C), R);
      col[c] = v;
      col_value[c] = 1 / sqrtf(v);
    }
    return;
  }
  for (int64_t r = threadIdx.x; r < R; r += 256) {
    row[r] = blend(row[r], tree(row_part + r, static_cast<int>(C / 1024), R), C);
  }
  __syncthreads();
  float const sum = block_sum(row, static_cast<int>(R));
  float const root = sqrtf(fmaxf(sum / static_cast<float>(R), 0x1p-126f));
  for (int64_t r = threadIdx.x; r < R; r += 256) {
    row_value[r] = root / sqrtf(row[r] * s.correction2);
  }
}

/// The squared norm of each tile's update; the momentum takes the gradient in.
template <bool Momentum>
__global__ void __launch_bounds__(256, 3)
    hand_measure(uint16_t const* __restrict__ grad, float* __restrict__ momentum,
                 float const* __restrict__ row_value, float const* __restrict__ col_value,
                 float* __restrict__ norm_part, scalars const s, int64_t C) {
  constexpr int N = Momentum ? 4 : 8;
  __shared__ float norms[8];
  place<N> const at{C};
  float b[32 / N][N];
#pragma unroll
  for (int j = 0; j < 32 / N; ++j) load(b[j], col_value + at.col + j * 32 * N);
  uint16_t const* g = grad + at.row * C + at.col;
  float* m = Momentum ? momentum + at.row * C + at.col : nullptr;
  float norm = 0;
  for (int r = 0; r < 16; ++r, g += C) {
    float sum[8] = {};
#pragma unroll
    for (int j = 0; j < 32 / N; ++j) {
      float x[N], y[N];
      load(x, g + j * 32 * N);
      if constexpr (Momentum) load(y, m + j * 32 * N);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        x[i] *= s.grad_gain;
        if (Momentum) x[i] = y[i] = fmaf(s.one_minus_beta1, x[i], s.beta1 * y[i]);
        float const u = x[i] * b[j][i];
        float& total = sum[j * N % 8 + i];
        total = fmaf(u, u, total);
      }
      if constexpr (Momentum) store(m + j * 32 * N, y);
    }
    if (Momentum) m += C;
    float const a = row_value[at.row + r];
    norm = fmaf(strip_sum<N>(sum) * a, a, norm);
  }
  if (at.lane == 0) norms[at.warp] = norm;
  __syncthreads();
  if (threadIdx.x == 0) norm_part[blockIdx.x] = tree8(norms);
}

/// The clip factor; one block.
__global__ void __launch_bounds__(256, 3)
    hand_find_factors(float const* __restrict__ norm_part, float* factor, scalars const s,
                      int64_t R, int64_t C) {
  float const sum = block_sum(norm_part, static_cast<int>(R / 128 * (C / 1024)));
  float const rms = s.update_gain * sqrtf(sum / static_cast<float>(R * C));
  if (threadIdx.x == 0) *factor = s.update_gain / fmaxf(1, rms / s.clip);
}

/// Decay, clip, learning rate, one rounding.
template <bool Momentum, bool Stochastic>
__global__ void __launch_bounds__(256, 3)
    hand_apply(uint16_t* __restrict__ param, uint16_t const* __restrict__ grad,
               float const* __restrict__ momentum, float const* __restrict__ row_value,
               float const* __restrict__ col_value, float const* __restrict__ factor,
               scalars const s, int64_t C) {
  constexpr int N = Momentum ? 4 : 8;
  place<N> const at{C};
  float b[32 / N][N];
#pragma unroll
  for (int j = 0; j < 32 / N; ++j) load(b[j], col_value + at.col + j * 32 * N);
  int64_t first = at.row * C + at.col;
  float const step = -(s.lr * *factor);
  for (int r = 0; r < 16; ++r, first += C) {
    float const q = step * row_value[at.row + r];
#pragma unroll
    for (int j = 0; j < 32 / N; ++j) {
      int64_t const i0 = first + j * 32 * N;
      float x[N], p[N];
      uint32_t w[N / 2];
      if constexpr (Momentum) {
        load(x, momentum + i0);
      } else {
        load(x, grad + i0);
      }
      load(p, param + i0);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if (!Momentum) x[i] *= s.grad_gain;
        p[i] = fmaf(q, x[i] * b[j][i], p[i] * s.decay);
      }
      round<Stochastic>(w, p, s, static_cast<uint32_t>(i0));
      store(param + i0, w);
    }
  }
}

// ---- steps --------------------------------------------------------------------------------------

/// The factored, clipped tiers. @tparam Momentum whether there is one @tparam Stochastic rounding
/// @param[in] t buffers @param[in] s scalars @param[in] stream the caller's stream
template <bool Momentum, bool Stochastic>
void factored_step(matrix const& t, scalars const& s, cudaStream_t stream) {
  unsigned const n = t.tiles(), folds = 1 + static_cast<unsigned>(t.C / 1024);
  hand_squares<<<n, 256, 0, stream>>>(t.grad, t.row_part, t.col_part, s, t.R, t.C);
  hand_fold<<<folds, 256, 0, stream>>>(t.row_part, t.col_part, t.row, t.col, t.row_value,
                                       t.col_value, s, t.R, t.C);
  hand_measure<Momentum>
      <<<n, 256, 0, stream>>>(t.grad, t.momentum, t.row_value, t.col_value, t.norm_part, s, t.C);
  hand_find_factors<<<1, 256, 0, stream>>>(t.norm_part, t.factor, s, t.R, t.C);
  hand_apply<Momentum, Stochastic><<<n, 256, 0, stream>>>(t.param, t.grad, t.momentum, t.row_value,
                                                          t.col_value, t.factor, s, t.C);
}

}  // namespace hand
