// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The RMS of a parameter, the learning rate that it scales, and the decay of the second moment.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "compare.hpp"
#include "instance.hpp"
#include "update_checks.hpp"

namespace golden {

/// Checks `param_rms`, `lr` and `beta2t` of a recipe that has them; does nothing for others.
template <class Recipe, class Param>
class rate_checks {
 public:
  explicit rate_checks(case_data const& data) : data_(data), traces_(data.info().params.size()) {
    std::vector<double> const none(static_cast<std::size_t>(data.info().steps), NAN);
    for (rates& r : traces_) r = {none, none, none};
  }

  /// Call where `run` stands before step `t`, with the step's gradients loaded.
  void before_step(instance<Recipe, Param> const& run, int t) {
    if constexpr (Recipe::has_rates) {
      for (std::size_t i = 0; i < run.size(); ++i) {
        if (!run[i].has_gradient) continue;
        auto const p = widened(run[i].param);
        auto const n = static_cast<long double>(p.size());
        auto& r = traces_[i];
        at(r.param_rms, t) = static_cast<double>(std::sqrt(moments(p).squares / n));
        at(r.lr, t) = rounding_of_reference_order(p);  // until after the step
      }
    }
  }

  /// Call after step `t`.
  void after_step(instance<Recipe, Param>& run, int t) {
    if constexpr (Recipe::has_rates) {
      auto const hypers = hypers_at<Recipe>(data_, t);
      for (std::size_t i = 0; i < run.size(); ++i) {
        if (!run[i].has_gradient) continue;
        auto& r = traces_[i];
        auto const of_step = run.param_rms(i);  // what scaled the step, where anything did
        at(r.param_rms, t) = of_step.value_or(at(r.param_rms, t)) + at(r.lr, t);
        tieropt::hyper const& h = hypers[static_cast<std::size_t>(run.info(i).group)];
        std::int64_t const k = run[i].step[0];
        run.with_tier(i, [&](auto tier, auto) {
          using part = decltype(tier);
          double const scale = of_step ? std::max(h.eps2, at(r.param_rms, t)) : 1;
          at(r.lr, t) = part::rate::lr(h, k) * scale;
          at(r.beta2t, t) = part::betas::beta2(h, k);
        });
      }
    }
  }

  /// Compares the traces, NaN where there was no gradient.
  void compare_traces(scoreboard& board) const {
    if constexpr (Recipe::has_rates) {
      for (std::size_t i = 0; i < traces_.size(); ++i) {
        auto const compare = [&](char const* name, std::vector<double> const& got) {
          std::string const kind = std::string("trace.") + name;
          board.elements("f64/trace/" + data_.info().params[i].name + "/" + name, kind, got,
                         board.tol(kind));
        };
        compare("param_rms", traces_[i].param_rms);
        compare("lr", traces_[i].lr);
        compare("beta2t", traces_[i].beta2t);
      }
    }
  }

 private:
  struct rates {
    std::vector<double> param_rms, lr, beta2t;
  };

  static double& at(std::vector<double>& trace, int t) {
    return trace[static_cast<std::size_t>(t - 1)];
  }

  case_data const& data_;
  std::vector<rates> traces_;
};

}  // namespace golden
