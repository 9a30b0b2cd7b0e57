// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The update itself: its last value, and its root mean square in every step.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "compare.hpp"
#include "instance.hpp"

namespace golden {

inline std::string step_name(char const* run, int t, param_info const& p, std::string const& what) {
  return std::string(run) + "/" + std::to_string(t) + "/" + p.name + "/" + what;
}

/// The hyperparameters of each group at step `t`.
template <class Recipe>
std::vector<tieropt::hyper> hypers_at(case_data const& data, int t) {
  std::vector<tieropt::hyper> hypers;
  double const lr = data.has_lr() ? data.lr(t) : 0;  // not used where the rate is the tier's
  for (auto const& group : data.info().groups) hypers.push_back(Recipe::hyper_of(group, lr));
  return hypers;
}

/// What the reference's order of summation adds to the RMS of a tensor, beyond the exact one.
///
/// The reference adds the squares one after the other. Over 524,288 of them that rounds by 2e-13,
/// more than a tolerance in double allows, while a sum by trees is right to the last bits.
inline double rounding_of_reference_order(std::vector<double> const& values) {
  double in_order = 0;
  for (double const x : values) in_order = tieropt::add(in_order, tieropt::mul(x, x));
  auto const n = static_cast<double>(values.size());
  auto const exact = std::sqrt(moments(values).squares / static_cast<long double>(n));
  return static_cast<double>(std::sqrt(in_order / n) - exact);
}

/// Checks `update` and `update_rms` of a recipe that has them; does nothing for others.
template <class Recipe, class Param>
class update_checks {
 public:
  using instance_type = instance<Recipe, Param>;

  explicit update_checks(case_data const& data)
      : data_(data),
        traces_(data.info().params.size(),
                std::vector<double>(static_cast<std::size_t>(data.info().steps), NAN)) {
    if constexpr (Recipe::has_update_rms) probe_.emplace(data);
  }

  /// Call where `run` stands before step `t`, with the step's gradients loaded.
  void before_step(instance_type const& run, int t, scoreboard& board) {
    if constexpr (Recipe::has_update_rms) {
      if (std::is_same_v<typename Recipe::compute, double>) {
        probe(run, t, without_clip, [&](std::size_t i, std::vector<double> const& u) {
          if (Recipe::shows_update(group_of(i))) at(i, t) = rounding_of_reference_order(u);
        });
      }
      if (!Recipe::has_update || t != data_.info().steps) return;
      probe(run, t, as_published, [&](std::size_t i, std::vector<double> const& u) {
        param_info const& p = run.info(i);
        board.compare(step_name("f64", t, p, "update"), "update", p, u);
      });
    }
  }

  /// Call after step `t`: takes what the measuring pass left in the workspace.
  void after_step(instance_type& run, int t) {
    if constexpr (Recipe::has_update_rms) {
      for (std::size_t i = 0; i < run.size(); ++i) {
        if (!run[i].has_gradient) continue;
        double const order = std::isnan(at(i, t)) ? 0 : at(i, t);
        at(i, t) = run.measured(i).at(0) + order;
      }
    }
  }

  /// Compares the traces, NaN where there was no gradient.
  void compare_traces(scoreboard& board) const {
    if constexpr (Recipe::has_update_rms) {
      for (std::size_t i = 0; i < traces_.size(); ++i) {
        std::string const name = "f64/trace/" + data_.info().params[i].name + "/update_rms";
        board.elements(name, "trace.update_rms", traces_[i], board.tol("trace.update_rms"));
      }
    }
  }

 private:
  static constexpr double as_published = 1;
  static constexpr double without_clip = 1e300;  // for double only

  hyper_group const& group_of(std::size_t i) const {
    return data_.info().groups.at(static_cast<std::size_t>(data_.info().params[i].group));
  }
  double& at(std::size_t i, int t) { return traces_[i][static_cast<std::size_t>(t - 1)]; }

  /// Takes step `t` from where `run` stands, on p = 0 with lr = -1 and no decay: then p is the
  /// update. Calls f(parameter, update) for each parameter that has a gradient.
  template <class F>
  void probe(instance_type const& run, int t, double clip, F f) {
    instance_type& probe = *probe_;
    probe.restore(run.saved());
    probe.load_gradients(t);
    auto hypers = hypers_at<Recipe>(data_, t);
    for (auto& h : hypers) h.lr = -1, h.weight_decay = 0, h.clip = clip;
    for (std::size_t i = 0; i < probe.size(); ++i) {
      std::fill(probe[i].param.begin(), probe[i].param.end(), Param{});
    }
    probe.step(hypers, 0);
    for (std::size_t i = 0; i < probe.size(); ++i) {
      if (probe[i].has_gradient) f(i, widened(probe[i].param));
    }
  }

  case_data const& data_;
  std::vector<std::vector<double>> traces_;
  std::optional<instance_type> probe_;
};

}  // namespace golden
