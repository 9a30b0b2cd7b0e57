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
    "Runs every case of DIR/index.json that the library has a policy for: in float32 within the\n"
    "case's tolerances of the float64 reference, and in double within those times 2^-28.\n"
    "\n"
    "  --filter TEXT   only cases whose name contains TEXT\n"
    "  --seeds N       draws of a step that rounds to bf16, by default 4096: each must be a bf16\n"
    "                  neighbour, and of 4096 or more the mean must be right. Built for a device,\n"
    "                  each must also have the bits of the host executor, so that a few suffice\n"
    "                  where the device is slow\n"
    "  --verbose       the worst of each kind of tensor below its case\n"
    "  --self-check    compare the reference's own float32 run instead of the library\n"
    "\n"
    "A line a case: pass, FAIL or skip (no policy), the name, and for each precision the largest\n"
    "error in units of its tolerance and where it is. Status 0: all passed; 1: a case failed;\n"
    "2: DIR cannot be used.\n";

/// How a case is run in one precision; null for what an optimizer's cases have no use for.
struct runs {
  void (*trajectory)(golden::scoreboard&);
  void (*unrounded)(golden::scoreboard&) = nullptr;
  void (*rounded)(golden::scoreboard&, int n_seeds) = nullptr;
};

struct optimizer {
  char const* name;
  runs single;
  runs twice;  // rounding takes place in float32 and is checked there
};

using golden::run_rounded;
using golden::run_trajectory;
using golden::run_unrounded;
using skewadam32 = golden::skewadam<float>;
using skewadam64 = golden::skewadam<double>;
using trainer32 = golden::trainer_adamw<float>;
using trainer64 = golden::trainer_adamw<double>;

/// What the library has a policy for.
constexpr optimizer optimizers[] = {
    {"skewadam",
     {run_trajectory<skewadam32>, run_unrounded<skewadam32>, run_rounded<skewadam32>},
     {run_trajectory<skewadam64>, run_unrounded<skewadam64>}},
    {"adamw", {run_trajectory<golden::adamw<float>>}, {run_trajectory<golden::adamw<double>>}},
    {"trainer_adamw",
     {nullptr, run_unrounded<trainer32>, run_rounded<trainer32>},
     {nullptr, run_unrounded<trainer64>}},
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
bool run_in(char const* precision, Run const& run, golden::case_data const& data, double scale,
            bool verbose, std::string& line, std::string& details) {
  golden::scoreboard board(data, scale);
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

bool run_case(golden::golden_case const& info, optimizer const* o, options const& opts) {
  golden::case_data const data(info, opts.folder);
  std::string line = info.name;
  std::string details;
  auto const in = [&](char const* precision, double scale, auto const& f) {
    return run_in(precision, f, data, scale, opts.verbose, line, details);
  };
  auto const with = [&](runs const& how) {
    return [&](golden::scoreboard& board) { run(how, opts.seeds, board); };
  };
  bool passed;
  if (opts.self_check) {
    passed = in("reference", 1, golden::self_check);
  } else {
    passed = in("fp32", 1, with(o->single));
    passed &= in("fp64", 0x1p-28, with(o->twice));
  }
  std::printf("%s  %s\n%s", passed ? "pass" : "FAIL", line.c_str(), details.c_str());
  std::fflush(stdout);
  return passed;
}

int run_folder(options const& opts) {
  int n_passed = 0;
  int n_failed = 0;
  int n_skipped = 0;
  for (golden::golden_case const& info : golden::read_index(opts.folder)) {
    if (info.name.find(opts.filter) == std::string::npos) continue;
    optimizer const* const o = find(info.optimizer);
    if (o == nullptr && !opts.self_check) {
      std::printf("skip  %s  no policy for %s\n", info.name.c_str(), info.optimizer.c_str());
      ++n_skipped;
      continue;
    }
    ++(run_case(info, o, opts) ? n_passed : n_failed);
  }
  if (n_passed + n_failed + n_skipped == 0) {
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
