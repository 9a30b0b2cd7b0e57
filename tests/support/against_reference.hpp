// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a tier step by step next to the double reference and compares within derived bounds.
#pragma once

#include "support/buffers.hpp"
#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/tier_rows.hpp"

#include <tieropt/tieropt.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace testing {

/// One run of a tier: all that is chosen at run time.
struct scenario {
  std::vector<int64_t> extents;
  layout param_layout = layout::row_major;
  layout grad_layout = layout::row_major;
  layout state_layout = layout::row_major;
  reference::hyper hyper;   // eps < 0: the part's own default
  int64_t first_step = 0;   // steps taken before; the states are zero only where it is 0
  int active = 0;           // 0 no mask, 1 all ones, 2 one matrix in three rests, 3 takes turns
  int absent = -1;          // the step without a gradient, -1 none
  double magnitude = 1e-2;  // of the gradients
  int grad_kind = 0;  // 0 normal, 1 rows and columns of very different scale, 2 zeros, 3 rank 1
  double grad_scale = 1;
  double clip_factor = 1;
  std::uint64_t seed = 1;
  int steps = 3;
};

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

/// Runs a tier through a scenario; every step starts from the library's own states.
template <class Tier, class Param, class Grad>
std::string run_against_reference(reference::recipe recipe, bool nearest, scenario const& s,
                                  double& largest) {
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  using parts = typename bound::parts;
  using compute = typename parts::compute;
  using momentum_type = std::conditional_t<tieropt::keeps_momentum<typename parts::momentum>,
                                           typename bound::momentum_type, float>;
  using variance_type = typename bound::variance_type;
  using Real = std::conditional_t<std::is_same_v<compute, double>, long double, double>;
  constexpr bool keeps = tieropt::keeps_momentum<typename parts::momentum>;

  bool const is_vector = s.extents.size() < 2;
  recipe.factored = recipe.factored && !is_vector;
  reference::hyper h = s.hyper;
  if (h.eps < 0) h.eps = Tier::eps::default_value;

  buffer<Param> param{s.extents, s.param_layout};
  buffer<Grad> grad{s.extents, s.grad_layout};
  int64_t const E = param.E(), R = param.R(), C = param.C(), n = param.size();
  buffer<momentum_type> momentum{s.extents, s.state_layout};
  // A factored tier keeps a vector's exact moment dense.
  bool const dense = is_vector && Tier::variance::factored;
  buffer<variance_type> exact{s.extents, dense ? layout::row_major : s.state_layout};
  buffer<variance_type> row{{E, R}}, col{{E, C}};
  buffer<double> step_counts{{recipe.tensor_step ? 1 : E}};
  std::vector<int64_t> step(static_cast<std::size_t>(recipe.tensor_step ? 1 : E), s.first_step);
  std::vector<int> active(s.active == 0 ? 0 : static_cast<std::size_t>(E), 1);
  param.fill([&](int64_t i) { return 0.25 * normal(s.seed, i); });
  if (s.first_step > 0) {
    momentum.fill([&](int64_t i) { return 1e-2 * normal(s.seed + 1, i); });
    exact.fill([&](int64_t i) { return 1e-4 * std::exp(2 * normal(s.seed + 2, i)); });
    row.fill([&](int64_t i) { return 1e-4 * std::exp(2 * normal(s.seed + 3, i)); });
    col.fill([&](int64_t i) { return 1e-4 * std::exp(2 * normal(s.seed + 4, i)); });
  }
  std::vector<bound> tensors(1);
  bound& t = tensors[0];
  t.param = param.view();
  t.grad = std::as_const(grad).view();
  if constexpr (keeps) t.momentum = momentum.view();
  if (recipe.factored) {
    t.variance = {.row = row.view(), .col = col.view()};
  } else {
    t.variance = {.exact = exact.view()};
  }
  t.step = tieropt::view(step.data(), static_cast<int64_t>(step.size()));
  if (!active.empty()) t.active = tieropt::view(std::as_const(active).data(), E);
  t.key = 5;

  using policy = tieropt::tier_policy<Tier>;
  auto const plan = tieropt::make_plan<policy>(tensors);
  if (!plan) return std::string{"make_plan: "} + tieropt::message(plan.error());
  std::vector<std::max_align_t> workspace(plan->workspace_bytes() / sizeof(std::max_align_t) + 1);
  cuda::std::span<std::byte> const scratch{reinterpret_cast<std::byte*>(workspace.data()),
                                           plan->workspace_bytes()};
  tieropt::serial_executor const x;
  if (auto const e = tieropt::prepare(x, *plan, scratch); !e) return tieropt::message(e);

  error_units unit{std::is_same_v<compute, double> ? 0x1p-53 : 0x1p-24, 0, 0};
  if (std::is_same_v<compute, double>) {
    unit.moment = std::is_same_v<momentum_type, float> && keeps ? 0x1p-24 : 0;
    unit.square = std::is_same_v<variance_type, float> ? 0x1p-24 : 0;
  }
  for (int k = 0; k < s.steps; ++k) {
    bool const present = k != s.absent;
    std::uint64_t const seed = s.seed + 100 + static_cast<std::uint64_t>(k);
    grad.fill([&](int64_t i) {
      int64_t const c = C > 0 ? i % C : 0, r = C > 0 ? i / C % R : 0;
      double const value = s.magnitude * normal(seed, i) * s.grad_scale;
      switch (s.grad_kind) {
        case 1: return value * std::exp2(uniform(7, r) * 4 + uniform(8, c) * 3);
        case 2: return r % 3 == 1 || c % 5 == 2 ? 0.0 : value;
        case 3: return s.magnitude * s.grad_scale * normal(seed, r) * normal(seed + 50, C + c);
        default: return value;
      }
    });
    for (int64_t e = 0; e < static_cast<int64_t>(active.size()); ++e) {
      active[static_cast<std::size_t>(e)] =
          s.active == 1 || (s.active == 2 ? e % 3 != 1 : (e + k) % 2 == 0) ? 7 : 0;
    }
    reference::tensor<Real> want;
    want.E = E, want.R = R, want.C = C;
    want.param = param.template values<Real>();
    if (recipe.momentum) want.momentum = momentum.template values<Real>();
    if (recipe.factored) {
      want.row = row.template values<Real>();
      want.col = col.template values<Real>();
    } else {
      want.exact = exact.template values<Real>();
    }
    want.step = step;
    auto const trace = reference::step<Real>(
        recipe, h, want, present ? grad.template values<Real>() : std::vector<Real>{}, active,
        static_cast<Real>(s.clip_factor) / static_cast<Real>(s.grad_scale), element<Param>::format);

    Grad const* const addresses[] = {present ? std::as_const(grad).data() : nullptr};
    if (auto const e = tieropt::rebind_grads(x, *plan, scratch, addresses); !e) {
      return std::string{"rebind_grads: "} + tieropt::message(e);
    }
    tieropt::hyper const hypers[] = {{.lr = h.lr,
                                      .beta1 = h.beta1,
                                      .beta2 = h.beta2,
                                      .eps = s.hyper.eps,
                                      .clip = h.clip,
                                      .weight_decay = h.weight_decay}};
    tieropt::step_inputs const inputs{
        .seed = s.seed, .grad_scale = s.grad_scale, .clip_factor = s.clip_factor};
    if (auto const e = tieropt::enqueue(x, *plan, scratch, hypers, inputs); !e) {
      return std::string{"enqueue: "} + tieropt::message(e);
    }
    observed<Real> got;
    got.param = param.template values<Real>();
    if (recipe.momentum) got.momentum = momentum.template values<Real>();
    if (recipe.factored) {
      got.row = row.template values<Real>();
      got.col = col.template values<Real>();
    } else {
      got.exact = exact.template values<Real>();
    }
    got.step = step;
    if constexpr (parts::clip::measures) {
      auto const* rms =
          tieropt::update_rms(*plan, scratch, cuda::std::integral_constant<std::size_t, 0>{}, 0);
      for (std::size_t i = 0; n > 0 && i < trace.rms.size(); ++i) {
        got.rms.push_back(static_cast<Real>(rms[i]));
      }
      if (n == 0) got.rms.assign(trace.rms.size(), Real{0});
    }
    int64_t const last = step.empty() ? 1 : *std::max_element(step.begin(), step.end());
    bool const scaled = s.clip_factor != s.grad_scale;
    bounds const b = bounds_of(recipe, h, E, R, C, std::max<int64_t>(last, 1), scaled, unit);
    std::string const wrong = compare_step<Real>(
        recipe, h, want, trace, got, b, unit, active, present && n > 0, element<Param>::format,
        nearest || !tieropt::storage<Param>::draws, largest);
    if (!wrong.empty()) return "step " + std::to_string(k + 1) + ": " + wrong;
    if (!param.gaps_untouched() || !grad.gaps_untouched() || !momentum.gaps_untouched() ||
        !exact.gaps_untouched() || !row.gaps_untouched() || !col.gaps_untouched()) {
      return "step " + std::to_string(k + 1) + ": wrote between the elements of a view";
    }
  }
  return {};
}

}  // namespace testing
