// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a tier step by step next to the double reference and compares within derived bounds.
#pragma once

#include "support/catch.hpp"
#include "support/stage.hpp"
#include "support/tier_rows.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace testing {

/// A library's states and results after a step, by the reference's names.
template <class Real>
struct observed {
  std::vector<Real> param, momentum, row, col, exact, measured, param_rms;
  std::vector<int64_t> step;
};

/// Compares one step of the library with the reference's, value by value.
struct comparison {
  std::string worst;   // the first thing that is out of bounds
  double largest = 0;  // largest error, in bounds

  template <class Real>
  void check(char const* what, std::size_t i, Real got, bounded<Real> want) {
    if (got == want.value) return;
    Real const error = std::fabs(got - want.value);
    double const share = static_cast<double>(error / want.error);
    largest = std::fmax(largest, share);
    if (!(error <= want.error) && worst.empty()) {
      worst = std::string{what} + "[" + std::to_string(i) + "] is " + text(got) + ", wanted " +
              text(want.value) + ", off by " + std::to_string(share) + " bounds";
    }
  }
  template <class Real>
  void check(char const* what, std::vector<Real> const& got,
             std::vector<bounded<Real>> const& want) {
    for (std::size_t i = 0; i < want.size(); ++i) check(what, i, got[i], want[i]);
  }

 private:
  template <class Real>
  static std::string text(Real x) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(x));
    return digits;
  }
};

/// Whether a parameter can be what `before` is rounded to.
///
/// Rounding to the nearest moves no further than its argument's error; a stochastic rounding takes
/// either neighbour, and that of a double passes through float.
template <class Real>
bool may_become(Real got, reference::recipe const& tier, bounded<Real> decayed, bounded<Real> move,
                bounded<Real> before, binary_format format, bool nearest) {
  Real low = before.value - before.error, high = before.value + before.error;
  Real slack = std::ldexp(Real{1}, -145);
  if (tier.decay == reference::decay_kind::rounded) {  // may round to either side of a tie
    slack += move.error + bounded<Real>::unit * std::fabs(before.value);
    low = format.nearest(decayed.value - decayed.error) - move.value;
    high = format.nearest(decayed.value + decayed.error) - move.value;
  }
  if (!nearest && !bounded<Real>::narrow && format.precision < 24) {
    slack += std::fabs(before.value) * std::ldexp(Real{1}, -24);
  }
  low -= slack, high += slack;
  return (nearest ? format.nearest(low) : format.below(low)) <= got &&
         got <= (nearest ? format.nearest(high) : format.above(high));
}

/// Compares states, steps, what was measured and parameters after one step. want: the state after
/// the reference's step, where the parameter is still that before.
template <class Real>
std::string compare_step(reference::recipe const& tier, reference::tensor<Real> const& want,
                         reference::trace<Real> const& trace, observed<Real> const& got,
                         std::vector<int> const& active, bool present, binary_format format,
                         bool nearest, double& largest) {
  comparison c;
  for (std::size_t i = 0; i < want.step.size(); ++i) {
    c.check("step", i, static_cast<Real>(got.step[i]),
            bounded<Real>{static_cast<Real>(want.step[i])});
  }
  if (tier.momentum != reference::momentum_kind::none) {
    c.check("momentum", got.momentum, want.momentum);
  }
  if (tier.variance == reference::variance_kind::factored) {
    c.check("row", got.row, want.row);
    c.check("col", got.col, want.col);
  } else if (tier.variance == reference::variance_kind::exact) {
    c.check("exact", got.exact, want.exact);
  }
  auto const rests = [&](std::size_t e) {
    return !present || (e < active.size() && active[e] == 0);
  };
  for (std::size_t i = 0; i < got.measured.size(); ++i) {
    if (!rests(i)) c.check("measured", i, got.measured[i], trace.measured[i]);
  }
  for (std::size_t i = 0; i < got.param_rms.size(); ++i) {
    if (!rests(i)) c.check("param rms", i, got.param_rms[i], trace.param_rms[i]);
  }
  for (std::size_t i = 0; i < want.param.size(); ++i) {
    if (rests(i / static_cast<std::size_t>(want.R * want.C))) {
      c.check("resting param", i, got.param[i], want.param[i]);
    } else if (!may_become(got.param[i], tier, trace.decayed[i], trace.move[i], trace.before[i],
                           format, nearest)) {
      c.check("param", i, got.param[i], trace.before[i]);
      if (c.worst.empty()) c.worst = "param[" + std::to_string(i) + "] is no neighbour";
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
  using Real =
      std::conditional_t<std::is_same_v<typename staged::compute, double>, long double, double>;
  staged t{s};
  twin<Tier, Param, Grad> host{s};
  if (auto const e = t.prepare() + host.prepare(); !e.empty()) return e;
  if (recipe.variance == reference::variance_kind::factored && !t.factored) {
    recipe.variance = reference::variance_kind::exact;  // of a vector
  }
  reference::hyper h = s.hyper;
  if (h.eps < 0) h.eps = Tier::eps::default_value;

  // States that are narrower than what is computed in.
  constexpr bool wide = !bounded<Real>::narrow;
  constexpr double narrow_momentum =
      wide && staged::keeps && sizeof(typename staged::momentum_type) == 4 ? 0x1p-24 : 0;
  constexpr double narrow_variance =
      wide && sizeof(typename staged::variance_type) == 4 ? 0x1p-24 : 0;
  auto const put = [](auto& to, auto const& from) {
    to.clear();
    for (auto const x : from) to.push_back(static_cast<Real>(x));
  };
  auto const read_all = [&](auto& to) {
    auto const values = [](auto const& buffer) { return buffer.template values<Real>(); };
    if (recipe.momentum != reference::momentum_kind::none) put(to.momentum, values(t.momentum));
    if (recipe.variance == reference::variance_kind::factored) {
      put(to.row, values(t.row)), put(to.col, values(t.col));
    } else if (recipe.variance == reference::variance_kind::exact) {
      put(to.exact, values(t.exact));
    }
    put(to.param, values(t.param));
    to.step = t.steps();
  };
  for (int k = 0; k < s.steps; ++k) {
    bool const present = t.present(k);
    auto const say = [&](std::string const& wrong) {
      return "step " + std::to_string(k + 1) + ": " + wrong;
    };
    t.new_gradient(k);
    reference::tensor<Real> want;
    want.E = t.E, want.R = t.R, want.C = t.C;
    want.momentum_unit = narrow_momentum, want.variance_unit = narrow_variance;
    read_all(want);
    auto const trace = reference::step<Real>(
        recipe, h, want, present ? t.grad.template values<Real>() : std::vector<Real>{}, t.mask(),
        static_cast<Real>(s.clip_factor) / static_cast<Real>(s.grad_scale), element<Param>::format);
    if (auto const e = t.step(k); !e.empty()) return say(e);
    observed<Real> got;
    read_all(got);
    bool const empty = t.param.size() == 0;
    if constexpr (staged::need::measures) {
      if (!empty) put(got.measured, t.rms(trace.measured.size()));
    }
    if constexpr (staged::need::scales) {
      if (!empty) put(got.param_rms, t.param_rms(trace.param_rms.size()));
    }
    std::string const wrong = compare_step<Real>(
        recipe, want, trace, got, t.mask(), present && !empty, element<Param>::format,
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
