// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a case whose parameters are not rounded, from its initial values to its last step.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "compare.hpp"
#include "instance.hpp"
#include "product_checks.hpp"
#include "rate_checks.hpp"
#include "runs.hpp"
#include "update_checks.hpp"

namespace golden {

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
    std::string const step = step_name("f64", t, p, "step");
    for (std::int64_t const k : run[i].step) {
      if (k != run.steps_taken(i, t)) board.fail(step + " is " + std::to_string(k));
      if (started && board.data().file().find(step) != nullptr) board.equal(step, k);
    }
  }
}

/// Compares every parameter after step `t`; in float, where the float32 run alone is stored whole,
/// with that too, within the tolerance and the reference's own error.
template <class Recipe, class Param>
void compare_params(instance<Recipe, Param>& run, int t, scoreboard& board) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    param_info const& p = run.info(i);
    auto const got = widened(run[i].param);
    board.compare(step_name("f64", t, p, "p"), "p", p, got);
    if (!std::is_same_v<typename Recipe::compute, float>) continue;
    std::string const whole = step_name("f32", t, p, "p");
    tensor_file const& file = board.data().file();
    if (file.find(whole) != nullptr && file.find(step_name("f64", t, p, "p")) == nullptr) {
      double const own = board.measured("p") * 1.005;  // it has 3 digits
      board.elements(whole, "p", got, board.tol("p").widened(own));
    }
  }
}

/// Runs all steps from the initial parameters and compares whatever the file holds.
/// @tparam Recipe which tiers; its compute type is also that of parameters and gradients
template <class Recipe>
void run_trajectory(scoreboard& board) {
  case_data const& data = board.data();
  using real = typename Recipe::compute;
  instance<Recipe, real> run(data);
  update_checks<Recipe, real> updates(data);
  rate_checks<Recipe, real> rates(data);
  for (int t = 1; t <= data.info().steps; ++t) {
    run.load_gradients(t);
    updates.before_step(run, t, board);
    rates.before_step(run, t);
    auto const before = run.saved();
    run.step(hypers_at<Recipe>(data, t), static_cast<std::uint64_t>(t));
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (!run[i].has_gradient && run[i].differs_from(before[i])) {
        board.fail(run.info(i).name + " moved in step " + std::to_string(t) +
                   " without a gradient");
      }
    }
    updates.after_step(run, t);
    rates.after_step(run, t);
    compare_products(run, t, board);
    if (!data.info().is_snapshot(t)) continue;
    compare_params(run, t, board);
    compare_states(run, t, board);
  }
  updates.compare_traces(board);
  rates.compare_traces(board);
}

}  // namespace golden
