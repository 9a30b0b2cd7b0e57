// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a case with bf16 parameters: each step alone, from stored states, and where the rounding is
/// stochastic over many seeds.
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

  /// The nearer of the two; of two as near the one that `up` says.
  double nearest(double x, bool up) const {
    double const to_below = x - below, to_above = above - x;  // exact: both are near x
    return to_above < to_below || (to_above == to_below && up) ? above : below;
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
    std::int64_t const k = run.steps_taken(i, t - 1);
    run.for_each_state(i, [&](char const* name, auto& values) {
      if (k > 0) {
        run.copy(converted<state>(file.values(step_name(of, t - 1, p, name))), values);
      } else {
        std::fill(values.begin(), values.end(), state{});
      }
    });
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

/// The value that gets rounded: parameters in the compute type, from the decayed ones where the
/// decay is rounded first.
template <class Recipe>
void compare_unrounded(instance<Recipe, typename Recipe::compute>& run, int t, scoreboard& board,
                       update_checks<Recipe, typename Recipe::compute>& updates,
                       rate_checks<Recipe, typename Recipe::compute>& rates) {
  case_data const& data = board.data();
  load_states(run, std::is_same_v<typename Recipe::compute, float> ? "f32" : "f64", t);
  bool const decayed = data.file().find(step_name("f32", t, run.info(0), "p_decayed")) != nullptr;
  load_params(run, t, decayed ? "p_decayed" : "p_in");
  run.load_gradients(t);
  updates.before_step(run, t, board);
  rates.before_step(run, t);
  auto hypers = hypers_at<Recipe>(data, t);
  for (auto& h : hypers) h.weight_decay = decayed ? 0 : h.weight_decay;
  run.step(hypers, 0);
  updates.after_step(run, t);
  rates.after_step(run, t);
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
  rate_checks<Recipe, typename Recipe::compute> rates(data);
  for (int t = 1; t <= data.info().steps; ++t) compare_unrounded(run, t, board, updates, rates);
  updates.compare_traces(board);
  rates.compare_traces(board);
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
    hypers_ = hypers_at<Recipe>(run_.data(), t);
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

/// A step on `side`, and beside it on the host if that is another: they must give the same bits.
template <class Recipe>
class twin_step {
 public:
  explicit twin_step(case_data const& data) : step_(data) {
    if (!std::is_same_v<side, host_side>) host_.emplace(data);
  }

  void load(int t) {
    t_ = t;
    step_.load(t);
    if (host_) host_->load(t);
  }
  /// @return null if the bits differ
  instance<Recipe, tieropt::bf16, side>* draw(int seed, scoreboard& board) {
    auto& run = step_.draw(seed);
    if (!host_) return &run;
    auto const& host_run = host_->draw(seed);
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (run[i].differs_from(host_run[i])) {
        board.fail(step_name("bf16", t_, run.info(i), "p") + " with seed " + std::to_string(seed) +
                   " has not the host's bits");
        return nullptr;
      }
    }
    return &run;
  }

 private:
  redrawn_step<Recipe, side> step_;
  std::optional<redrawn_step<Recipe, host_side>> host_;
  int t_ = 0;
};

/// The rounded step itself, from `p_in`, decay and all.
template <class Recipe>
void run_rounded(scoreboard& board, int n_seeds) {
  case_data const& data = board.data();
  twin_step<Recipe> step(data);
  for (int t = 1; t <= data.info().steps; ++t) {
    step.load(t);
    std::vector<rounding_statistics> statistics;
    for (param_info const& p : data.info().params) {
      statistics.emplace_back(data.file().values(step_name("f64", t, p, "p_pre")),
                              board.tol("p_pre").atol);
    }
    for (int seed = 0; seed < n_seeds; ++seed) {
      auto* const run = step.draw(seed, board);
      if (run == nullptr) return;
      for (std::size_t i = 0; i < run->size(); ++i) statistics[i].take(widened((*run)[i].param));
      if (seed == 0) compare_states(*run, t, board);
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

/// The same, rounded to nearest: where no value within the tolerance is on the other side of a tie,
/// only one result is right. It depends on no seed.
template <class Recipe>
void run_to_nearest(scoreboard& board, int n_seeds) {
  case_data const& data = board.data();
  double const tol = board.tol("p_pre").atol;
  twin_step<Recipe> step(data);
  for (int t = 1; t <= data.info().steps; ++t) {
    step.load(t);
    for (int seed = 0; seed < std::min(n_seeds, 2); ++seed) {
      auto* const run = step.draw(seed, board);
      if (run == nullptr) return;
      compare_states(*run, t, board);
      for (std::size_t i = 0; i < run->size(); ++i) {
        std::string const name = step_name("f64", t, run->info(i), "p_pre");
        auto const exact = data.file().values(name);
        auto const results = widened((*run)[i].param);
        for (std::size_t e = 0; e < exact.size(); ++e) {
          double const low = exact[e] - tol, high = exact[e] + tol;
          if (bf16_neighbours(low).nearest(low, false) <= results[e] &&
              results[e] <= bf16_neighbours(high).nearest(high, true)) {
            continue;
          }
          return board.fail(name + ": element " + std::to_string(e) +
                            " was not rounded to nearest");
        }
      }
    }
  }
}

}  // namespace golden
