// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a case with bf16 parameters: each step alone, from stored states, over many seeds.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "compare.hpp"
#include "instance.hpp"
#include "run_case.hpp"

namespace golden {

/// The two bf16 values around a number; both are the number itself where it is one.
struct bf16_neighbours {
  double below;
  double above;

  explicit bf16_neighbours(double x) {
    float const near = static_cast<float>(x);
    double const cut = std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) & 0xFFFF0000u);
    below = cut <= x ? cut : step(cut, -1);
    if (step(below, +1) <= x) below = step(below, +1);
    above = below == x ? below : step(below, +1);
  }

  /// The variance of exact stochastic rounding.
  double variance(double x) const { return (x - below) * (above - x); }

 private:
  /// The next bf16 value in a direction.
  static double step(double value, int direction) {
    auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if ((bits << 1) == 0) return direction * 0x1p-133;  // the smallest subnormal
    bool const away = (direction > 0) == (value > 0);
    return std::bit_cast<float>(away ? bits + 0x10000u : bits - 0x10000u);
  }
};

/// Loads what a run of the reference held before step `t`: zeros before the first.
template <class Recipe, class Param, class Side>
void load_states(instance<Recipe, Param, Side>& run, char const* of, int t) {
  using state = typename Recipe::compute;
  tensor_file const& file = run.data().file();
  for (std::size_t i = 0; i < run.size(); ++i) {
    param_info const& p = run.info(i);
    bool const started = t > 1 && file.find(step_name(of, t - 1, p, "step")) != nullptr;
    run.for_each_state(i, [&](char const* name, auto& values) {
      if (started) {
        run.copy(converted<state>(file.values(step_name(of, t - 1, p, name))), values);
      } else {
        std::fill(values.begin(), values.end(), state{});
      }
    });
    std::int64_t const k = started ? file.integers(step_name(of, t - 1, p, "step")).at(0) : 0;
    std::fill(run[i].step.begin(), run[i].step.end(), k);
  }
}

template <class Recipe, class Param, class Side>
void load_params(instance<Recipe, Param, Side>& run, int t, char const* what) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    auto const name = step_name("f32", t, run.info(i), what);
    run.copy(converted<Param>(run.data().file().values(name)), run[i].param);
  }
}

/// The value that gets rounded: parameters in the compute type, from the decayed ones, no decay.
template <class Recipe>
void compare_unrounded(instance<Recipe, typename Recipe::compute>& run, int t, scoreboard& board,
                       update_checks<Recipe, typename Recipe::compute>& updates) {
  case_data const& data = board.data();
  load_states(run, std::is_same_v<typename Recipe::compute, float> ? "f32" : "f64", t);
  load_params(run, t, "p_decayed");
  run.load_gradients(t);
  updates.before_step(run, t, board);
  auto hypers = hypers_at(data, t);
  for (auto& h : hypers) h.weight_decay = 0;
  run.step(hypers, 0);
  updates.after_step(run, t);
  for (std::size_t i = 0; i < run.size(); ++i) {
    param_info const& p = run.info(i);
    board.compare(step_name("f64", t, p, "p_pre"), "p_pre", p, widened(run[i].param));
  }
  compare_states(run, t, board);
}

/// What many seeds did to one parameter: every result a neighbour, and the mean right.
class rounding_statistics {
 public:
  rounding_statistics(std::vector<double> exact, double tol)
      : exact_(std::move(exact)), tol_(tol), sum_(exact_.size()) {
    for (double const x : exact_) {
      lowest_.push_back(bf16_neighbours(x - tol).below);
      highest_.push_back(bf16_neighbours(x + tol).above);
    }
  }

  /// Takes the result of one seed; a NaN is a stray.
  void take(std::vector<double> const& results) {
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      sum_[i] += results[i];
      if (!(lowest_[i] <= results[i] && results[i] <= highest_[i])) strays_.insert(i);
    }
    ++count_;
  }

  /// The elements that were ever no neighbour of any value within the tolerance.
  std::set<std::size_t> const& strays() const { return strays_; }

  /// The distance of the mean, against 5 standard errors and the tolerance.
  deviation mean(std::size_t i) const {
    double const x = exact_[i];
    double variance = 0;
    for (double const y : {x - tol_, x, x + tol_}) {
      variance = std::max(variance, bf16_neighbours(y).variance(y));
    }
    return deviate(sum_[i] / count_, x, 5 * std::sqrt(variance / count_) + tol_);
  }

  std::size_t size() const { return sum_.size(); }

 private:
  std::vector<double> exact_;
  double tol_;
  std::vector<double> sum_, lowest_, highest_;
  std::set<std::size_t> strays_;
  int count_ = 0;
};

/// Runs every step of a bf16-parameter case alone, up to what gets rounded.
template <class Recipe>
void run_unrounded(scoreboard& board) {
  case_data const& data = board.data();
  update_checks<Recipe, typename Recipe::compute> updates(data);
  instance<Recipe, typename Recipe::compute> run(data);
  for (int t = 1; t <= data.info().steps; ++t) compare_unrounded(run, t, board, updates);
  updates.compare_traces(board);
}

/// Takes one rounded step again and again, each time with another seed.
template <class Recipe, class Side>
class redrawn_step {
 public:
  using instance_type = instance<Recipe, tieropt::bf16, Side>;

  explicit redrawn_step(case_data const& data) : run_(data) {}

  /// Makes `draw` start from `p_in` and the states before step `t`.
  void load(int t) {
    run_.load_gradients(t);
    load_states(run_, "f32", t);
    load_params(run_, t, "p_in");
    start_ = run_.saved();
    hypers_ = hypers_at(run_.data(), t);
  }
  instance_type& draw(int seed) {
    run_.restore(start_);
    run_.step(hypers_, static_cast<std::uint64_t>(seed));
    return run_;
  }

 private:
  instance_type run_;
  std::vector<typename instance_type::buffers_type> start_;
  std::vector<tieropt::hyper> hypers_;
};

/// The rounded step itself, from `p_in`, decay and all. On a device each draw must have the bits
/// of the host's.
template <class Recipe>
void run_rounded(scoreboard& board, int n_seeds) {
  case_data const& data = board.data();
  redrawn_step<Recipe, side> step(data);
  std::optional<redrawn_step<Recipe, host_side>> host_step;
  if (!std::is_same_v<side, host_side>) host_step.emplace(data);
  for (int t = 1; t <= data.info().steps; ++t) {
    step.load(t);
    if (host_step) host_step->load(t);
    std::vector<rounding_statistics> statistics;
    for (param_info const& p : data.info().params) {
      statistics.emplace_back(data.file().values(step_name("f64", t, p, "p_pre")),
                              board.tol("p_pre").atol);
    }
    for (int seed = 0; seed < n_seeds; ++seed) {
      auto& run = step.draw(seed);
      for (std::size_t i = 0; i < run.size(); ++i) statistics[i].take(widened(run[i].param));
      if (seed == 0) compare_states(run, t, board);
      if (!host_step) continue;
      auto const& host_run = host_step->draw(seed);
      for (std::size_t i = 0; i < run.size(); ++i) {
        if (run[i].differs_from(host_run[i])) {
          return board.fail(step_name("bf16", t, run.info(i), "p") + " with seed " +
                            std::to_string(seed) + " has not the host's bits");
        }
      }
    }
    for (std::size_t i = 0; i < statistics.size(); ++i) {
      std::string const name = step_name("f64", t, data.info().params[i], "p_pre");
      for (std::size_t e = 0; n_seeds >= enough_seeds && e < statistics[i].size(); ++e) {
        board.record(statistics[i].mean(e), "mean of " + name, e, "p_pre (mean)");
      }
      auto const& strays = statistics[i].strays();
      if (strays.empty()) continue;
      board.fail(name + ": " + std::to_string(strays.size()) + " elements, the first " +
                 std::to_string(*strays.begin()) + ", went to no bf16 neighbour");
    }
  }
}

}  // namespace golden
