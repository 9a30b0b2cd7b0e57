// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a case whose parameters are not rounded: the whole trajectory, its traces, its last update.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "compare.hpp"
#include "instance.hpp"

namespace golden {

inline std::string step_name(char const* run, int t, param_info const& p, std::string const& what) {
  return std::string(run) + "/" + std::to_string(t) + "/" + p.name + "/" + what;
}

inline std::vector<tieropt::hyper> hypers_at(case_data const& data, int t) {
  std::vector<tieropt::hyper> hypers;
  for (auto const& group : data.info().groups) hypers.push_back(hyper_of(group, data.lr(t)));
  return hypers;
}

/// Compares the states and the step count of every parameter after step `t`.
template <class Recipe, class Param>
void compare_states(instance<Recipe, Param>& run, int t, scoreboard& board) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    param_info const& p = run.info(i);
    bool const started = run[i].step[0] > 0;
    run.for_each_state(i, [&](char const* name, auto const& values) {
      auto const got = widened(values);
      if (started) return board.compare(step_name("f64", t, p, name), name, p, got);
      for (double const x : got) {
        if (x != 0) return board.fail(step_name("f64", t, p, name) + " moved without a gradient");
      }
    });
    if (!started) continue;
    for (std::int64_t const k : run[i].step) board.equal(step_name("f64", t, p, "step"), k);
  }
}

/// Compares every parameter after step `t`; where only the float32 run is stored whole, with that
/// too, within the tolerance and the reference's own error.
template <class Recipe, class Param>
void compare_params(instance<Recipe, Param>& run, int t, scoreboard& board) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    param_info const& p = run.info(i);
    auto const got = widened(run[i].param);
    board.compare(step_name("f64", t, p, "p"), "p", p, got);
    std::string const whole = step_name("f32", t, p, "p");
    tensor_file const& file = board.data().file();
    if (file.find(whole) != nullptr && file.find(step_name("f64", t, p, "p")) == nullptr) {
      auto const& errors = board.data().info().reference_error;
      auto const measured = errors.find("p");
      double const own = measured == errors.end() ? 0 : measured->second * 1.005;  // 3 digits
      board.elements(whole, "p", got, board.tol("p").widened(own));
    }
  }
}

/// Takes the step just before which `from` stands once more, on p = 0 with lr = -1 and no decay:
/// then p is the update.
template <class Recipe, class Param>
void compare_update(instance<Recipe, Param>& from, int t, scoreboard& board) {
  instance<Recipe, Param> run(board.data());
  run.restore(from.saved());
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::fill(run[i].param.begin(), run[i].param.end(), Param{});
  }
  auto hypers = hypers_at(board.data(), t);
  for (auto& h : hypers) h.lr = -1, h.weight_decay = 0;
  run.load_gradients(t);
  run.step(hypers, 0);
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (!run[i].has_gradient) continue;
    param_info const& p = run.info(i);
    board.compare(step_name("f64", t, p, "update"), "update", p, widened(run[i].param));
  }
}

/// The RMS of every step's update, by parameter; NaN where there was no gradient.
class rms_traces {
 public:
  explicit rms_traces(case_data const& data)
      : data_(data),
        values_(data.info().params.size(),
                std::vector<double>(static_cast<std::size_t>(data.info().steps), NAN)) {}

  template <class Recipe, class Param> void record(instance<Recipe, Param>& run, int t) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (run[i].has_gradient) values_[i][static_cast<std::size_t>(t - 1)] = run.update_rms(i);
    }
  }

  void compare(scoreboard& board) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      std::string const name = "f64/trace/" + data_.info().params[i].name + "/update_rms";
      board.elements(name, "trace.update_rms", values_[i], board.tol("trace.update_rms"));
    }
  }

 private:
  case_data const& data_;
  std::vector<std::vector<double>> values_;
};

/// Runs all steps from the initial parameters and compares whatever the file holds.
/// @tparam Recipe which tiers; its compute type is also that of parameters and gradients
template <class Recipe> void run_trajectory(scoreboard& board) {
  case_data const& data = board.data();
  using real = typename Recipe::compute;
  instance<Recipe, real> run(data);
  rms_traces traces(data);
  int const last = data.info().steps;
  for (int t = 1; t <= last; ++t) {
    run.load_gradients(t);
    if (Recipe::has_update_rms && t == last) compare_update(run, t, board);
    auto const before = run.saved();
    run.step(hypers_at(data, t), static_cast<std::uint64_t>(t));
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (!run[i].has_gradient && run[i].differs_from(before[i])) {
        board.fail(run.info(i).name + " moved in step " + std::to_string(t) +
                   " without a gradient");
      }
    }
    if constexpr (Recipe::has_update_rms) traces.record(run, t);
    if (!data.info().is_snapshot(t)) continue;
    compare_params(run, t, board);
    compare_states(run, t, board);
  }
  if constexpr (Recipe::has_update_rms) traces.compare(board);
}

}  // namespace golden
