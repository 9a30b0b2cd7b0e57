// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// golden_check DIR: runs the library against test vectors of public reference optimizers.

#include <cstdio>
#include <cstring>
#include <string>

#include "golden/case_data.hpp"
#include "golden/compare.hpp"
#include "golden/recipes.hpp"
#include "golden/run_case.hpp"
#include "golden/run_rounded.hpp"
#include "golden/self_check.hpp"

namespace {

char const usage[] =
    "usage: golden_check DIR [--filter TEXT] [--verbose] [--self-check]\n"
    "\n"
    "Runs every case of DIR/index.json that the library has a policy for: in float32 within the\n"
    "case's tolerances of the float64 reference, and in double within those times 2^-28.\n"
    "\n"
    "  --filter TEXT   only cases whose name contains TEXT\n"
    "  --verbose       the worst of each kind of tensor below its case\n"
    "  --self-check    compare the reference's own float32 run instead of the library\n"
    "\n"
    "A line a case: pass, FAIL or skip (no policy), the name, and for each precision the largest\n"
    "error in units of its tolerance and where it is. Status 0: all passed; 1: a case failed;\n"
    "2: DIR cannot be used.\n";

/// How an optimizer of the vectors is run.
struct optimizer {
  char const* name;
  void (*single)(golden::scoreboard&);
  void (*twice)(golden::scoreboard&);
};

/// Chooses the run by the case: rounded parameters step by step, others as one trajectory.
template <class Recipe>
void run(golden::scoreboard& board) {
  if (board.data().info().has_tag("bf16-param")) {
    golden::run_rounded<Recipe>(board);
  } else {
    golden::run_trajectory<Recipe>(board);
  }
}

template <template <class> class Recipe>
constexpr optimizer entry(char const* name) {
  return {name, run<Recipe<float>>, run<Recipe<double>>};
}

/// What the library has a policy for: one line an optimizer.
constexpr optimizer optimizers[] = {
    entry<golden::skewadam>("skewadam"),
    entry<golden::adamw>("adamw"),
    entry<golden::trainer_adamw>("trainer_adamw"),
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
};

/// Runs a case in one precision; what the library refuses is a failure of the case.
bool run_in(char const* precision, void (*run)(golden::scoreboard&), golden::case_data const& data,
            double scale, bool verbose, std::string& line, std::string& details) {
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
  bool passed;
  if (opts.self_check) {
    passed = run_in("reference", golden::self_check, data, 1, opts.verbose, line, details);
  } else {
    passed = run_in("fp32", o->single, data, 1, opts.verbose, line, details);
    passed &= run_in("fp64", o->twice, data, 0x1p-28, opts.verbose, line, details);
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
