// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step over several tensors from the formulas, in double or wider: weights, states, norm,
/// faults. What a state or a weight is rounded to is left to the caller. Includes no header of the
/// library.
#pragma once

#include "support/reference.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace testing::stored {

using std::int64_t;

enum class fault_kind { propagate, counted, element, matrix, step };

/// A tier, said in run-time values.
struct recipe {
  reference::recipe base;
  bool global_clip = false;
  fault_kind fault = fault_kind::propagate;

  bool together() const {
    return base.tensor_step || base.clips_tensor() || base.scale == reference::scale_kind::tensor;
  }
};

/// What a step gets beside hyperparameters.
struct inputs {
  double grad_scale = 1;
  double clip_factor = 1;
  double max_norm = 0;
  bool found_inf = false;
};

/// A tensor of E matrices (R, C), in logical order.
template <class Real>
struct tensor {
  using number = bounded<Real>;
  int64_t E = 1, R = 1, C = 1;
  bool factored = false;
  std::vector<Real> grad;              // empty: absent
  std::vector<int> active;             // empty: all
  std::vector<number> weight;          // before, and after the step before its rounding
  std::vector<number> momentum;        // the same
  std::vector<number> exact;           // the same
  std::vector<number> row, col;        // the same
  std::vector<Real> row_now, col_now;  // what they were rounded to: the update reads that
  std::vector<Real> exact_now;         // the same, of a vector in a factored tier
  // Unit roundoff of float states, which a pass that computes in double may read back.
  double momentum_unit = 0, variance_unit = 0;
  std::vector<int64_t> step, missed;  // missed: empty where nobody counts

  std::size_t size() const { return static_cast<std::size_t>(E * R * C); }
  std::size_t at(int64_t e, int64_t r, int64_t c) const {
    return static_cast<std::size_t>((e * R + r) * C + c);
  }
  std::vector<char> rests;       // out, (E): bit for bit
  std::vector<char> idle;        // out, (E): because of its active entry alone
  std::vector<char> faulty;      // out, (E, R, C)
  std::vector<number> movement;  // out: lr U
};

/// What a step finds.
template <class Real>
struct findings {
  bounded<Real> norm;  // of the unscaled gradients of what does not rest
  int64_t elements = 0, matrices = 0, steps = 0;
};

/// (1 - lr wd)^n, formed in double and rounded once.
template <class Real>
bounded<Real> decay_of(reference::hyper const& h, int64_t n) {
  Real const one = 1 - static_cast<Real>(h.lr) * static_cast<Real>(h.weight_decay);
  Real const power = std::pow(one, static_cast<Real>(n));
  return bounded<Real>{power, static_cast<Real>(n + 2) * Real(0x1p-52)}.rounded();
}

/// The step of one matrix whose gradients are known. x: (R, C), L2 term included.
template <class Real>
class matrix_step {
  using number = bounded<Real>;

 public:
  matrix_step(recipe const& tier, reference::hyper const& h, tensor<Real>& t, int64_t e,
              std::vector<number> const& x)
      : base_{tier.base}, h_{h}, t_{t}, e_{e}, x_{x}, s_{tier.base, h, step_of(t, e)} {}

  /// States and update; the sum of what a clip measures.
  void update(bool masks, bounded_sum<Real>& sum) {
    using reference::eps_kind;
    number const eps = constant(h_.eps);
    auto const take = [&](number& v, number square) {
      if (base_.eps == eps_kind::inside) square = square + eps;
      v = s_.beta2 * v + s_.rest2 * square;
    };
    number mean;
    if (t_.factored) mean = factors(take);
    for (int64_t r = 0; r < t_.R; ++r) {
      for (int64_t c = 0; c < t_.C; ++c) {
        std::size_t const i = t_.at(e_, r, c);
        number& u = t_.movement[i];
        u = number{};
        if (masks && t_.faulty[i]) continue;
        number const x = x_[i - t_.at(e_, 0, 0)];
        u = x;
        bool const of_gradient =
            base_.momentum != reference::momentum_kind::none && !base_.of_update;
        if (of_gradient) {
          u = s_.average(base_.momentum, t_.momentum[i], x, 0).stored(t_.momentum_unit);
        }
        number d{1};
        if (t_.factored) {
          d = reference::denominator(base_, eps, s_.left2, number{row_of(r)}, mean,
                                     number{col_of(c)});
        } else if (base_.variance != reference::variance_kind::none) {
          take(t_.exact[i], square(x));
          number v = t_.exact[i].stored(t_.variance_unit);
          if (!t_.exact_now.empty()) v = number{t_.exact_now[i]};
          d = reference::denominator(base_, eps, s_.left2, v);
        }
        if (base_.variance != reference::variance_kind::none) {
          u = d.value == 0 ? number{} : (u / d).rounded(4);
          bool const lost = t_.factored && (std::isnan(row_of(r)) || std::isnan(col_of(c)));
          if (std::isnan(d.value) || lost) u = number{std::numeric_limits<Real>::quiet_NaN()};
        }
        if (!base_.of_update) u = u * s_.gain;
        sum.add(u * u);
      }
    }
  }
  /// The new weights. @param factor of the update @param rms of the weights, for a scaled rate
  void apply(bool masks, number factor, number rms) {
    number lr = s_.rate;
    if (base_.scale != reference::scale_kind::none) lr = lr * max(constant(h_.eps2), rms);
    number keep{1};
    if (base_.decay == reference::decay_kind::fused) {
      if (t_.missed.empty()) {
        keep = 1 - lr * constant(h_.weight_decay);
        if (base_.scale == reference::scale_kind::none) keep = decay_of<Real>(h_, 1);
      } else {
        keep = decay_of<Real>(h_, 1 + t_.missed[static_cast<std::size_t>(e_)]);
      }
    }
    for (std::size_t i = t_.at(e_, 0, 0), end = i + static_cast<std::size_t>(t_.R * t_.C); i < end;
         ++i) {
      if (masks && t_.faulty[i]) continue;
      number move = (lr * factor * t_.movement[i]).rounded(2);
      if (base_.of_update) move = s_.gain * s_.average(base_.momentum, t_.momentum[i], move, 0);
      t_.movement[i] = move;
      t_.weight[i] = t_.weight[i] * keep - move;
    }
  }

 private:
  static int64_t step_of(tensor<Real> const& t, int64_t e) {
    return t.step[t.step.size() == 1 ? 0 : static_cast<std::size_t>(e)];
  }
  static number constant(double x) { return number{static_cast<Real>(x)}.rounded(); }
  static number square(number x) {
    number y = x * x;
    Real const most = bounded<Real>::narrow ? Real(0x1p128) : Real(0x1p1023L * 2);
    if (std::fabs(y.value) >= most) y = number{std::numeric_limits<Real>::infinity()};
    return y;
  }
  Real row_of(int64_t r) const { return t_.row_now[static_cast<std::size_t>(e_ * t_.R + r)]; }
  Real col_of(int64_t c) const { return t_.col_now[static_cast<std::size_t>(e_ * t_.C + c)]; }

  /// Takes the mean squares in. @return the mean of the row factors as they are stored
  template <class Take>
  number factors(Take const& take) {
    auto const x = [&](int64_t r, int64_t c) { return x_[static_cast<std::size_t>(r * t_.C + c)]; };
    bounded_sum<Real> rows;
    for (int64_t r = 0; r < t_.R; ++r) {
      bounded_sum<Real> sum;
      for (int64_t c = 0; c < t_.C; ++c) sum.add(square(x(r, c)));
      take(t_.row[static_cast<std::size_t>(e_ * t_.R + r)],
           sum.total(row_sum_roundings(t_.C)) / static_cast<Real>(t_.C));
      rows.add(number{row_of(r)});
    }
    for (int64_t c = 0; c < t_.C; ++c) {
      bounded_sum<Real> sum;
      for (int64_t r = 0; r < t_.R; ++r) sum.add(square(x(r, c)));
      take(t_.col[static_cast<std::size_t>(e_ * t_.C + c)],
           sum.total(col_sum_roundings(t_.R)) / static_cast<Real>(t_.R));
    }
    number const mean = rows.total(row_sum_roundings(t_.R)) / static_cast<Real>(t_.R);
    // The larger of NaN and the least mean is that.
    constexpr Real least = bounded<Real>::narrow ? Real(0x1p-126) : Real(0x1p-1022L);
    return std::isnan(mean.value) ? number{least} : mean;
  }

  reference::recipe base_;
  reference::hyper h_;
  tensor<Real>& t_;
  int64_t e_;
  std::vector<number> const& x_;
  reference::scalars<Real> s_;
};

/// One step in place over all tensors of a plan, which share a tier.
template <class Real>
findings<Real> step(recipe const& tier, reference::hyper const& h, std::vector<tensor<Real>>& all,
                    inputs const& in) {
  using number = bounded<Real>;
  findings<Real> found;
  bool const masks = tier.fault == fault_kind::element;
  Real const gain = static_cast<Real>(in.clip_factor) / static_cast<Real>(in.grad_scale);
  Real const most = number::narrow ? Real(0x1p64) : Real(0x1p512L);
  Real const overflow = number::narrow ? Real(0x1p128) : Real(0x1p1023L * 2);
  number const unscale = gain == 1 ? number{1} : number{gain}.rounded();

  bounded_sum<Real> squares;
  bool any_faulty = false;
  for (auto& t : all) {
    t.rests.assign(static_cast<std::size_t>(t.E), 0);
    t.idle = t.rests;
    t.faulty.assign(t.size(), 0);
    t.movement.assign(t.size(), number{});
    bounded_sum<Real> of_tensor;
    bool tensor_is_faulty = false;
    for (int64_t e = 0; e < t.E; ++e) {
      std::size_t const matrix = static_cast<std::size_t>(e);
      bool const ready = !t.grad.empty() && !in.found_inf;
      t.idle[matrix] = ready && !t.active.empty() && t.active[matrix] == 0;
      if (!ready || t.idle[matrix]) {
        t.rests[matrix] = 1;
        continue;
      }
      bounded_sum<Real> sum;
      bool faulty = false;
      for (std::size_t i = t.at(e, 0, 0); i < t.at(e + 1, 0, 0); ++i) {
        number const x = number{t.grad[i]} * unscale;
        if (!(std::fabs(x.value) < most)) t.faulty[i] = 1, faulty = true;
        if (t.faulty[i] && (masks || tier.fault == fault_kind::counted)) ++found.elements;
        if (!(t.faulty[i] && masks)) sum.add(x * x);
      }
      if (!(sum.value < overflow)) sum.value = std::numeric_limits<Real>::infinity(), faulty = true;
      tensor_is_faulty = tensor_is_faulty || faulty;
      if (faulty && tier.fault == fault_kind::matrix && !tier.together()) {
        t.rests[matrix] = 1;
        ++found.matrices;
        continue;
      }
      any_faulty = any_faulty || (faulty && !masks);
      of_tensor.value += sum.value, of_tensor.error += sum.error;
      of_tensor.magnitude += sum.magnitude;
    }
    if (tier.together() && tensor_is_faulty && tier.fault == fault_kind::matrix) {
      t.rests.assign(t.rests.size(), 1);
      found.matrices += t.E;
      continue;
    }
    squares.value += of_tensor.value, squares.error += of_tensor.error;
    squares.magnitude += of_tensor.magnitude;
  }
  auto const rest_all = [&] {
    for (auto& t : all) t.rests.assign(t.rests.size(), 1);
    found.elements = 0;
    found.steps = 1;
    return found;
  };
  found.norm = sqrt(squares.total(64));
  if (tier.fault == fault_kind::step && any_faulty) return rest_all();
  number clip{1};
  if (tier.global_clip && in.max_norm > 0) {
    if (!std::isfinite(squares.value)) return rest_all();
    number const ratio = number{static_cast<Real>(in.max_norm)}.rounded() /
                         (found.norm + number{static_cast<Real>(1e-6)}.rounded());
    clip = ratio.value < 1 ? ratio : number{1, std::fmax(ratio.error - (ratio.value - 1), Real{0})};
  }
  for (auto& t : all) {
    for (std::size_t e = 0; e < t.missed.size(); ++e) t.missed[e] += t.idle[e];
  }

  for (auto& t : all) {
    if (tier.base.tensor_step && !t.rests.empty() && !t.rests[0]) t.step[0] += 1;
    std::vector<matrix_step<Real>> steps;
    std::vector<std::vector<number>> gradients(static_cast<std::size_t>(t.E));
    std::vector<bounded_sum<Real>> measured(static_cast<std::size_t>(t.E)), weighed = measured;
    bounded_sum<Real> measured_all;
    bool const whole = tier.base.clips_tensor();
    std::vector<std::size_t> moving;
    for (int64_t e = 0; e < t.E; ++e) {
      std::size_t const matrix = static_cast<std::size_t>(e);
      if (t.rests[matrix]) continue;
      if (!tier.base.tensor_step) t.step[matrix] += 1;
      moving.push_back(matrix);
      for (std::size_t i = t.at(e, 0, 0); i < t.at(e + 1, 0, 0); ++i) {
        number x = number{t.grad[i]} * (unscale * clip);
        if (masks && t.faulty[i]) {
          x = number{};
        } else if (tier.base.decay == reference::decay_kind::l2) {
          number const& w = t.weight[i];
          x = std::isfinite(w.value) ? x + number{static_cast<Real>(h.weight_decay)}.rounded() * w
                                     : number{std::numeric_limits<Real>::quiet_NaN()};
        }
        gradients[matrix].push_back(x);
        weighed[matrix].add(t.weight[i] * t.weight[i]);
      }
      steps.emplace_back(tier, h, t, e, gradients[matrix]);
      steps.back().update(masks, whole ? measured_all : measured[matrix]);
    }
    for (std::size_t k = 0; k < moving.size(); ++k) {
      std::size_t const e = moving[k];
      auto const count = static_cast<Real>(t.R * t.C);
      number factor{1}, rms;
      if (tier.base.clip != reference::clip_kind::none) {
        number const sum = (whole ? measured_all : measured[e])
                               .total(norm_roundings(t.R, t.C, whole ? t.E : 1) + 3);
        number const level = sqrt(sum / (whole ? count * static_cast<Real>(t.E) : count));
        factor = 1 / max(number{1}, level / number{static_cast<Real>(h.clip)}.rounded());
      }
      if (tier.base.scale != reference::scale_kind::none) {
        rms = sqrt(weighed[e].total(norm_roundings(t.R, t.C, 1)) / count);
      }
      steps[k].apply(masks, factor, rms);
      if (!t.missed.empty()) t.missed[e] = 0;
    }
  }
  return found;
}

}  // namespace testing::stored
