// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The example's command line, schedules and sweep statistics: plain arithmetic.

#include "moe/options.hpp"
#include "moe/schedule.hpp"
#include "moe/statistics.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using moe::learning_rate;
using moe::schedule;

constexpr moe::registered known[] = {
    {.name = "a", .groups = moe::in_default, .usual = {2e-3, 0}, .paper = {3e-4, 0}},
    {.name = "b", .groups = moe::in_skewadam, .usual = {0.5, 0.25}, .paper = {4, 1}},
    {.name = "c", .groups = moe::in_default | moe::in_ablations, .usual = {1e-3, 0}},
};

moe::options parse(std::vector<std::string_view> const& arguments) {
  return moe::parse_options(known, arguments);
}

/// The chosen names, one letter each.
std::string names(std::vector<moe::registered const*> const& chosen) {
  std::string all;
  for (auto const* one : chosen) all += one->name;
  return all;
}
std::string optimizers(std::string_view text) {
  return names(parse({"--optimizer", text}).optimizers);
}

}  // namespace

TEST_CASE("every schedule warms up over 3 % of the steps") {
  for (auto const s : {schedule::constant, schedule::cosine, schedule::linear, schedule::wsd}) {
    INFO(moe::name_of(s));
    REQUIRE(learning_rate(s, 2, 1, 1000) == 2 * 1.0 / 30);
    REQUIRE(learning_rate(s, 2, 15, 1000) == 1);
    REQUIRE(learning_rate(s, 2, 30, 1000) == 2);
    REQUIRE(learning_rate(s, 2, 1, 1) == 2);  // a warm-up takes at least a step
    REQUIRE(learning_rate(s, 2, 1, 49) == 2);
    REQUIRE(learning_rate(s, 2, 1, 50) == 1);  // 1.5 steps are two
  }
}

TEST_CASE("after the warm-up a schedule is constant, or goes to zero in its own way") {
  auto const at = [](schedule s, std::int64_t step) { return learning_rate(s, 2, step, 1000); };
  for (std::int64_t const step : {31, 515, 1000}) REQUIRE(at(schedule::constant, step) == 2);

  REQUIRE(std::abs(at(schedule::cosine, 515) - 1) < 1e-15);  // the middle of 30 and 1000
  REQUIRE(at(schedule::cosine, 1000) == 0);
  // A third of the way, (1 + cos(pi / 3)) / 2 = 3/4: 31 warm-up steps of 1030, 999 of cosine.
  REQUIRE(std::abs(learning_rate(schedule::cosine, 2, 31 + 333, 1030) - 1.5) < 1e-15);

  REQUIRE(at(schedule::linear, 515) == 1);
  REQUIRE(at(schedule::linear, 1000) == 0);
  REQUIRE(at(schedule::linear, 30 + 97) == 2 * 0.9);

  REQUIRE(at(schedule::wsd, 31) == 2);
  REQUIRE(at(schedule::wsd, 800) == 2);
  REQUIRE(at(schedule::wsd, 801) == 2 * (199.0 / 200));
  REQUIRE(at(schedule::wsd, 900) == 1);
  REQUIRE(at(schedule::wsd, 1000) == 0);
}

TEST_CASE("no schedule exceeds the peak or falls below zero in a run of any length") {
  for (auto const s : {schedule::constant, schedule::cosine, schedule::linear, schedule::wsd}) {
    for (std::int64_t steps = 1; steps <= 60; ++steps) {
      for (std::int64_t step = 1; step <= steps; ++step) {
        double const lr = learning_rate(s, 2, step, steps);
        INFO(moe::name_of(s) << ", step " << step << " of " << steps << ": " << lr);
        REQUIRE(lr >= 0);
        REQUIRE(lr <= 2);
      }
    }
  }
}

TEST_CASE("a spread is the mean and the deviation of a sample, without what diverged") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const inf = std::numeric_limits<double>::infinity();
  auto const s = moe::spread_of(std::vector<double>{4, nan, 1, 7, inf});
  REQUIRE(s.runs == 3);
  REQUIRE(s.diverged == 2);
  REQUIRE(s.mean == 4);
  REQUIRE(s.deviation == 3);  // sqrt((9 + 0 + 9) / 2)
  REQUIRE(s.least == 1);
  REQUIRE(s.most == 7);

  auto const one = moe::spread_of(std::vector<double>{-5});
  REQUIRE(one.mean == -5);
  REQUIRE(one.deviation == 0);
  REQUIRE(one.least == -5);
  REQUIRE(one.most == -5);

  auto const none = moe::spread_of(std::vector<double>{nan});
  REQUIRE(none.runs == 0);
  REQUIRE(std::isnan(none.mean));
  REQUIRE(std::isnan(none.deviation));
}

TEST_CASE("the best line has the best mean and no run that diverged") {
  auto const line = [](double mean, int runs, int diverged) {
    return moe::spread{.runs = runs, .diverged = diverged, .mean = mean};
  };
  std::vector<moe::spread> const lines{line(0, 0, 3), line(5, 3, 0), line(1, 2, 1),
                                       line(3, 3, 0), line(9, 3, 0), line(3, 3, 0)};
  REQUIRE(moe::best_line(lines, false) == 3);
  REQUIRE(moe::best_line(lines, true) == 4);
  REQUIRE(moe::best_line(std::vector{line(0, 0, 3), line(1, 2, 1)}, false) == 2);
}

TEST_CASE("optimizers are chosen by name and by group, each once") {
  REQUIRE(names(parse({}).optimizers) == "ac");
  REQUIRE(optimizers("all") == "abc");
  REQUIRE(optimizers("skewadam") == "b");
  REQUIRE(optimizers("ablations,a") == "ca");
  REQUIRE(optimizers("b,default,b") == "bac");
}

TEST_CASE("a rate is the optimizer's own, the paper's, or what the line says") {
  auto const rate = [](std::vector<std::string_view> arguments, int which) {
    arguments.insert(arguments.end(), {"--optimizer", "all"});
    return moe::rates_of(parse(arguments), known[which]);
  };
  auto const same = [](moe::rates a, moe::rates b) { return a.own == b.own && a.rest == b.rest; };
  REQUIRE(same(rate({}, 1), {0.5, 0.25}));
  REQUIRE(same(rate({"--paper-lr"}, 1), {4, 1}));
  REQUIRE(same(rate({"--paper-lr"}, 2), {1e-3, 0}));  // it has none of the paper
  REQUIRE(same(rate({"--lr", "3"}, 0), {3, 0}));
  REQUIRE(same(rate({"--lr", "2"}, 1), {2, 1}));  // the Adam branch keeps its half
  REQUIRE(same(rate({"--lr=b=8,3"}, 1), {8, 4}));
  REQUIRE(same(rate({"--lr=b=8,3"}, 2), {3, 0}));
  REQUIRE(same(rate({"--lr=a=3", "--paper-lr", "--lr=b=8"}, 0), {3, 0}));
  REQUIRE(same(rate({"--lr=a=3", "--paper-lr", "--lr=b=8"}, 1), {8, 2}));
}

TEST_CASE("a sweep takes rates, multiples, schedules and seeds") {
  auto const o =
      parse({"--sweep", "--lrs", "1e-2,0.5x", "--schedules", "wsd,constant", "--seeds=7"});
  REQUIRE(o.sweep);
  REQUIRE(o.sweep_rates.size() == 2);
  REQUIRE(o.sweep_rates[0].value == 1e-2);
  REQUIRE(!o.sweep_rates[0].relative);
  REQUIRE(o.sweep_rates[1].value == 0.5);
  REQUIRE(o.sweep_rates[1].relative);
  REQUIRE(o.schedules == std::vector{schedule::wsd, schedule::constant});
  REQUIRE(o.seeds == 7);

  auto const usual = parse({"--sweep", "--schedule", "linear"});
  REQUIRE(usual.schedules == std::vector{schedule::linear});
  REQUIRE(usual.sweep_rates.size() == 3);
  REQUIRE(usual.base.steps == moe::default_sweep_steps);
  REQUIRE(parse({}).base.steps == moe::default_steps);
  REQUIRE(parse({"--sweep", "--steps", "5"}).base.steps == 5);
}

TEST_CASE("generated data follow the first seed") {
  auto const o = parse({"--task", "teachers", "--seed", "18446744073709551615"});
  REQUIRE(o.base.task == moe::task_kind::teachers);
  REQUIRE(o.base.seed == ~std::uint64_t{0});
  REQUIRE(o.base.data_seed == o.base.seed);
}

TEST_CASE("what is behind -- is a file") {
  auto const o = parse({"x", "--steps", "2", "--", "--sweep"});
  REQUIRE(o.base.inputs == std::vector<std::filesystem::path>{"x", "--sweep"});
  REQUIRE(!o.sweep);
}

TEST_CASE("a line that cannot be used is refused in one sentence") {
  std::vector<std::vector<std::string_view>> const lines{
      {"--no-such"},
      {"--steps"},
      {"--steps", "0"},
      {"--steps", "1e3"},
      {"--seed", "-1"},
      {"--seed", "18446744073709551616"},
      {"--optimizer", "d"},
      {"--optimizer", ""},
      {"--optimizer", "a,"},
      {"--lr", "0"},
      {"--lr", "-1"},
      {"--lr", "nan"},
      {"--lr", "inf"},
      {"--lr", "1e3"},
      {"--lr", "1,"},
      {"--lr", "d=1"},
      {"--lr", "a="},
      {"--lr", "b=1"},  // not among the default ones
      {"--schedule", "cosin"},
      {"--task", "images"},
      {"--task", "teachers", "file"},
      {"--out="},
      {"--lrs", "1"},  // without --sweep
      {"--schedules", "wsd"},
      {"--seeds", "2"},
      {"--sweep", "--lrs", "x"},
      {"--sweep", "--lrs", "1y"},
      {"--sweep", "--schedules", "wsd,"},
      {"--sweep", "--seeds", "0"},
  };
  for (auto const& line : lines) {
    std::string text;
    for (auto const argument : line) text += std::string(argument) + " ";
    INFO(text);
    try {
      parse(line);
      FAIL("accepted");
    } catch (moe::usage_error const& error) {
      std::string const message = error.what();
      REQUIRE(!message.empty());
      REQUIRE(message.find('\n') == std::string::npos);
    }
  }
}
