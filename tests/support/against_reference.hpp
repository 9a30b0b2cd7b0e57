// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a tier step by step next to the double reference and compares within derived bounds.
#pragma once

#include "support/catch.hpp"
#include "support/stage.hpp"
#include "support/tier_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace testing {

/// What the bounds are made of; see bounds_of.
struct error_units {
  double compute;  // unit roundoff of the compute type
  double moment;   // extra unit of a momentum that is stored narrower, or 0
  double square;   // the same for second moments
};

/// Binary logarithm, rounded up.
inline int depth_of(int64_t n) {
  int d = 0;
  while ((int64_t{1} << d) < n) ++d;
  return d;
}
inline int64_t blocks_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
/// Roundings on the way of one addend of a sum of n values in row order: at most 4 running sums of
/// columns equal mod 256, the tree of 256, the tree of segments of 1,024.
inline int row_sum_roundings(int64_t n) { return 4 + 8 + depth_of(blocks_of(n, 1024)); }
/// The same in column order: 16 rows of a leaf, 8 leaves, tiles of 128 rows.
inline int col_sum_roundings(int64_t n) { return 16 + 3 + depth_of(blocks_of(n, 128)); }

/// Relative bounds of one step, first order, from the number of roundings.
///
/// Every operation of the compute type contributes one unit u; sums of squares have no
/// cancellation, so that a sum is off by at most its depth in units. Constants (betas, eps,
/// corrections) are formed in double and rounded once: one unit each, plus the error of 1 - beta^k
/// in double, which repeated squaring and the difference magnify to (2 k beta^k + 1) / (1 - beta^k)
/// units of 2^-53.
struct bounds {
  double grad;         // of a gradient: scale rounded, product rounded
  double row, col;     // of the row and column state
  double exact;        // of an exact second moment
  double momentum;     // of M, in units of |beta1 M| + |(1 - beta1) g|
  double numerator;    // the same for what is divided
  double denominator;  // of the denominator
  double update;       // of U beyond those two: quotient and gains
  double norm;         // of the RMS beyond the error of the elements
  double factor;       // of the clip factor beyond that of the RMS
};

inline bounds bounds_of(reference::recipe const& tier, reference::hyper const& h, int64_t E,
                        int64_t R, int64_t C, int64_t k, bool scaled, error_units unit) {
  double const u = unit.compute, wide = 0x1p-53;
  auto const correction = [&](double beta) {
    double const power = std::pow(beta, static_cast<double>(k));
    return wide * (2 * static_cast<double>(k) * power + 1) / (1 - power) + wide;
  };
  double const c1 = tier.momentum ? correction(h.beta1) : 0, c2 = correction(h.beta2);
  bounds b;
  b.grad = scaled ? 2 * u : 0;
  // Sum, division by the count, eps (rounded) added, 1 - beta2 rounded, product, beta2 rounded,
  // fma.
  b.row = 2 * b.grad + (row_sum_roundings(C) + 7) * u + unit.square;
  b.col = 2 * b.grad + (col_sum_roundings(R) + 7) * u + unit.square;
  b.exact = 2 * b.grad + 7 * u + unit.square;
  // beta1 and 1 - beta1 rounded, product, fma.
  b.momentum = tier.momentum ? b.grad + 4 * u + unit.moment : 0;
  b.numerator = tier.momentum ? b.momentum + 2 * u + c1 : b.grad;
  double const mean = b.row + (row_sum_roundings(R) + 2) * u;
  // Half of what is under a root; correction rounded and multiplied, root, reciprocal, eps added
  // (rounded). Factored: row and column are separate roots, multiplied.
  b.denominator = tier.factored ? (b.row + mean + b.col + 4 * u) / 2 + 8 * u + c2
                                : (b.exact + 2 * u) / 2 + 4 * u + c2;
  b.update = 8 * u;  // quotient, row, gain, learning rate, clip factor: one product each
  // Elements: 12 per strip sum, 16 rows of a leaf, 8 leaves, the tiles; row gain squared (3 each).
  int64_t const tiles =
      blocks_of(R, 128) * blocks_of(C, 1024) * (tier.clip == reference::clip_kind::tensor ? E : 1);
  b.norm = ((12 + 16 + 3 + row_sum_roundings(tiles) + 4) / 2.0 + 6) * u;
  b.factor = 4 * u;
  return b;
}

/// Compares one step. before: the reference's state after its step; the library's values beside.
template <class Real>
struct comparison {
  reference::tensor<Real> const& want;
  reference::trace<Real> const& trace;
  bounds const& bound;
  error_units unit;
  std::vector<int> const& active;  // empty: all
  bool present = true;             // whether there was a gradient
  std::string worst;               // the first thing that is out of bounds
  double largest = 0;              // largest error, in bounds

  bool rests(int64_t e) const {
    return !present || (!active.empty() && active[static_cast<std::size_t>(e)] == 0);
  }
  void check(char const* what, int64_t i, Real got, Real wanted, Real tolerance) {
    Real const error = std::fabs(got - wanted);
    if (got == wanted) return;
    double const share = static_cast<double>(error / tolerance);
    largest = std::fmax(largest, share);
    if (!(error <= tolerance) && worst.empty()) {
      worst = std::string{what} + "[" + std::to_string(i) + "] is " +
              std::to_string(static_cast<double>(got)) + ", wanted " +
              std::to_string(static_cast<double>(wanted)) + ", off by " + std::to_string(share) +
              " bounds";
    }
  }
  /// Values that may only be off in proportion; the absolute part covers subnormals.
  void relative(char const* what, std::vector<Real> const& got, std::vector<Real> const& wanted,
                double tolerance) {
    Real const least = unit.compute > 0x1p-40 || unit.square > 0 || unit.moment > 0
                           ? std::ldexp(Real{1}, -140)
                           : std::ldexp(Real{1}, -1060);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      check(what, static_cast<int64_t>(i), got[i], wanted[i],
            static_cast<Real>(tolerance) * std::fabs(wanted[i]) + least);
    }
  }
};

template <class Real>
struct observed {
  std::vector<Real> param, momentum, row, col, exact, rms;
  std::vector<int64_t> step;
};

/// Compares states, steps, RMS and parameters after one step.
template <class Real>
std::string compare_step(reference::recipe const& tier, reference::hyper const& h,
                         reference::tensor<Real> const& want, reference::trace<Real> const& trace,
                         observed<Real> const& got, bounds const& b, error_units unit,
                         std::vector<int> const& active, bool present, binary_format format,
                         bool nearest, double& largest) {
  comparison<Real> c{want, trace, b, unit, active, present, {}, 0};
  for (std::size_t i = 0; i < want.step.size(); ++i) {
    c.check("step", static_cast<int64_t>(i), static_cast<Real>(got.step[i]),
            static_cast<Real>(want.step[i]), Real{0});
  }
  if (tier.factored) {
    c.relative("row", got.row, want.row, b.row);
    c.relative("col", got.col, want.col, b.col);
  } else {
    c.relative("exact", got.exact, want.exact, b.exact);
  }
  // Of each element of U before the clip: error, and its square summed per matrix.
  std::vector<Real> error(want.param.size());
  std::vector<Real> squares(trace.rms.size());
  bool const by_tensor = tier.clip == reference::clip_kind::tensor;
  Real const bias1 = tier.momentum ? Real{1} : Real{0};
  for (int64_t e = 0; e < want.E; ++e) {
    if (c.rests(e)) continue;
    std::size_t const k = static_cast<std::size_t>(
        tier.tensor_step ? want.step[0] : want.step[static_cast<std::size_t>(e)]);
    Real const correction1 = 1 - bias1 * std::pow(static_cast<Real>(h.beta1), static_cast<Real>(k));
    for (int64_t r = 0; r < want.R; ++r) {
      for (int64_t col = 0; col < want.C; ++col) {
        std::size_t const i = want.at(e, r, col);
        if (tier.momentum) {
          c.check("momentum", static_cast<int64_t>(i), got.momentum[i], want.momentum[i],
                  static_cast<Real>(b.momentum) * trace.m_magnitude[i] * correction1 +
                      std::ldexp(Real{1}, -140));
        }
        if (trace.denominator[i] != 0) {
          error[i] = trace.m_magnitude[i] / trace.denominator[i] * static_cast<Real>(b.numerator) +
                     std::fabs(trace.raw[i]) * static_cast<Real>(b.denominator + b.update);
        }
        squares[by_tensor ? 0 : static_cast<std::size_t>(e)] += error[i] * error[i];
      }
    }
  }
  std::vector<Real> factor_error(trace.rms.size());
  for (std::size_t i = 0; i < trace.rms.size(); ++i) {
    if (!present || (!by_tensor && c.rests(static_cast<int64_t>(i)))) continue;
    int64_t const n = want.R * want.C * (by_tensor ? want.E : 1);
    Real const rms_error =
        std::sqrt(squares[i] / static_cast<Real>(n)) + trace.rms[i] * static_cast<Real>(b.norm);
    if (tier.clip != reference::clip_kind::none) {
      c.check("rms", static_cast<int64_t>(i), got.rms[i], trace.rms[i],
              rms_error + std::ldexp(Real{1}, -140));
      // 1 / max(1, x) moves by no more than x does, relative to max(1, x).
      factor_error[i] =
          rms_error / static_cast<Real>(h.clip) * trace.factor[i] + static_cast<Real>(b.factor);
    }
  }
  Real const u = static_cast<Real>(unit.compute);
  for (int64_t e = 0; e < want.E; ++e) {
    for (int64_t i = e * want.R * want.C; i < (e + 1) * want.R * want.C; ++i) {
      std::size_t const at = static_cast<std::size_t>(i);
      if (c.rests(e)) {
        c.check("resting param", i, got.param[at], want.param[at], Real{0});
        continue;
      }
      std::size_t const scope = by_tensor ? 0 : static_cast<std::size_t>(e);
      Real const lr = std::fabs(static_cast<Real>(h.lr));
      Real slack = lr * (error[at] * trace.factor[scope] +
                         std::fabs(trace.update[at]) * factor_error[scope]);
      // Decay rounded, product, final sum; a stochastic rounding of a double passes through float.
      Real const keep = trace.decayed[at];
      Real const sum = trace.before[at];
      slack += u * (2 * std::fabs(keep) + std::fabs(sum)) + std::ldexp(Real{1}, -145);
      if (!nearest && unit.compute < 0x1p-40 && format.precision < 24) {
        slack += std::fabs(sum) * std::ldexp(Real{1}, -24);
      }
      Real low = sum, high = sum;
      if (tier.rounded_decay) {  // the decayed product may round to either side of a tie
        Real const move = static_cast<Real>(h.lr) * trace.update[at],
                   spread = 2 * u * std::fabs(keep);
        low = format.nearest(keep - spread) - move;
        high = format.nearest(keep + spread) - move;
      }
      low = nearest ? format.nearest(low - slack) : format.below(low - slack);
      high = nearest ? format.nearest(high + slack) : format.above(high + slack);
      if (!(low <= got.param[at] && got.param[at] <= high)) {
        c.check("param", i, got.param[at], sum, slack);
        if (c.worst.empty()) c.worst = "param[" + std::to_string(i) + "] is no neighbour";
      }
    }
  }
  largest = std::fmax(largest, c.largest);
  return c.worst;
}

/// Runs a tier through a scenario; every step starts from the library's own states. On a device the
/// host's bits are compared as well.
template <class Tier, class Param, class Grad>
std::string run_against_reference(reference::recipe recipe, bool nearest, scenario const& s,
                                  double& largest) {
  using staged = stage<Tier, Param, Grad, executor>;
  using parts = typename staged::parts;
  using Real =
      std::conditional_t<std::is_same_v<typename staged::compute, double>, long double, double>;
  staged t{s};
  twin<Tier, Param, Grad> host{s};
  if (auto const e = t.prepare() + host.prepare(); !e.empty()) return e;
  recipe.factored = t.factored;
  reference::hyper h = s.hyper;
  if (h.eps < 0) h.eps = Tier::eps::default_value;

  error_units unit{0x1p-24, 0, 0};
  if (std::is_same_v<typename staged::compute, double>) {
    unit.compute = 0x1p-53;
    unit.moment =
        std::is_same_v<typename staged::momentum_type, float> && staged::keeps ? 0x1p-24 : 0;
    unit.square = std::is_same_v<typename staged::variance_type, float> ? 0x1p-24 : 0;
  }
  auto const moments = [&](auto& to) {
    if (recipe.momentum) to.momentum = t.momentum.template values<Real>();
    if (recipe.factored) {
      to.row = t.row.template values<Real>();
      to.col = t.col.template values<Real>();
    } else {
      to.exact = t.exact.template values<Real>();
    }
  };
  for (int k = 0; k < s.steps; ++k) {
    bool const present = t.present(k);
    auto const say = [&](std::string const& wrong) {
      return "step " + std::to_string(k + 1) + ": " + wrong;
    };
    t.new_gradient(k);
    reference::tensor<Real> want;
    want.E = t.E, want.R = t.R, want.C = t.C;
    want.param = t.param.template values<Real>();
    moments(want);
    want.step = t.steps();
    auto const trace = reference::step<Real>(
        recipe, h, want, present ? t.grad.template values<Real>() : std::vector<Real>{}, t.mask(),
        static_cast<Real>(s.clip_factor) / static_cast<Real>(s.grad_scale), element<Param>::format);
    if (auto const e = t.step(k); !e.empty()) return say(e);
    observed<Real> got;
    got.param = t.param.template values<Real>();
    moments(got);
    got.step = t.steps();
    bool const empty = t.param.size() == 0;
    if constexpr (parts::clip::measures) {
      if (empty) {
        got.rms.assign(trace.rms.size(), Real{0});
      } else {
        for (auto const x : t.rms(trace.rms.size())) got.rms.push_back(static_cast<Real>(x));
      }
    }
    int64_t const last = got.step.empty() ? 1 : *std::max_element(got.step.begin(), got.step.end());
    bool const scaled = s.clip_factor != s.grad_scale;
    bounds const b = bounds_of(recipe, h, t.E, t.R, t.C, std::max<int64_t>(last, 1), scaled, unit);
    std::string const wrong = compare_step<Real>(
        recipe, h, want, trace, got, b, unit, t.mask(), present && !empty, element<Param>::format,
        nearest || !tieropt::storage<Param>::draws, largest);
    if (!wrong.empty()) return say(wrong);
    if (!t.gaps_untouched()) return say("wrote between the elements of a view");
    if constexpr (on_device) {
      if (auto const differs = host.follow(t, k); !differs.empty()) return differs;
    }
  }
  return {};
}

}  // namespace testing
