// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The command line of train_moe.
#pragma once

#include "moe/catalogue.hpp"
#include "moe/job.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace moe {

inline constexpr std::int64_t default_steps = 500, default_sweep_steps = 200;
inline constexpr char const* default_rates = "0.3x,1x,3x";

/// A learning rate of a sweep.
struct rate_choice {
  double value;
  bool relative;  // to the optimizer's own
};

struct options {
  job base;  // of every run; its optimizer is open
  std::filesystem::path out = "train_moe_out";
  std::vector<registered const*> optimizers;
  bool paper_lr = false;
  std::optional<double> lr;                // of every optimizer without a line below
  std::map<std::string_view, double> lrs;  // by name
  bool sweep = false;
  std::vector<rate_choice> sweep_rates;
  std::vector<schedule> schedules;
  int seeds = 3;
  bool help = false;
};

/// Rates with another one in front; the rest keeps its proportion to it.
inline rates scaled_to(rates r, double own) { return {own, r.rest * (own / r.own)}; }

/// What an optimizer trains with.
inline rates rates_of(options const& o, registered const& one) {
  rates const r = o.paper_lr && one.paper.own > 0 ? one.paper : one.usual;
  auto const named = o.lrs.find(one.name);
  if (named != o.lrs.end()) return scaled_to(r, named->second);
  return o.lr ? scaled_to(r, *o.lr) : r;
}

template <class T>
T parse_number(std::string_view option, std::string_view text, T least, T most) {
  T value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw usage_error(std::string(option) + " takes a whole number from " + std::to_string(least) +
                      " to " + std::to_string(most) + ", not '" + std::string(text) + "'");
  }
  return value;
}

inline double parse_positive(std::string_view option, std::string_view text) {
  double value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0 && value < 1e3)) {
    throw usage_error(std::string(option) + " takes a number between 0 and 1000, not '" +
                      std::string(text) + "'");
  }
  return value;
}

/// One of some names, as its index.
template <class Names>
std::size_t parse_name(std::string_view option, std::string_view text, Names const& names) {
  auto const found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (auto const name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  throw usage_error(std::string(option) + " takes one of " + known + ", not '" + std::string(text) +
                    "'");
}

inline schedule parse_schedule(std::string_view option, std::string_view text) {
  return static_cast<schedule>(parse_name(option, text, schedule_names));
}

/// --lr: numbers for all, or NAME=NUMBER.
inline void parse_rates(options& o, std::span<registered const> known, std::string_view text) {
  for (std::string_view const piece : split(text)) {
    auto const equals = piece.find('=');
    if (equals == std::string_view::npos) {
      o.lr = parse_positive("--lr", piece);
    } else {
      o.lrs[find_optimizer(known, piece.substr(0, equals)).name] =
          parse_positive("--lr", piece.substr(equals + 1));
    }
  }
}

/// --lrs: numbers, or multiples such as 0.3x.
inline std::vector<rate_choice> parse_sweep_rates(std::string_view text) {
  std::vector<rate_choice> choices;
  for (std::string_view piece : split(text)) {
    bool const relative = piece.ends_with('x');
    if (relative) piece.remove_suffix(1);
    choices.push_back({parse_positive("--lrs", piece), relative});
  }
  return choices;
}

/// Reads the command line. What only a sweep knows is refused without one.
inline options parse_options(std::span<registered const> known,
                             std::span<std::string_view const> arguments) {
  options o;
  std::optional<std::int64_t> steps;
  std::string_view names = "default", of_sweep;
  bool only_inputs = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view const argument = arguments[i];
    if (only_inputs || !argument.starts_with('-')) {
      o.base.inputs.emplace_back(argument);
      continue;
    }
    auto const equals = argument.find('=');
    auto const name = argument.substr(0, equals);
    auto const value = [&]() -> std::string_view {
      if (equals != std::string_view::npos) return argument.substr(equals + 1);
      if (i + 1 == arguments.size()) throw usage_error(std::string(name) + " takes a value");
      return arguments[++i];
    };
    auto const whole = [&](auto least, auto most) {
      return parse_number<decltype(most)>(name, value(), least, most);
    };
    if (argument == "--help" || argument == "-h") {
      o.help = true;
    } else if (argument == "--") {
      only_inputs = true;
    } else if (argument == "--sweep") {
      o.sweep = true;
    } else if (argument == "--paper-lr") {
      o.paper_lr = true;
    } else if (name == "--task") {
      std::vector<std::string_view> task_names;
      for (auto const& t : tasks) task_names.push_back(t.name);
      o.base.task = static_cast<task_kind>(parse_name(name, value(), task_names));
    } else if (name == "--steps") {
      steps = whole(1, std::int64_t{10'000'000});
    } else if (name == "--seed") {
      o.base.seed = whole(0, ~std::uint64_t{0});
    } else if (name == "--lr") {
      parse_rates(o, known, value());
    } else if (name == "--schedule") {
      o.base.plan = parse_schedule(name, value());
    } else if (name == "--optimizer") {
      names = value();
    } else if (name == "--lrs") {
      of_sweep = name;
      o.sweep_rates = parse_sweep_rates(value());
    } else if (name == "--schedules") {
      of_sweep = name;
      o.schedules.clear();
      for (auto const piece : split(value())) o.schedules.push_back(parse_schedule(name, piece));
    } else if (name == "--seeds") {
      of_sweep = name;
      o.seeds = whole(1, 1000);
    } else if (name == "--out") {
      o.out = value();
      if (o.out.empty()) throw usage_error("--out takes the name of a folder");
    } else {
      throw usage_error("there is no option '" + std::string(argument) + "'; see --help");
    }
  }

  o.optimizers = choose_optimizers(known, names);
  for (auto const& [name, lr] : o.lrs) {
    if (std::none_of(o.optimizers.begin(), o.optimizers.end(),
                     [&](registered const* one) { return one->name == name; })) {
      throw usage_error("--lr names '" + std::string(name) + "', which is not to be trained");
    }
  }
  if (!o.sweep && !of_sweep.empty()) {
    throw usage_error(std::string(of_sweep) + " belongs to --sweep");
  }
  if (o.base.task != task_kind::text && !o.base.inputs.empty()) {
    throw usage_error("the task " + std::string(words_of(o.base.task).name) + " reads no files");
  }
  o.base.steps = steps.value_or(o.sweep ? default_sweep_steps : default_steps);
  o.base.data_seed = o.base.seed;
  if (o.sweep_rates.empty()) o.sweep_rates = parse_sweep_rates(default_rates);
  if (o.schedules.empty()) o.schedules = {o.base.plan};
  return o;
}

}  // namespace moe
