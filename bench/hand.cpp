// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Three steps as one would write them by hand for bf16: what the library is to be compared with.
///
/// Compiled with -fno-math-errno, without which g++ vectorises no root.
#include "hand.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace bench {
namespace {

constexpr std::int64_t rows_per_job = 32;
constexpr int piece = 512;  // columns that draw their random bits together

float decode(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); }

std::uint16_t nearest(float x) {
  auto const u = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

std::uint16_t stochastic(float x, std::uint32_t r) {
  auto const u = std::bit_cast<std::uint32_t>(x);
  bool const finite = (u & 0x7f800000u) != 0x7f800000u;
  return static_cast<std::uint16_t>((u + (finite ? r : 0u)) >> 16);
}

std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// 16 bits for each column of a piece; a draw of 32 bits serves two of them.
void draw(std::uint64_t key, std::int64_t c0, std::uint16_t* out) {
  auto const k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t bits[piece / 2];
#pragma omp simd
  for (int j = 0; j < piece / 2; ++j) {
    std::uint32_t x = static_cast<std::uint32_t>(c0 / 2 + j) ^ k0;  // triple32, keyed
    x = (x ^ (x >> 17)) * 0xed5ad4bbu;
    x = ((x ^ (x >> 11)) + k1) * 0xac4c1b51u;
    x = (x ^ (x >> 15)) * 0x31848babu;
    bits[j] = x ^ (x >> 14);
  }
  std::memcpy(out, bits, sizeof bits);
}

// Rounds next(c) to param[c] for all columns of a row.
template <bool Stochastic, class F>
void round_row(std::uint16_t* __restrict param, std::int64_t C, std::uint64_t key, F const& next) {
  if constexpr (Stochastic) {
    std::uint16_t bits[piece];
    for (std::int64_t c0 = 0; c0 < C; c0 += piece) {
      draw(key, c0, bits);
      auto const n = static_cast<int>(std::min<std::int64_t>(piece, C - c0));
#pragma omp simd
      for (int j = 0; j < n; ++j) param[c0 + j] = stochastic(next(c0 + j), bits[j]);
    }
  } else {
#pragma omp simd
    for (std::int64_t c = 0; c < C; ++c) param[c] = nearest(next(c));
  }
}

std::vector<hand_job> cut_into_jobs(std::vector<hand_tensor> const& tensors) {
  std::vector<hand_job> jobs;
  std::int64_t matrix = 0;
  for (auto const& t : tensors) {
    for (std::int64_t e = 0; e < t.E; ++e, ++matrix) {
      for (std::int64_t r = 0; r < t.R; r += rows_per_job) {
        jobs.push_back({&t, e, r, std::min(r + rows_per_job, t.R), matrix});
      }
    }
  }
  return jobs;
}

// --- The passes of the expert tier over the rows of one job.
// --------------------------------------

void add_squares(hand_job const& job, float* __restrict row, float* __restrict col) {
  std::int64_t const C = job.tensor->C;
  std::fill_n(col, C, 0.0f);
  for (std::int64_t r = job.begin; r < job.end; ++r) {
    std::uint16_t const* __restrict const g = job.tensor->grad + (job.e * job.tensor->R + r) * C;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < C; ++c) {
      float const x = decode(g[c]), square = x * x;
      col[c] += square;
      sum += square;
    }
    row[r] = sum;
  }
}

float update_norm(hand_job const& job, float const* row, float const* __restrict col) {
  std::int64_t const C = job.tensor->C;
  float norm = 0;
  for (std::int64_t r = job.begin; r < job.end; ++r) {
    std::uint16_t const* __restrict const g = job.tensor->grad + (job.e * job.tensor->R + r) * C;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < C; ++c) {
      float const u = decode(g[c]) * col[c];
      sum += u * u;
    }
    norm += sum * row[r] * row[r];
  }
  return norm;
}

template <bool Stochastic>
void apply(hand_job const& job, float const* row, float const* __restrict col, float lr,
           float decay, std::uint64_t key) {
  std::int64_t const C = job.tensor->C;
  for (std::int64_t r = job.begin; r < job.end; ++r) {
    std::int64_t const at = (job.e * job.tensor->R + r) * C;
    std::uint16_t const* __restrict const g = job.tensor->grad + at;
    std::uint16_t* __restrict const p = job.tensor->param + at;
    float const scale = lr * row[r];
    round_row<Stochastic>(p, C, mix64(key + static_cast<std::uint64_t>(at)), [=](std::int64_t c) {
      return decode(p[c]) * decay - decode(g[c]) * col[c] * scale;
    });
  }
}

// The rows of one AdamW job.
template <bool Stochastic>
void adamw_rows(hand_job const& job, numbers const& h, std::uint64_t key) {
  hand_tensor const& t = *job.tensor;
  auto const k = static_cast<double>(t.step[job.e] + 1);
  auto const beta1 = static_cast<float>(h.beta1), other1 = static_cast<float>(1 - h.beta1);
  auto const beta2 = static_cast<float>(h.beta2), other2 = static_cast<float>(1 - h.beta2);
  auto const lr = static_cast<float>(h.lr / (1 - std::pow(h.beta1, k)));
  auto const root2 = static_cast<float>(1 / std::sqrt(1 - std::pow(h.beta2, k)));
  auto const decay = static_cast<float>(1 - h.lr * h.weight_decay), eps = static_cast<float>(h.eps);
  for (std::int64_t r = job.begin; r < job.end; ++r) {
    std::int64_t const at = (job.e * t.R + r) * t.C;
    std::uint16_t const* __restrict const g = t.grad + at;
    std::uint16_t* __restrict const p = t.param + at;
    float* __restrict const m = t.momentum + at;
    float* __restrict const v = t.exact + at;
    round_row<Stochastic>(p, t.C, mix64(key + static_cast<std::uint64_t>(at)), [=](std::int64_t c) {
      float const x = decode(g[c]);
      float const m1 = beta1 * m[c] + other1 * x, v1 = beta2 * v[c] + other2 * (x * x);
      m[c] = m1;
      v[c] = v1;
      return decode(p[c]) * decay - lr * m1 / (std::sqrt(v1) * root2 + eps);
    });
  }
}

// The rows of one Lion job.
template <bool Stochastic>
void lion_rows(hand_job const& job, numbers const& h, std::uint64_t key) {
  hand_tensor const& t = *job.tensor;
  auto const beta1 = static_cast<float>(h.beta1), other1 = static_cast<float>(1 - h.beta1);
  auto const beta2 = static_cast<float>(h.beta2), other2 = static_cast<float>(1 - h.beta2);
  auto const lr = static_cast<float>(h.lr);
  auto const decay = static_cast<float>(1 - h.lr * h.weight_decay);
  for (std::int64_t r = job.begin; r < job.end; ++r) {
    std::int64_t const at = (job.e * t.R + r) * t.C;
    std::uint16_t const* __restrict const g = t.grad + at;
    std::uint16_t* __restrict const p = t.param + at;
    float* __restrict const m = t.momentum + at;
    round_row<Stochastic>(p, t.C, mix64(key + static_cast<std::uint64_t>(at)), [=](std::int64_t c) {
      float const x = decode(g[c]), u = beta1 * m[c] + other1 * x;
      m[c] = beta2 * m[c] + other2 * x;
      return decode(p[c]) * decay - (u == 0 ? 0.0f : std::copysign(lr, u));
    });
  }
}

}  // namespace

hand_experts::hand_experts(std::vector<hand_tensor> tensors)
    : tensors_{std::move(tensors)}, jobs_{cut_into_jobs(tensors_)} {
  std::int64_t rows = 0, cols = 0, parts = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    hand_job const& job = jobs_[j];
    if (job.begin == 0) {
      first_job_.push_back(static_cast<std::int64_t>(j));
      row_at_.push_back(rows);
      col_at_.push_back(cols);
      rows += job.tensor->R;
      cols += job.tensor->C;
    }
    part_at_.push_back(parts);
    parts += job.tensor->C;
  }
  first_job_.push_back(static_cast<std::int64_t>(jobs_.size()));
  rows_.resize(static_cast<std::size_t>(rows));
  cols_.resize(static_cast<std::size_t>(cols));
  parts_.resize(static_cast<std::size_t>(parts));
  norms_.resize(jobs_.size());
}

void hand_experts::step(numbers const& h, std::uint64_t seed, bool stochastic) {
  auto const n_jobs = static_cast<std::int64_t>(jobs_.size());
  auto const n_matrices = static_cast<std::int64_t>(first_job_.size()) - 1;
  auto const beta2 = static_cast<float>(h.beta2), other2 = static_cast<float>(1 - h.beta2);
  auto const eps = static_cast<float>(h.eps);
  auto const decay = static_cast<float>(1 - h.lr * h.weight_decay);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j < n_jobs; ++j) {
      hand_job const& job = jobs_[j];
      add_squares(job, rows_.data() + row_at_[job.matrix], parts_.data() + part_at_[j]);
    }
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < n_matrices; ++i) {
      hand_job const& job = jobs_[first_job_[i]];
      std::int64_t const R = job.tensor->R, C = job.tensor->C;
      float* __restrict const row = rows_.data() + row_at_[i];
      float* __restrict const col = cols_.data() + col_at_[i];
      float* __restrict const row_state = job.tensor->row + job.e * R;
      float* __restrict const col_state = job.tensor->col + job.e * C;
      auto const k = static_cast<double>(job.tensor->step[job.e] + 1);
      auto const correction = static_cast<float>(1 / (1 - std::pow(h.beta2, k)));
      auto const per_row = static_cast<float>(C), per_col = static_cast<float>(R);
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t r = 0; r < R; ++r) {
        row_state[r] = beta2 * row_state[r] + other2 * (row[r] / per_row + eps);
        sum += row_state[r];
      }
      float const mean = sum / per_col;
#pragma omp simd
      for (std::int64_t r = 0; r < R; ++r) row[r] = 1 / std::sqrt(row_state[r] / mean * correction);
      std::fill_n(col, C, 0.0f);
      for (std::int64_t j = first_job_[i]; j < first_job_[i + 1]; ++j) {
        float const* __restrict const part = parts_.data() + part_at_[j];
#pragma omp simd
        for (std::int64_t c = 0; c < C; ++c) col[c] += part[c];
      }
#pragma omp simd
      for (std::int64_t c = 0; c < C; ++c) {
        col_state[c] = beta2 * col_state[c] + other2 * (col[c] / per_col + eps);
        col[c] = 1 / std::sqrt(col_state[c]);
      }
    }
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j < n_jobs; ++j) {
      hand_job const& job = jobs_[j];
      norms_[j] =
          update_norm(job, rows_.data() + row_at_[job.matrix], cols_.data() + col_at_[job.matrix]);
    }
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j < n_jobs; ++j) {
      hand_job const& job = jobs_[j];
      std::int64_t const i = job.matrix;
      float norm = 0;
      for (std::int64_t k = first_job_[i]; k < first_job_[i + 1]; ++k) norm += norms_[k];
      float const rms = std::sqrt(norm / static_cast<float>(job.tensor->R * job.tensor->C));
      float const lr = static_cast<float>(h.lr) / std::max(1.0f, rms / static_cast<float>(h.clip));
      std::uint64_t const key = mix64(seed + static_cast<std::uint64_t>(i)) +
                                static_cast<std::uint64_t>(job.tensor->step[job.e]);
      float const* const row = rows_.data() + row_at_[i];
      float const* const col = cols_.data() + col_at_[i];
      stochastic ? apply<true>(job, row, col, lr, decay, key)
                 : apply<false>(job, row, col, lr, decay, key);
    }
  }
  for (auto const& t : tensors_) {
    for (std::int64_t e = 0; e < t.E; ++e) ++t.step[e];
  }
}

hand_one_pass::hand_one_pass(std::vector<hand_tensor> tensors, rows nearest, rows stochastic)
    : tensors_{std::move(tensors)}, jobs_{cut_into_jobs(tensors_)}, rows_{nearest, stochastic} {}

void hand_one_pass::step(numbers const& h, std::uint64_t seed, bool stochastic) {
  auto const n_jobs = static_cast<std::int64_t>(jobs_.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < n_jobs; ++j) {
    hand_job const& job = jobs_[j];
    std::uint64_t const key = mix64(seed + static_cast<std::uint64_t>(job.matrix)) +
                              static_cast<std::uint64_t>(job.tensor->step[job.e]);
    rows_[stochastic](job, h, key);
  }
  for (auto const& t : tensors_) {
    for (std::int64_t e = 0; e < t.E; ++e) ++t.step[e];
  }
}

hand_adamw::hand_adamw(std::vector<hand_tensor> tensors)
    : hand_one_pass{std::move(tensors), adamw_rows<false>, adamw_rows<true>} {}

hand_lion::hand_lion(std::vector<hand_tensor> tensors)
    : hand_one_pass{std::move(tensors), lion_rows<false>, lion_rows<true>} {}

}  // namespace bench
