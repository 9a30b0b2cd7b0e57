// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Trains a small mixture-of-experts model, once per optimizer, and compares.

#include "moe/chart.hpp"
#include "moe/errors.hpp"
#include "moe/job.hpp"
#include "moe/options.hpp"
#include "moe/process.hpp"
#include "moe/registry.hpp"
#include "moe/report.hpp"
#include "moe/statistics.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using moe::format;

/// The CCCL headers that the library was built with, where the build says where they are.
std::vector<fs::path> default_inputs() {
  std::vector<fs::path> inputs;
#ifdef TIEROPT_DEFAULT_TEXT
  for (char const* const part : {"cub", "cuda", "nv", "thrust"}) {
    fs::path const folder = fs::path(TIEROPT_DEFAULT_TEXT) / part;
    if (fs::is_directory(folder)) inputs.push_back(folder);
  }
#endif
  return inputs;
}

/// "0.02", or "0.02, 0.002" with that of the rest.
std::string readable(moe::rates const& r) {
  if (r.own == 0) return "-";
  return r.rest == 0 ? format("%.3g", r.own) : format("%.3g, %.3g", r.own, r.rest);
}

constexpr char const* usage = R"(usage: train_moe [OPTIONS] [FILE|FOLDER]...

Trains a small mixture-of-experts model, once per optimizer with the same initial weights
and the same batches, and compares memory, speed and the result on held-out data. The task
text reads the files; without any, the C++ headers of CCCL.

  --task NAME         of the list below (default text)
  --steps N           training steps of each run (default %lld, of a sweep %lld)
  --optimizer NAMES   comma-separated names and groups of the list below (default default)
  --seed N            of weights, batches, rounding and generated data (default 1)
  --lr RATES          learning rates at the end of the warm-up, comma-separated: X for every
                      optimizer, NAME=X for one (default: those of the list below); a second
                      rate keeps its proportion to the first
  --paper-lr          the rates of the SkewAdam paper, where it has one
  --schedule NAME     constant, cosine, linear or wsd, after a warm-up over 3 %% of the steps
                      (default cosine; wsd: constant, then a line to 0 over the last 20 %%)
  --out DIR           where tables, curves and the chart go (default train_moe_out)
  --help              this page

  --sweep             every optimizer with each of the following; mean and spread over seeds
  --lrs RATES         X, or multiples of an optimizer's rate such as 0.5x (default %s)
  --schedules NAMES   (default: that of --schedule)
  --seeds N           this many, from --seed on, on the same generated data (default 3)

tasks:
)";

void print_help() {
  std::printf(usage, static_cast<long long>(moe::default_steps),
              static_cast<long long>(moe::default_sweep_steps), moe::default_rates);
  for (auto const& t : moe::tasks) {
    std::printf("  %-10s %s\n", std::string(t.name).c_str(), std::string(t.summary).c_str());
  }
  std::printf("\noptimizers, with the learning rate here and in the paper:\n");
  for (auto const& o : moe::registry) {
    std::printf("  %-25s %-12s %-13s %s\n", std::string(o.name).c_str(), readable(o.usual).c_str(),
                readable(o.paper).c_str(), std::string(o.summary).c_str());
  }
  std::printf("%s\ngroups:\n", moe::where_rates_come_from);
  for (auto const& g : moe::groups) {
    std::string members;
    for (auto const& o : moe::registry) {
      if (g.member == moe::in_all || (o.groups & g.member) != 0) {
        members += (members.empty() ? "" : ", ") + std::string(o.name);
      }
    }
    std::printf("  %-10s %s\n", std::string(g.name).c_str(),
                g.member == moe::in_all ? "all of them" : members.c_str());
  }
}

/// The run of an optimizer in a process of its own.
moe::training_result run_one(moe::job j, moe::registered const& one) {
  j.optimizer = one.make;
  return moe::run_in_process<moe::input_error>([&] { return moe::train(j); });
}

double total_state(moe::training_result const& r) {
  double total = 0;
  for (auto const bytes : r.state_bytes) total += static_cast<double>(bytes);
  return total;
}

/// What the numbers of a task are.
void print_notes(moe::task_words const& words, moe::training_result const& r) {
  std::printf("%s, %lld %ss.\n%s %s.\n", std::string(words.metric_is).c_str(),
              static_cast<long long>(r.held_out), std::string(words.unit).c_str(),
              format(words.pattern, r.baseline).c_str(), std::string(words.baseline).c_str());
}

/// One run of each optimizer: a table, its file, curves, a chart.
void compare(moe::options const& o) {
  auto const& words = moe::words_of(o.base.task);
  std::string const metric(words.metric), unit(words.unit);
  moe::text_table table;
  table.add({"optimizer", "lr", "backbone", "experts", "router", "state total", "peak resident",
             unit + "s/s", "in optimizer", metric, "balance", "seconds"});
  auto csv = moe::open_csv(
      o.out / "results.csv",
      "optimizer,lr,rest_lr,schedule,seed,steps,backbone_bytes,experts_bytes,router_bytes,"
      "peak_resident_bytes," +
          unit + "s_per_second,optimizer_share,held_out_" + metric + ",balance,seconds");
  std::vector<std::string> names;
  moe::training_result last{};
  for (auto const* one : o.optimizers) {
    moe::job j = o.base;
    j.name = one->name;
    j.lr = moe::rates_of(o, *one);
    j.curve = o.out / (j.name + ".csv");
    j.evaluations = static_cast<int>(std::clamp<std::int64_t>(j.steps / 10, 1, 10));
    auto const r = run_one(j, *one);
    std::vector<std::string> row{j.name, readable(j.lr)};
    for (auto const bytes : r.state_bytes) {
      row.push_back(moe::readable_bytes(static_cast<double>(bytes)));
    }
    row.push_back(moe::readable_bytes(total_state(r)));
    row.push_back(moe::readable_bytes(static_cast<double>(r.peak_resident_bytes)));
    row.push_back(format("%.0f", r.per_second));
    row.push_back(format("%.2f %%", 100 * r.optimizer_share));
    row.push_back(format(words.pattern, r.metric));
    row.push_back(format("%.3f", r.balance));
    row.push_back(format("%.1f", r.seconds));
    table.add(std::move(row));
    csv << format("%s,%.6g,%.6g,%s,%llu,%lld,%lld,%lld,%lld,%lld,%.1f,%.5f,%.6g,%.5f,%.2f\n",
                  j.name.c_str(), j.lr.own, j.lr.rest, std::string(name_of(j.plan)).c_str(),
                  static_cast<unsigned long long>(j.seed), static_cast<long long>(j.steps),
                  static_cast<long long>(r.state_bytes[0]),
                  static_cast<long long>(r.state_bytes[1]),
                  static_cast<long long>(r.state_bytes[2]),
                  static_cast<long long>(r.peak_resident_bytes), r.per_second, r.optimizer_share,
                  r.metric, r.balance, r.seconds)
        << std::flush;
    names.push_back(j.name);
    last = r;
  }
  csv.close();
  std::printf("\n%s, %lld steps of %s, seed %llu\n\n", std::string(words.name).c_str(),
              static_cast<long long>(o.base.steps), std::string(name_of(o.base.plan)).c_str(),
              static_cast<unsigned long long>(o.base.seed));
  table.print(stdout);
  std::printf("\n");
  print_notes(words, last);
  std::printf(
      "lr: at the end of the warm-up; a second one is of the tensors that Muon leaves to others.\n"
      "backbone, experts, router: optimizer state of each population. peak resident: of the run's\n"
      "own process. in optimizer: share of a training step. balance: load-balance loss, 1 = all\n"
      "experts equally busy. seconds: of the whole run.\n");
  std::printf("table: %s\n", (o.out / "results.csv").string().c_str());
  for (auto const& name : names) {
    std::printf("curve: %s\n", (o.out / (name + ".csv")).string().c_str());
  }
  moe::draw(o.out, moe::comparison_chart(words, last.baseline, names));
}

/// A line of a sweep: one optimizer, one rate, one schedule.
struct line {
  std::string name;
  moe::rates lr;
  moe::schedule plan;
  moe::spread result;

  std::vector<std::string> cells(moe::task_words const& words) const {
    auto const cell = [&](double x) { return format(words.pattern, x); };
    return {name,
            readable(lr),
            std::string(name_of(plan)),
            std::to_string(result.runs),
            std::to_string(result.diverged),
            cell(result.mean),
            format("%.3f", result.deviation),
            cell(result.least),
            cell(result.most)};
  }
};

/// Every optimizer with every rate, schedule and seed.
void sweep(moe::options const& o) {
  auto const& words = moe::words_of(o.base.task);
  std::string const metric(words.metric);
  std::size_t const n = o.optimizers.size() * o.sweep_rates.size() * o.schedules.size();
  std::printf("%zu runs of %lld steps: optimizers %zu, rates %zu, schedules %zu, seeds %d\n",
              n * static_cast<std::size_t>(o.seeds), static_cast<long long>(o.base.steps),
              o.optimizers.size(), o.sweep_rates.size(), o.schedules.size(), o.seeds);
  auto runs =
      moe::open_csv(o.out / "sweep_runs.csv", "optimizer,lr,rest_lr,schedule,seed,steps,held_out_" +
                                                  metric + ",balance,seconds");
  auto lines = moe::open_csv(
      o.out / "sweep.csv", "optimizer,lr,rest_lr,schedule,runs,diverged,mean,deviation,least,most");
  std::vector<std::string> const head{"optimizer", "lr",        "schedule", "runs", "diverged",
                                      metric,      "deviation", "least",    "most"};
  moe::text_table best;
  best.add(head);
  std::vector<std::string> names;
  moe::training_result last{};
  for (auto const* one : o.optimizers) {
    names.emplace_back(one->name);
    moe::text_table table;
    table.add(head);
    std::vector<line> own;
    std::vector<moe::spread> spreads;
    for (auto const& choice : o.sweep_rates) {
      for (auto const plan : o.schedules) {
        moe::job j = o.base;
        auto const usual = moe::rates_of(o, *one);
        j.lr = choice.relative ? choice.value * usual : moe::scaled_to(usual, choice.value);
        j.plan = plan;
        j.evaluations = 1;
        std::vector<double> results;
        for (int s = 0; s < o.seeds; ++s) {
          j.seed = o.base.seed + static_cast<std::uint64_t>(s);
          j.name =
              format("%s %.3g %s #%llu", names.back().c_str(), j.lr.own,
                     std::string(name_of(plan)).c_str(), static_cast<unsigned long long>(j.seed));
          last = run_one(j, *one);
          results.push_back(last.metric);
          runs << format("%s,%.6g,%.6g,%s,%llu,%lld,%.6g,%.5f,%.2f\n", names.back().c_str(),
                         j.lr.own, j.lr.rest, std::string(name_of(plan)).c_str(),
                         static_cast<unsigned long long>(j.seed), static_cast<long long>(j.steps),
                         last.metric, last.balance, last.seconds)
               << std::flush;
        }
        spreads.push_back(moe::spread_of(results));
        own.push_back({names.back(), j.lr, plan, spreads.back()});
        table.add(own.back().cells(words));
        auto const& r = spreads.back();
        lines << format("%s,%.6g,%.6g,%s,%lld,%lld,%.6g,%.6g,%.6g,%.6g\n", names.back().c_str(),
                        j.lr.own, j.lr.rest, std::string(name_of(plan)).c_str(),
                        static_cast<long long>(r.runs), static_cast<long long>(r.diverged), r.mean,
                        r.deviation, r.least, r.most)
              << std::flush;
      }
    }
    std::printf("\n");
    table.print(stdout);
    auto const b = moe::best_line(spreads, words.higher_is_better);
    if (b < own.size()) best.add(own[b].cells(words));
  }
  std::printf("\nof each optimizer the line with the best mean:\n\n");
  best.print(stdout);
  std::printf("\n");
  print_notes(words, last);
  std::printf(
      "deviation: standard deviation over the seeds, of a sample. diverged: runs that ended with "
      "no\n"
      "finite number; they are in no mean, and a line that has some is no best one.\n"
      "tables: %s, of the runs %s\n",
      (o.out / "sweep.csv").string().c_str(), (o.out / "sweep_runs.csv").string().c_str());
  moe::draw(o.out, moe::sweep_chart(words, names, o.schedules));
}

void run(moe::options& o) {
  if (o.base.task == moe::task_kind::text) {
    if (o.base.inputs.empty()) o.base.inputs = default_inputs();
    if (o.base.inputs.empty()) {
      throw moe::usage_error("no text: name a file or a folder; see --help");
    }
  }
  std::error_code failed;
  fs::create_directories(o.out, failed);
  if (failed) throw moe::input_error(o.out.string() + ": " + failed.message());
  o.sweep ? sweep(o) : compare(o);
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
    std::vector<std::string_view> const arguments(argv + 1, argv + argc);
    moe::options o = moe::parse_options(moe::registry, arguments);
    if (o.help) {
      print_help();
    } else {
      run(o);
    }
    return 0;
  } catch (moe::input_error const& error) {
    std::fprintf(stderr, "train_moe: %s\n", error.what());
    return 2;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "train_moe: %s\n", error.what());
    return 1;
  }
}
