// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One optimizer step written from the formulas, in double or wider; includes no header of the
/// library.
#pragma once

#include "support/exact_format.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace testing::reference {

using std::int64_t;

/// Where eps enters the second moment.
enum class eps_kind {
  inside,   ///< S = g^2 + eps; v bias-corrected; U = m / sqrt(v)
  added,    ///< U = m / (sqrt(v) + eps), v bias-corrected
  floored,  ///< max(., eps) under each root, v not corrected, the correction in the step
};
/// What shares one update-RMS clip.
enum class clip_kind { none, matrix, tensor };

/// A tier, said in run-time values.
struct recipe {
  bool momentum = false;
  bool factored = false;
  eps_kind eps = eps_kind::inside;
  clip_kind clip = clip_kind::matrix;
  bool rounded_decay = false;
  bool tensor_step = false;
};

struct hyper {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-30;
  double clip = 1;
  double weight_decay = 0;
};

/// A tensor of E matrices (R, C) and its state, all dense and row-major.
template <class Real>
struct tensor {
  int64_t E = 1;
  int64_t R = 1;
  int64_t C = 1;
  std::vector<Real> param;     // (E, R, C)
  std::vector<Real> momentum;  // (E, R, C), with momentum
  std::vector<Real> row;       // (E, R), factored
  std::vector<Real> col;       // (E, C), factored
  std::vector<Real> exact;     // (E, R, C), not factored
  std::vector<int64_t> step;   // (E), or (1) with one step for the tensor

  int64_t size() const { return E * R * C; }
  std::size_t at(int64_t e, int64_t r, int64_t c) const {
    return static_cast<std::size_t>((e * R + r) * C + c);
  }
};

/// What a step computes on the way; values of matrices that rest stay zero.
template <class Real>
struct trace {
  std::vector<Real> m;  // (E, R, C) what is divided: corrected momentum, or the gradient
  std::vector<Real>
      m_magnitude;  // (E, R, C) the same with absolute values: the scale of its rounding
  std::vector<Real> denominator;  // (E, R, C)
  std::vector<Real> raw;          // (E, R, C) U before the clip
  std::vector<Real> update;       // (E, R, C) U after the clip
  std::vector<Real> decayed;      // (E, R, C) p (1 - lr wd), not rounded
  std::vector<Real> before;       // (E, R, C) the value that is rounded to the parameter's type
  std::vector<Real> rms;          // (E), or (1) when the clip spans the tensor; before the clip
  std::vector<Real> factor;       // like rms: what the clip multiplies by
};

/// One step in place. grad: (E, R, C) or empty (absent). active: (E) or empty (all).
/// `param_format` is what rounded decay rounds to; the parameter itself is left unrounded in
/// `before` and untouched in `t`.
template <class Real>
trace<Real> step(recipe const& tier, hyper const& h, tensor<Real>& t, std::vector<Real> const& grad,
                 std::vector<int> const& active, Real grad_factor, binary_format param_format) {
  std::size_t const n = static_cast<std::size_t>(t.size());
  std::vector<Real> const none(n);
  trace<Real> out{none, none, none, none, none, none, none, {}, {}};
  bool const by_tensor = tier.clip == clip_kind::tensor;
  out.rms.assign(by_tensor ? 1 : static_cast<std::size_t>(t.E), Real{0});
  out.factor.assign(out.rms.size(), Real{1});
  out.before = t.param;
  out.decayed = t.param;
  if (grad.empty()) return out;  // absent, or nothing to update: everything rests
  auto const rests = [&](int64_t e) {
    return !active.empty() && active[static_cast<std::size_t>(e)] == 0;
  };
  Real const beta1 = h.beta1, beta2 = h.beta2, eps = h.eps;
  Real tensor_squares = 0;

  if (tier.tensor_step) t.step[0] += 1;
  for (int64_t e = 0; e < t.E; ++e) {
    if (rests(e)) continue;
    std::size_t const matrix = static_cast<std::size_t>(e);
    if (!tier.tensor_step) t.step[matrix] += 1;
    int64_t const k = tier.tensor_step ? t.step[0] : t.step[matrix];
    Real const correction1 = 1 - std::pow(beta1, static_cast<Real>(k));
    Real const correction2 = 1 - std::pow(beta2, static_cast<Real>(k));
    auto const g = [&](int64_t r, int64_t c) { return grad[t.at(e, r, c)] * grad_factor; };
    Real const inner = tier.eps == eps_kind::inside ? eps : Real{0};

    Real mean_row = 0;
    if (tier.factored) {
      for (int64_t r = 0; r < t.R; ++r) {
        Real sum = 0;
        for (int64_t c = 0; c < t.C; ++c) sum += g(r, c) * g(r, c) + inner;
        Real& state = t.row[static_cast<std::size_t>(e * t.R + r)];
        if (t.C > 0) state = beta2 * state + (1 - beta2) * (sum / static_cast<Real>(t.C));
        mean_row += state;
      }
      if (t.R > 0) mean_row /= static_cast<Real>(t.R);
      for (int64_t c = 0; c < t.C; ++c) {
        Real sum = 0;
        for (int64_t r = 0; r < t.R; ++r) sum += g(r, c) * g(r, c) + inner;
        Real& state = t.col[static_cast<std::size_t>(e * t.C + c)];
        if (t.R > 0) state = beta2 * state + (1 - beta2) * (sum / static_cast<Real>(t.R));
      }
    }

    Real squares = 0;
    for (int64_t r = 0; r < t.R; ++r) {
      for (int64_t c = 0; c < t.C; ++c) {
        std::size_t const i = t.at(e, r, c);
        Real m = g(r, c);
        Real magnitude = std::fabs(m);
        if (tier.momentum) {
          magnitude = std::fabs(beta1 * t.momentum[i]) + std::fabs((1 - beta1) * m);
          t.momentum[i] = beta1 * t.momentum[i] + (1 - beta1) * m;
          m = t.momentum[i] / correction1;
          magnitude /= correction1;
        }
        Real d = 0;
        if (tier.factored) {
          Real const R = t.row[static_cast<std::size_t>(e * t.R + r)];
          Real const C = t.col[static_cast<std::size_t>(e * t.C + c)];
          Real const ratio = mean_row == 0 ? Real{0} : R / mean_row;
          switch (tier.eps) {
            case eps_kind::inside: d = std::sqrt(ratio * C / correction2); break;
            case eps_kind::added:
              d = std::sqrt(ratio) * std::sqrt(C) / std::sqrt(correction2) + eps;
              break;
            case eps_kind::floored: {
              Real const floor = 1e-15;
              Real const floored = R / (mean_row > floor ? mean_row : floor);
              d = std::sqrt(floored > eps ? floored : eps) * std::sqrt(C > eps ? C : eps) /
                  std::sqrt(correction2);
              break;
            }
          }
        } else {
          Real& V = t.exact[i];
          V = beta2 * V + (1 - beta2) * (g(r, c) * g(r, c) + inner);
          switch (tier.eps) {
            case eps_kind::inside: d = std::sqrt(V / correction2); break;
            case eps_kind::added: d = std::sqrt(V) / std::sqrt(correction2) + eps; break;
            case eps_kind::floored:
              d = std::sqrt(V > eps ? V : eps) / std::sqrt(correction2);
              break;
          }
        }
        Real const u = d == 0 ? Real{0} : m / d;
        out.m[i] = m;
        out.m_magnitude[i] = magnitude;
        out.denominator[i] = d;
        out.raw[i] = u;
        squares += u * u;
      }
    }
    tensor_squares += squares;
    if (!by_tensor && t.R * t.C > 0) {
      out.rms[matrix] = std::sqrt(squares / static_cast<Real>(t.R * t.C));
    }
  }
  if (by_tensor && n > 0) out.rms[0] = std::sqrt(tensor_squares / static_cast<Real>(t.size()));
  if (tier.clip != clip_kind::none) {
    for (std::size_t i = 0; i < out.rms.size(); ++i) {
      Real const excess = out.rms[i] / static_cast<Real>(h.clip);
      out.factor[i] = 1 / (excess > 1 ? excess : Real{1});
    }
  }
  Real const keep = 1 - static_cast<Real>(h.lr) * static_cast<Real>(h.weight_decay);
  for (int64_t e = 0; e < t.E; ++e) {
    if (rests(e)) continue;
    Real const factor = out.factor[by_tensor ? 0 : static_cast<std::size_t>(e)];
    for (int64_t r = 0; r < t.R; ++r) {
      for (int64_t c = 0; c < t.C; ++c) {
        std::size_t const i = t.at(e, r, c);
        out.update[i] = out.raw[i] * factor;
        out.decayed[i] = t.param[i] * keep;
        Real const p = tier.rounded_decay ? param_format.nearest(out.decayed[i]) : out.decayed[i];
        out.before[i] = p - static_cast<Real>(h.lr) * out.update[i];
      }
    }
  }
  return out;
}

}  // namespace testing::reference
