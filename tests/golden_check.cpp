// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// golden_check DIR: runs the library against test vectors of public reference optimizers.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "golden/case_data.hpp"
#include "golden/compare.hpp"
#include "golden/runs.hpp"
#include "golden/self_check.hpp"

namespace {

char const usage[] =
    "usage: golden_check DIR [--filter TEXT] [--seeds N] [--verbose] [--self-check]\n"
    "\n"
    "Runs every case of DIR/index.json: in float32 within the case's tolerances of the float64\n"
    "reference, and in double within those times 2^-28. Compared are, after every step that is\n"
    "stored, the parameters, the states and the step counts, and besides of\n"
    "\n"
    "  skewadam        the last update, and before clipping the RMS of every update\n"
    "  trainer_adamw, trainer_lion, and any case with bf16 parameters\n"
    "                  each step alone, from the stored states: the value that gets rounded, and\n"
    "                  what the rounding makes of it\n"
    "  adamw, adam     these alone\n"
    "  adafactor       of every step the RMS of the update and of the parameter, the learning\n"
    "                  rate, and the decay of the second moment\n"
    "  lion, lion2     these alone: one sign that differs is more than any tolerance\n"
    "  muon            the last input and result of the orthogonalisation. The same in bf16, as\n"
    "                  published, by the norm of the difference\n"
    "\n"
    "  --filter TEXT   only cases whose name contains TEXT\n"
    "  --seeds N       draws of a step that rounds to bf16, by default 4096: each must be a bf16\n"
    "                  neighbour, and of 4096 or more the mean must be right. Built for a device,\n"
    "                  each must also have the bits of the host executor, so that a few suffice\n"
    "                  where the device is slow\n"
    "  --verbose       the worst of each kind of tensor below its case\n"
    "  --self-check    compare the reference's own float32 and bf16 runs instead of the library\n"
    "\n"
    "A line a case: pass or FAIL, the name, and for each precision the largest error in units of\n"
    "its tolerance and where it is. An optimizer of another name is a failure. Status 0: all\n"
    "passed; 1: a case failed; 2: DIR cannot be used.\n";

/// How a case is run in one precision; null for what an optimizer's cases have no use for.
struct runs {
  void (*trajectory)(golden::scoreboard&) = nullptr;
  void (*unrounded)(golden::scoreboard&) = nullptr;
  void (*rounded)(golden::scoreboard&, int n_seeds) = nullptr;
};

struct optimizer {
  char const* name;
  runs single;
  runs twice;           // rounding takes place in float32 and is checked there
  runs published = {};  // in bf16, where the index has tolerances for that
};

using golden::run_rounded;
using golden::run_to_nearest;
using golden::run_trajectory;
using golden::run_unrounded;

/// An optimizer whose parameters are rounded in none of its cases.
template <template <class> class Recipe>
constexpr optimizer unrounded(char const* name) {
  return {name, {run_trajectory<Recipe<float>>}, {run_trajectory<Recipe<double>>}};
}

/// An optimizer whose parameters are rounded in all of them.
template <template <class> class Recipe>
constexpr optimizer rounded(char const* name) {
  return {name,
          {nullptr, run_unrounded<Recipe<float>>, run_rounded<Recipe<float>>},
          {nullptr, run_unrounded<Recipe<double>>}};
}

using golden::adafactor;
using golden::muon;
using golden::skewadam;

constexpr optimizer optimizers[] = {
    {"skewadam",
     {run_trajectory<skewadam<float>>, run_unrounded<skewadam<float>>,
      run_rounded<skewadam<float>>},
     {run_trajectory<skewadam<double>>, run_unrounded<skewadam<double>>}},
    rounded<golden::trainer_adamw>("trainer_adamw"),
    rounded<golden::trainer_lion>("trainer_lion"),
    unrounded<golden::adamw>("adamw"),
    unrounded<golden::adam>("adam"),
    {"adafactor",
     {run_trajectory<adafactor<float>>, run_unrounded<adafactor<float>>,
      run_to_nearest<golden::adafactor_to_nearest<float>>},
     {run_trajectory<adafactor<double>>, run_unrounded<adafactor<double>>}},
    unrounded<golden::lion>("lion"),
    unrounded<golden::lion>("lion2"),  // another source of the same
    {"muon",
     {run_trajectory<muon<float>>},
     {run_trajectory<muon<double>>},
     {run_trajectory<golden::muon_in_bf16<float>>}},
};

optimizer const* find(std::string const& name) {
  for (optimizer const& o : optimizers) {
    if (name == o.name) return &o;
  }
  return nullptr;
}

struct options {
  std::string folder;
  std::string filter;
  bool verbose = false;
  bool self_check = false;
  int seeds = golden::enough_seeds;
};

/// Chooses the run by the case: rounded parameters step by step, others as one trajectory.
void run(runs const& how, int n_seeds, golden::scoreboard& board) {
  bool const rounded = board.data().info().has_tag("bf16-param");
  if ((rounded ? how.unrounded : how.trajectory) == nullptr) {
    return board.fail("there is no run for parameters of this type");
  }
  if (!rounded) return how.trajectory(board);
  how.unrounded(board);
  if (how.rounded != nullptr) how.rounded(board, n_seeds);
}

/// Runs a case in one precision; what the library refuses is a failure of the case.
template <class Run>
bool run_in(char const* precision, Run const& run, golden::case_data const& data,
            char const* tolerances, double scale, bool verbose, std::string& line,
            std::string& details) {
  golden::scoreboard board(data, tolerances, scale);
  try {
    run(board);
    board.require_all_compared();
  } catch (golden::library_error const& e) {
    board.fail(e.what());
  }
  line += std::string("  ") + precision + " " + board.worst().text();
  for (std::string const& f : board.failures())
    details += "      " + std::string(precision) + " " + f + "\n";
  if (verbose) {
    for (auto const& [tensor, d] : board.worst_by_tensor()) {
      details += "      " + std::string(precision) + " " + tensor + " " + d.text() + "\n";
    }
  }
  return board.passed();
}

bool run_case(golden::golden_case const& info, options const& opts) {
  golden::case_data const data(info, opts.folder);
  std::string line = info.name;
  std::string details;
  bool const in_bf16 = info.runs.contains("ref");
  auto const in = [&](char const* precision, char const* tolerances, double scale, auto const& f) {
    return run_in(precision, f, data, tolerances, scale, opts.verbose, line, details);
  };
  auto const with = [&](runs const& how) {
    return [&](golden::scoreboard& board) { run(how, opts.seeds, board); };
  };
  auto const reference = [](char const* run) {
    return [run](golden::scoreboard& board) { golden::self_check(board, run); };
  };
  bool passed = false;
  if (opts.self_check) {
    passed = in("reference", "f32", 1, reference("f32"));
    if (in_bf16) passed &= in("reference in bf16", "ref", 1, reference("ref"));
  } else if (optimizer const* const o = find(info.optimizer)) {
    passed = in("fp32", "f32", 1, with(o->single));
    passed &= in("fp64", "f32", 0x1p-28, with(o->twice));
    if (in_bf16) passed &= in("bf16", "ref", 1, with(o->published));
  } else {
    details = "      there is no run for the optimizer " + info.optimizer + "\n";
  }
  std::printf("%s  %s\n%s", passed ? "pass" : "FAIL", line.c_str(), details.c_str());
  std::fflush(stdout);
  return passed;
}

int run_folder(options const& opts) {
  int n_passed = 0;
  int n_failed = 0;
  for (golden::golden_case const& info : golden::read_index(opts.folder)) {
    if (info.name.find(opts.filter) == std::string::npos) continue;
    ++(run_case(info, opts) ? n_passed : n_failed);
  }
  if (n_passed + n_failed == 0) {
    throw golden::input_error("no case has a name with " + opts.filter);
  }
  std::printf("%d passed, %d failed\n", n_passed, n_failed);
  return n_failed == 0 ? 0 : 1;
}

/// @return false if the arguments make no sense
bool parse(int argc, char** argv, options& opts) {
  for (int i = 1; i < argc; ++i) {
    std::string const arg = argv[i];
    if (arg == "--verbose")
      opts.verbose = true;
    else if (arg == "--self-check")
      opts.self_check = true;
    else if (arg == "--filter" && i + 1 < argc)
      opts.filter = argv[++i];
    else if (arg == "--seeds" && i + 1 < argc && std::atoi(argv[i + 1]) > 0)
      opts.seeds = std::atoi(argv[++i]);
    else if (arg.starts_with("-") || !opts.folder.empty())
      return false;
    else
      opts.folder = arg;
  }
  return !opts.folder.empty();
}

}  // namespace

int main(int argc, char** argv) {
  options opts;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) return std::fputs(usage, stdout) < 0;
  }
  if (!parse(argc, argv, opts)) {
    std::fputs("golden_check: needs one folder; see golden_check --help\n", stderr);
    return 2;
  }
  try {
    return run_folder(opts);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "golden_check: %s\n", e.what());
    return 2;
  }
}
