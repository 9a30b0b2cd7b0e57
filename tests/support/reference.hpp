// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One optimizer step written from the formulas, in double or wider; includes no header of the
/// library.
#pragma once

#include "support/bounded.hpp"
#include "support/exact_format.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace testing::reference {

using std::int64_t;

/// What is divided: the gradient g, or an average M of it.
enum class momentum_kind {
  none,                 ///< g
  ema,                  ///< M = b1 M + (1 - b1) g
  heavy_ball,           ///< M = b1 M + g
  lion,                 ///< b1 M + (1 - b1) g, and then M = b2 M + (1 - b2) g
  nesterov_ema,         ///< ema, and its rule once more with the same g
  nesterov_heavy_ball,  ///< heavy ball, and its rule once more
};
enum class variance_kind { none, exact, factored };
/// Where eps enters the second moment.
enum class eps_kind {
  inside,   ///< S = g^2 + eps; v bias-corrected; U = m / sqrt(v)
  added,    ///< U = m / (sqrt(v) + eps), v bias-corrected
  floored,  ///< max(., eps) under each root, v not corrected, the correction in the step
};
/// Which moments are divided by 1 - beta^k.
enum class bias_kind { both, second, none };
enum class transform_kind {
  none,
  sign,      ///< -1, 0 or 1
  cautious,  ///< 0 where U g <= 0
};
/// What limits the update, over a matrix or the whole tensor.
enum class clip_kind { none, rms_matrix, rms_tensor, share_matrix, share_tensor, unit_norm };
/// The learning rate: given, min(1e-2, 1 / sqrt(k)), min(1e-6 k, 1 / sqrt(k)).
enum class rate_kind { given, relative, warm_up };
/// Whose RMS of the parameter the rate is multiplied by.
enum class scale_kind { none, matrix, tensor };
enum class decay_kind {
  fused,    ///< p (1 - lr wd)
  rounded,  ///< the same, rounded to the type of p
  l2,       ///< g + wd p
  none,
};

/// A tier, said in run-time values.
struct recipe {
  momentum_kind momentum = momentum_kind::none;
  bool of_update = false;  // the momentum averages the step instead of the gradient
  variance_kind variance = variance_kind::exact;
  eps_kind eps = eps_kind::inside;
  bias_kind bias = bias_kind::both;
  bool rising = false;  // beta2 = 1 - k^-beta2_decay
  transform_kind transform = transform_kind::none;
  clip_kind clip = clip_kind::rms_matrix;
  rate_kind rate = rate_kind::given;
  scale_kind scale = scale_kind::none;
  decay_kind decay = decay_kind::fused;
  bool maximize = false;
  bool tensor_step = false;

  bool clips_tensor() const {
    return clip == clip_kind::rms_tensor || clip == clip_kind::share_tensor;
  }
  bool clips_share() const {
    return clip == clip_kind::share_matrix || clip == clip_kind::share_tensor;
  }
};

struct hyper {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-30;
  double clip = 1;
  double weight_decay = 0;
  double beta2_decay = 0.8;
  double eps2 = 1e-3;
};

/// A tensor of E matrices (R, C) and its state, all dense and row-major.
template <class Real>
struct tensor {
  int64_t E = 1;
  int64_t R = 1;
  int64_t C = 1;
  std::vector<bounded<Real>> param;     // (E, R, C)
  std::vector<bounded<Real>> momentum;  // (E, R, C), with momentum
  std::vector<bounded<Real>> row;       // (E, R), factored
  std::vector<bounded<Real>> col;       // (E, C), factored
  std::vector<bounded<Real>> exact;     // (E, R, C), exact
  std::vector<int64_t> step;            // (E), or (1) with one step for the tensor
  double momentum_unit = 0;             // unit roundoff of states narrower than the compute type
  double variance_unit = 0;

  int64_t size() const { return E * R * C; }
  std::size_t at(int64_t e, int64_t r, int64_t c) const {
    return static_cast<std::size_t>((e * R + r) * C + c);
  }
};

/// What a step computes on the way; values of matrices that rest stay zero.
template <class Real>
struct trace {
  std::vector<bounded<Real>> update;     // (E, R, C) U before the clip, transformed
  std::vector<bounded<Real>> decayed;    // (E, R, C) p (1 - lr wd), not rounded
  std::vector<bounded<Real>> move;       // (E, R, C) what is subtracted from that
  std::vector<bounded<Real>> before;     // (E, R, C) the value that is rounded to p's type
  std::vector<bounded<Real>> measured;   // (E), or (1): RMS, share of what is not zero, or norm
  std::vector<bounded<Real>> param_rms;  // (E), or (1)
};

/// The numbers of one matrix: constants are formed in double and rounded once.
template <class Real>
struct scalars {
  using number = bounded<Real>;
  number beta1, rest1;  // beta1 and 1 - beta1
  number beta2, rest2;
  number left2;  // 1 - beta2^k, or 1 without that correction
  number gain;   // of the momentum: 1 over the sum of its weights, or 1
  number rate;   // lr before the parameter's scale

  /// 1 - beta^k as double has it: the power is rounded, and then the difference.
  static number left(Real beta, int64_t k) {
    return {1 - std::pow(beta, static_cast<Real>(k)), Real(0x1p-53)};
  }

  scalars(recipe const& tier, hyper const& h, int64_t k) {
    Real const n = static_cast<Real>(k), b1 = h.beta1, b2 = h.beta2;
    beta1 = number{b1}.rounded(), rest1 = number{1 - b1}.rounded();
    beta2 = number{b2}.rounded(), rest2 = number{1 - b2}.rounded();
    left2 = tier.bias == bias_kind::none ? number{1} : left(b2, k);
    if (tier.rising) {
      Real const rest = std::pow(n, -static_cast<Real>(h.beta2_decay));
      Real const off = Real(0x1p-53) * (1 + 2 * rest);  // the difference; a power off by an ulp
      beta2 = number{1 - rest, off}.rounded(), rest2 = number{rest, off}.rounded();
      left2 = number{1};
    }
    gain = number{1};
    if (tier.bias == bias_kind::both) {
      if (tier.momentum == momentum_kind::ema) gain = (1 / left(b1, k)).rounded();
      if (tier.momentum == momentum_kind::nesterov_ema) gain = (1 / left(b1, k + 1)).rounded();
    }
    Real const root = 1 / std::sqrt(n);
    switch (tier.rate) {
      case rate_kind::given: rate = number{Real(h.lr)}; break;
      case rate_kind::relative: rate = number{std::fmin(Real(1e-2), root)}; break;
      case rate_kind::warm_up: rate = number{std::fmin(Real(1e-6) * n, root)}; break;
    }
    rate = rate.rounded();
    if (tier.rate != rate_kind::given) rate.error += Real(0x1p-52) * rate.value;
  }

  /// Takes x into M. @return what is divided, before its gain
  number average(momentum_kind kind, number& m, number x, double state_unit) const {
    number const old = m;
    auto const ema = [&] { return beta1 * m + rest1 * x; };
    auto const ball = [&] { return beta1 * m + x; };
    switch (kind) {
      case momentum_kind::none: return x;
      case momentum_kind::ema:
      case momentum_kind::nesterov_ema: m = ema().stored(state_unit); break;
      case momentum_kind::heavy_ball:
      case momentum_kind::nesterov_heavy_ball: m = ball().stored(state_unit); break;
      case momentum_kind::lion: m = (beta2 * old + rest2 * x).stored(state_unit); break;
    }
    switch (kind) {
      case momentum_kind::lion: return beta1 * old + rest1 * x;
      case momentum_kind::nesterov_ema: return ema();
      case momentum_kind::nesterov_heavy_ball: return ball();
      default: return m;
    }
  }
};

/// sign(U) or the cautious U; where rounding decides, the error spans what it may become.
template <class Real>
bounded<Real> transformed(transform_kind kind, bounded<Real> u, bounded<Real> g) {
  if (kind == transform_kind::none || u.is_zero()) return u;
  if (kind == transform_kind::sign) {
    Real const sign = u.value > 0 ? 1 : u.value < 0 ? -1 : 0;
    return {sign, u.is_nonzero() ? Real{0} : Real{2}};
  }
  if (g.is_zero()) return {};
  bool const agrees = (u.value > 0) == (g.value > 0) && u.value != 0 && g.value != 0;
  if (u.is_nonzero() && g.is_nonzero()) return agrees ? u : bounded<Real>{};
  return {agrees ? u.value : Real{0}, std::fabs(u.value) + u.error};
}

/// The root of the second moment with eps, of an element.
template <class Real>
bounded<Real> denominator(recipe const& tier, bounded<Real> eps, bounded<Real> left2,
                          bounded<Real> v) {
  switch (tier.eps) {
    case eps_kind::inside: return sqrt(v / left2);
    case eps_kind::added: return sqrt(v) / sqrt(left2) + eps;
    default: return sqrt(max(v, eps));
  }
}
template <class Real>
bounded<Real> denominator(recipe const& tier, bounded<Real> eps, bounded<Real> left2,
                          bounded<Real> row, bounded<Real> mean, bounded<Real> col) {
  bounded<Real> const ratio = mean.value == 0 ? bounded<Real>{} : row / mean;
  switch (tier.eps) {
    case eps_kind::inside: return sqrt(ratio * col / left2);
    case eps_kind::added: return sqrt(ratio) * sqrt(col) / sqrt(left2) + eps;
    default: {
      bounded<Real> const floored = row / max(mean, bounded<Real>{Real(1e-15)}.rounded());
      return sqrt(max(floored, eps)) * sqrt(max(col, eps));
    }
  }
}

/// One step in place. grad: (E, R, C) or empty (absent). active: (E) or empty (all).
/// `param_format` is what rounded decay rounds to; the parameter itself is left unrounded in
/// `before` and untouched in `t`.
template <class Real>
trace<Real> step(recipe const& tier, hyper const& h, tensor<Real>& t, std::vector<Real> const& grad,
                 std::vector<int> const& active, Real grad_factor, binary_format param_format) {
  using number = bounded<Real>;
  std::size_t const n = static_cast<std::size_t>(t.size());
  std::vector<number> const none(n);
  trace<Real> out{none, t.param, none, t.param, {}, {}};
  bool const clips_tensor = tier.clips_tensor(), scales_tensor = tier.scale == scale_kind::tensor;
  std::size_t const E = static_cast<std::size_t>(t.E);
  out.measured.resize(clips_tensor ? 1 : E);
  out.param_rms.resize(scales_tensor ? 1 : E);
  if (grad.empty()) return out;  // absent, or nothing to update: everything rests
  auto const rests = [&](int64_t e) {
    return !active.empty() && active[static_cast<std::size_t>(e)] == 0;
  };
  auto const constant = [](double x) { return number{static_cast<Real>(x)}.rounded(); };
  number const eps = constant(h.eps), wd = constant(h.weight_decay);
  std::vector<bounded_sum<Real>> squares(out.measured.size()), param_squares(out.param_rms.size());

  if (tier.tensor_step) t.step[0] += 1;
  std::vector<scalars<Real>> of;
  for (int64_t e = 0; e < t.E; ++e) {
    std::size_t const matrix = static_cast<std::size_t>(e);
    if (!tier.tensor_step && !rests(e)) t.step[matrix] += 1;
    of.emplace_back(tier, h, t.step[tier.tensor_step ? 0 : matrix] + (rests(e) ? 1 : 0));
    if (rests(e)) continue;
    scalars<Real> const& s = of.back();
    std::vector<number> gradient(static_cast<std::size_t>(t.R * t.C));
    auto const g = [&](int64_t r, int64_t c) -> number& {
      return gradient[static_cast<std::size_t>(r * t.C + c)];
    };
    for (int64_t r = 0; r < t.R; ++r) {
      for (int64_t c = 0; c < t.C; ++c) {
        std::size_t const i = t.at(e, r, c);
        number x{grad[i]};
        if (grad_factor != 1) x = x * number{grad_factor}.rounded();
        if (tier.maximize) x = -x;
        if (tier.decay == decay_kind::l2) x = x + wd * t.param[i];
        g(r, c) = x;
        param_squares[scales_tensor ? 0 : matrix].add(t.param[i] * t.param[i]);
      }
    }

    auto const take = [&](number& v, number square) {
      if (tier.eps == eps_kind::inside) square = square + eps;
      v = (s.beta2 * v + s.rest2 * square).stored(t.variance_unit);
    };
    number mean_row;
    if (tier.variance == variance_kind::factored) {
      bounded_sum<Real> rows;
      for (int64_t r = 0; r < t.R; ++r) {
        bounded_sum<Real> sum;
        for (int64_t c = 0; c < t.C; ++c) sum.add(g(r, c) * g(r, c));
        number& state = t.row[static_cast<std::size_t>(e * t.R + r)];
        if (t.C > 0) take(state, sum.total(row_sum_roundings(t.C)) / static_cast<Real>(t.C));
        rows.add(state);
      }
      if (t.R > 0) mean_row = rows.total(row_sum_roundings(t.R)) / static_cast<Real>(t.R);
      for (int64_t c = 0; c < t.C; ++c) {
        bounded_sum<Real> sum;
        for (int64_t r = 0; r < t.R; ++r) sum.add(g(r, c) * g(r, c));
        number& state = t.col[static_cast<std::size_t>(e * t.C + c)];
        if (t.R > 0) take(state, sum.total(col_sum_roundings(t.R)) / static_cast<Real>(t.R));
      }
    }

    bool const has_variance = tier.variance != variance_kind::none;
    number gain = has_variance && tier.eps == eps_kind::floored ? sqrt(s.left2) : number{1};
    if (!tier.of_update) gain = gain * s.gain;
    for (int64_t r = 0; r < t.R; ++r) {
      for (int64_t c = 0; c < t.C; ++c) {
        std::size_t const i = t.at(e, r, c);
        number const x = g(r, c);
        number u = x;
        if (!tier.of_update && tier.momentum != momentum_kind::none) {
          u = s.average(tier.momentum, t.momentum[i], x, t.momentum_unit);
        }
        number d{1};
        if (tier.variance == variance_kind::factored) {
          d = denominator(tier, eps, s.left2, t.row[static_cast<std::size_t>(e * t.R + r)],
                          mean_row, t.col[static_cast<std::size_t>(e * t.C + c)]);
        } else if (tier.variance == variance_kind::exact) {
          take(t.exact[i], x * x);
          d = denominator(tier, eps, s.left2, t.exact[i]);
        }
        // The same product in another order: roots and reciprocals of row and column apart.
        if (has_variance) u = d.value == 0 ? number{} : (u / d).rounded(4);
        u = transformed(tier.transform, u * gain, x);
        out.update[i] = u;
        bounded_sum<Real>& sum = squares[clips_tensor ? 0 : matrix];
        if (!tier.clips_share()) {
          sum.add(u * u);
        } else if (!u.is_zero()) {
          sum.add({u.value != 0 ? Real{1} : Real{0}, u.is_nonzero() ? Real{0} : Real{1}});
        }
      }
    }
  }

  auto const count = [&](bool whole) { return static_cast<Real>(t.R * t.C * (whole ? t.E : 1)); };
  std::vector<number> factor(out.measured.size(), number{1});
  for (std::size_t i = 0; n > 0 && i < factor.size(); ++i) {
    int const gains = tier.variance == variance_kind::factored ? 3 : 0;  // of the row, squared
    number const sum = squares[i].total(
        tier.clips_share() ? 0 : norm_roundings(t.R, t.C, clips_tensor ? t.E : 1) + gains);
    number& x = out.measured[i];
    switch (tier.clip) {
      case clip_kind::none: break;
      case clip_kind::rms_matrix:
      case clip_kind::rms_tensor:
        x = sqrt(sum / count(clips_tensor));
        factor[i] = 1 / max(number{1}, x / constant(h.clip));
        break;
      case clip_kind::share_matrix:
      case clip_kind::share_tensor:
        x = sum / count(clips_tensor);
        factor[i] = 1 / max(constant(1e-3), x);
        break;
      case clip_kind::unit_norm:
        x = sqrt(sum);
        factor[i] = 1 / (x + constant(1e-7));
        break;
    }
  }
  for (std::size_t i = 0; n > 0 && i < out.param_rms.size(); ++i) {
    number const sum = param_squares[i].total(norm_roundings(t.R, t.C, scales_tensor ? t.E : 1));
    out.param_rms[i] = sqrt(sum / count(scales_tensor));
  }

  for (int64_t e = 0; e < t.E; ++e) {
    if (rests(e)) continue;
    std::size_t const matrix = static_cast<std::size_t>(e);
    number lr = of[matrix].rate;
    if (tier.scale != scale_kind::none) {
      lr = lr * max(constant(h.eps2), out.param_rms[scales_tensor ? 0 : matrix]);
    }
    number const f = factor[clips_tensor ? 0 : matrix];
    bool const decays = tier.decay == decay_kind::fused || tier.decay == decay_kind::rounded;
    for (int64_t r = 0; r < t.R; ++r) {
      for (int64_t c = 0; c < t.C; ++c) {
        std::size_t const i = t.at(e, r, c);
        number move = lr * f * out.update[i];
        if (tier.of_update) {
          move = of[matrix].gain *
                 of[matrix].average(tier.momentum, t.momentum[i], move, t.momentum_unit);
        }
        number p = t.param[i];
        if (decays) p = p * (1 - lr * wd);
        out.decayed[i] = p, out.move[i] = move;
        if (tier.decay == decay_kind::rounded) p = number{param_format.nearest(p.value), p.error};
        out.before[i] = p - move;
      }
    }
  }
  return out;
}

}  // namespace testing::reference
