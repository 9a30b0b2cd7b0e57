// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Trains a small mixture-of-experts language model on text, once per optimizer, and compares.

#include "moe/registry.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using moe::format;

/// Something on the command line cannot be used; what() is one line.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  moe::job job;
  double lr = 0;  // 0: each optimizer's own
  std::vector<moe::registered const*> optimizers;
  bool help = false;
};

constexpr std::int64_t default_steps = 1000;
constexpr std::int64_t most_steps = 10'000'000;

/// The CCCL headers that the library was built with, where the build says where they are.
std::vector<std::filesystem::path> default_inputs() {
  std::vector<std::filesystem::path> inputs;
#ifdef TIEROPT_DEFAULT_TEXT
  for (char const* const part : {"cub", "cuda", "nv", "thrust"}) {
    std::filesystem::path const folder = std::filesystem::path(TIEROPT_DEFAULT_TEXT) / part;
    if (std::filesystem::is_directory(folder)) inputs.push_back(folder);
  }
#endif
  return inputs;
}

void print_help() {
  std::printf(
      "usage: train_moe [OPTIONS] [FILE|FOLDER]...\n"
      "\n"
      "Trains a byte-level mixture-of-experts language model on the text of the files, once per\n"
      "optimizer with the same initial weights and the same batches, and compares memory, speed\n"
      "and perplexity. Without files it reads the C++ headers of CCCL.\n"
      "\n"
      "  --steps N          training steps of each optimizer (default %lld)\n"
      "  --optimizer NAMES  comma-separated, of the list below (default: all)\n"
      "  --seed N           of weights, batches and rounding (default 1)\n"
      "  --lr X             learning rate after the warm-up, for every optimizer (default: each "
      "its own)\n"
      "  --out DIR          where the curves go (default train_moe_out)\n"
      "  --help             this page\n"
      "\n"
      "optimizers, with the learning rate after warm-up:\n",
      static_cast<long long>(default_steps));
  for (auto const& o : moe::optimizers) {
    std::printf("  %-20s %-7g %s\n", std::string(o.name).c_str(), o.lr,
                std::string(o.summary).c_str());
  }
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

double parse_positive(std::string_view option, std::string_view text) {
  double value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0 && value < 1e3)) {
    throw usage_error(std::string(option) + " takes a number between 0 and 1000, not '" +
                      std::string(text) + "'");
  }
  return value;
}

std::vector<moe::registered const*> parse_optimizers(std::string_view text) {
  std::vector<moe::registered const*> chosen;
  while (true) {
    auto const comma = text.find(',');
    auto const name = text.substr(0, comma);
    moe::registered const* found = nullptr;
    std::string known;
    for (auto const& o : moe::optimizers) {
      if (o.name == name) found = &o;
      known += (known.empty() ? "" : ", ") + std::string(o.name);
    }
    if (found == nullptr) {
      throw usage_error("there is no optimizer '" + std::string(name) + "'; known: " + known);
    }
    if (std::find(chosen.begin(), chosen.end(), found) != chosen.end()) {
      throw usage_error("the optimizer '" + std::string(name) + "' is named twice");
    }
    chosen.push_back(found);
    if (comma == std::string_view::npos) return chosen;
    text.remove_prefix(comma + 1);
  }
}

options parse(std::vector<std::string_view> const& arguments) {
  options o;
  o.job.steps = default_steps;
  o.job.seed = 1;
  o.job.out = "train_moe_out";
  for (auto const& one : moe::optimizers) o.optimizers.push_back(&one);

  bool only_inputs = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view const argument = arguments[i];
    if (only_inputs || !argument.starts_with('-')) {
      o.job.inputs.emplace_back(argument);
      continue;
    }
    auto const equals = argument.find('=');
    auto const name = argument.substr(0, equals);
    auto const value = [&]() -> std::string_view {
      if (equals != std::string_view::npos) return argument.substr(equals + 1);
      if (i + 1 == arguments.size()) throw usage_error(std::string(name) + " takes a value");
      return arguments[++i];
    };
    if (argument == "--help" || argument == "-h") {
      o.help = true;
    } else if (argument == "--") {
      only_inputs = true;
    } else if (name == "--steps") {
      o.job.steps = parse_number<std::int64_t>(name, value(), 1, most_steps);
    } else if (name == "--seed") {
      o.job.seed = parse_number<std::uint64_t>(name, value(), 0, ~std::uint64_t{0});
    } else if (name == "--lr") {
      o.lr = parse_positive(name, value());
    } else if (name == "--optimizer") {
      o.optimizers = parse_optimizers(value());
    } else if (name == "--out") {
      o.job.out = value();
      if (o.job.out.empty()) throw usage_error("--out takes the name of a folder");
    } else {
      throw usage_error("there is no option '" + std::string(argument) + "'; see --help");
    }
  }
  return o;
}

/// The closing table and what its columns mean.
void report(options const& o, std::vector<moe::training_result> const& results) {
  moe::text_table table;
  table.add({"optimizer", "backbone", "experts", "router", "state total", "peak resident",
             "tokens/s", "in optimizer", "perplexity", "balance"});
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto const& r = results[i];
    std::vector<std::string> row{std::string(o.optimizers[i]->name)};
    double total = 0;
    for (auto const bytes : r.state_bytes) {
      row.push_back(moe::readable_bytes(static_cast<double>(bytes)));
      total += static_cast<double>(bytes);
    }
    row.push_back(moe::readable_bytes(total));
    row.push_back(moe::readable_bytes(static_cast<double>(r.peak_resident_bytes)));
    row.push_back(format("%.0f", r.tokens_per_second));
    row.push_back(format("%.2f %%", 100 * r.optimizer_share));
    row.push_back(format("%.2f", r.perplexity));
    row.push_back(format("%.3f", r.balance));
    table.add(std::move(row));
  }
  std::printf("\n");
  table.print(stdout);

  auto const& r = results.front();
  std::printf(
      "\n"
      "unigram perplexity of the same validation text: %.2f (entropy of its own byte frequencies,\n"
      "the best that any guess without context can do)\n"
      "backbone, experts, router: optimizer state of each tier. peak resident: of the optimizer's "
      "own\n"
      "process. in optimizer: share of a training step. perplexity: per byte, over %lld validation "
      "bytes.\n"
      "balance: load-balance loss, 1 = all experts equally busy.\n",
      r.unigram_perplexity, static_cast<long long>(r.validation_tokens));
  for (auto const* one : o.optimizers) {
    std::printf("curve: %s\n", moe::curve_path(o.job.out, one->name).string().c_str());
  }
}

void run(options& o) {
  if (o.job.inputs.empty()) o.job.inputs = default_inputs();
  if (o.job.inputs.empty()) throw usage_error("no text: name a file or a folder; see --help");
  std::error_code failed;
  std::filesystem::create_directories(o.job.out, failed);
  if (failed) throw moe::input_error(o.job.out.string() + ": " + failed.message());

  std::vector<moe::training_result> results;
  for (auto const* one : o.optimizers) {
    results.push_back(moe::run_in_process<moe::input_error>(
        [&] { return one->train(o.job, one->name, o.lr > 0 ? o.lr : one->lr); }));
  }
  report(o, results);
}

/// Makes waiting threads sleep: where other programs run too, OpenMP's spinning costs two thirds of
/// the speed. libgomp reads its variables when it is loaded, so the program starts once more.
void sleep_while_waiting([[maybe_unused]] char* argv[]) {
#ifdef __linux__
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) {
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);  // where that fails, it spins
  }
#endif
}

}  // namespace

int main(int argc, char* argv[]) {
  sleep_while_waiting(argv);
  try {
    options o = parse({argv + 1, argv + argc});
    if (o.help) {
      print_help();
    } else {
      run(o);
    }
    return 0;
  } catch (usage_error const& error) {
    std::fprintf(stderr, "train_moe: %s\n", error.what());
    return 2;
  } catch (moe::input_error const& error) {
    std::fprintf(stderr, "train_moe: %s\n", error.what());
    return 2;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "train_moe: %s\n", error.what());
    return 1;
  }
}
