// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
// Runs the counting programs below an emulator and makes tables of what it counted, as Markdown.
//
// A step starts with a cold cache that stays warm between its launches. DRAM bytes are those read
// and written by its launches and those that it leaves dirty. What a limit is given for must hold
// or the program fails.

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr std::int64_t mib = 1 << 20, l2_bytes = 50 * mib, small_l2 = mib;
constexpr double most_instructions = 1.3;  // of the hand-written kernels'
constexpr double most_off = 0.03;          // of streaming DRAM bytes from the planned ones

struct count_case {
  std::string cases, variant;           // of the program counts_CASES
  std::int64_t E, R, C, cache_bytes;    // cache_bytes: what the planner is told, 0 = streaming
  double most_bytes, least_efficiency;  // limits; 0 = none
  std::int64_t l2() const { return cache_bytes > 0 ? l2_bytes : small_l2; }
  std::string name() const {
    return cases + '/' + variant + (cache_bytes > 0 ? "/cache_resident" : "/streaming") + "/(" +
           std::to_string(E) + ", " + std::to_string(R) + ", " + std::to_string(C) + ')';
  }
};

std::vector<count_case> const cases{
    {"experts", "nearest", 1, 2048, 4096, 0, 10.2, .95},
    {"experts", "stochastic", 1, 2048, 4096, 0, 10.2, .95},
    {"experts", "nearest", 1, 2048, 4096, l2_bytes, 6.2, .95},
    {"experts", "stochastic", 1, 4096, 4096, l2_bytes, 7.0, .95},
    {"experts", "nearest", 4, 2048, 4096, l2_bytes, 6.2, .95},
    {"experts", "nearest", 1, 1024, 4095, 0, 0, .65},
    {"experts", "stochastic", 1, 1024, 4095, 0, 0, .65},
    {"backbone", "nearest", 1, 2048, 4096, 0, 20.3, .95},
    {"backbone", "stochastic", 1, 2048, 4096, 0, 20.3, .95},
    {"backbone", "nearest", 1, 1024, 4096, l2_bytes, 0, .95},
    {"backbone", "nearest", 1, 1024, 4095, 0, 0, .65},
    {"backbone", "stochastic", 1, 1024, 4095, 0, 0, .65},
    {"adamw", "nearest", 1, 2048, 4096, 0, 22.5, .95},
    {"adamw", "stochastic", 1, 2048, 4096, 0, 22.5, .95},
    {"adamw", "nearest", 1, 1024, 4095, 0, 0, .65},
    {"adamw", "stochastic", 1, 1024, 4095, 0, 0, .65},
    {"lion", "nearest", 1, 2048, 4096, 0, 14.3, .95},
    {"lion", "stochastic", 1, 2048, 4096, 0, 14.3, .95},
    {"adafactor", "nearest", 1, 2048, 4096, 0, 12.4, .95},
    {"adafactor", "stochastic", 1, 2048, 4096, 0, 12.4, .95},
    {"adafactor_momentum", "nearest", 1, 2048, 4096, 0, 20.5, .95},
    {"adafactor_momentum", "stochastic", 1, 2048, 4096, 0, 20.5, .95},
    {"muon", "nearest", 1, 2048, 4096, 0, 24.6, .95},
    {"muon", "stochastic", 1, 2048, 4096, 0, 24.6, .95},
    {"states", "backbone_bf16", 1, 1024, 4096, 0, 0, .95},
    {"states", "backbone_int8", 1, 1024, 4096, 0, 0, .95},
    {"states", "backbone_fp8", 1, 1024, 4096, 0, 0, .95},
    {"states", "adamw_bf16", 1, 1024, 4096, 0, 0, .95},
    {"states", "adamw_8bit", 1, 1024, 4096, 0, 0, .95},
    {"weights", "experts_fp8", 1, 1024, 4096, 0, 0, .95},
    {"weights", "adamw_weights", 1, 1024, 4096, 0, 0, .95},
    {"weights", "adamw_remainder", 1, 1024, 4096, 0, 0, .95},
    {"weights", "adamw_carry", 1, 1024, 4096, 0, 0, .95},
    {"surveys", "experts_skip_matrix_clipped", 1, 1024, 4096, 0, 0, .95},
    {"surveys", "experts_skip_element", 1, 1024, 4096, 0, 0, .95},
    {"surveys", "adamw_clipped", 1, 1024, 4096, 0, 0, .95},
};

struct transfers {
  double bytes = 0, sectors = 0;
  int widest = 0;
  void add(json const& j) {
    bytes += j.at("bytes").get<double>();
    sectors += j.at("sectors").get<double>();
    widest = std::max(widest, j.at("widest_access").get<int>());
  }
  double efficiency() const { return sectors > 0 ? bytes / (32 * sectors) : 1; }
};

struct pass_counts {
  int order = 0, launches = 0;
  double instructions = 0, read = 0, written = 0, local = 0;
  transfers loads, stores;
  void add(json const& launch) {
    ++launches;
    instructions += launch.at("lane_instructions").at("total").get<double>();
    loads.add(launch.at("global_load"));
    stores.add(launch.at("global_store"));
    read += launch.at("dram_read_bytes").get<double>();
    written += launch.at("dram_write_bytes").get<double>();
    local += launch.at("local").at("load_bytes").get<double>() +
             launch.at("local").at("store_bytes").get<double>();
  }
  double efficiency() const {
    return (loads.bytes + stores.bytes) / (32 * (loads.sectors + stores.sectors));
  }
};

struct step_counts {
  std::map<std::string, pass_counts> passes;
  double dirty = 0;  // after its last launch
  void add(std::string const& pass, json const& launch) {
    auto& p = passes[pass];
    if (p.launches == 0) p.order = static_cast<int>(passes.size());
    p.add(launch);
    dirty = launch.at("l2_dirty_bytes_after").get<double>();
  }
  template <class F>
  double sum(F f) const {
    double s = 0;
    for (auto const& p : passes) s += f(p.second);
    return s;
  }
  double instructions() const {
    return sum([](auto const& p) { return p.instructions; });
  }
  double dram_bytes() const {
    return dirty + sum([](auto const& p) { return p.read + p.written; });
  }
};

// The launches of both steps; those before and between them only cool the cache.
void sort_launches(json const& stats, step_counts& ours, step_counts& theirs) {
  std::regex const pass("(\\w+)_pass<"), body("(\\w+)_body<"), by_hand("hand_(\\w+)");
  for (auto const& launch : stats.at("launches")) {
    auto const kernel = launch.at("kernel").get<std::string>();
    std::smatch m;
    if (kernel.find("run_on_device<") != std::string::npos) {
      if (!std::regex_search(kernel, m, pass)) std::regex_search(kernel, m, body);
      ours.add(m.empty() ? kernel : m[1].str(), launch);
    } else if (std::regex_search(kernel, m, by_hand)) {
      bool const one_pass = m[1] == "adamw" || m[1] == "lion";
      theirs.add(one_pass ? "apply" : m[1].str(), launch);
    }
  }
}

std::string text(char const* format, double x) {
  char s[64];
  std::snprintf(s, sizeof s, format, x);
  return s;
}

struct tables {
  std::string steps =
      "| step | L2 | launches | DRAM bytes per parameter | planned | off by | at most | "
      "instructions per parameter | by hand | ratio | holds |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
  std::string passes =
      "| step | pass | instructions per parameter | by hand | ratio | sector efficiency | of loads "
      "| of stores | widest load | widest store | bytes read | bytes written | local bytes "
      "|\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  bool all_hold = true;
};

// What takes no more than a few blocks.
std::set<std::string> const bookkeeping{"begin_step", "tally", "settle", "commit_steps", "count"};

void add(tables& out, count_case const& c, double planned, step_counts const& ours,
         step_counts const& theirs) {
  double const n = static_cast<double>(c.E * c.R * c.C);
  bool holds = true;
  auto const ratio = [](double a, double b) { return b > 0 ? text("%.2f", a / b) : ""; };
  auto const per_parameter = [&](double x) { return text("%.3f", x / n); };
  std::vector<std::string> rows(ours.passes.size());
  for (auto const& [name, p] : ours.passes) {
    if (bookkeeping.count(name) != 0) continue;
    bool const is_main = name != "fold" && name != "find_factors" && name != "judge";
    auto const hand = theirs.passes.find(name);
    double const by_hand = hand == theirs.passes.end() ? 0 : hand->second.instructions;
    if (is_main) {
      holds = holds && p.efficiency() >= c.least_efficiency &&
              (by_hand == 0 || p.instructions <= most_instructions * by_hand);
    }
    rows[static_cast<std::size_t>(p.order - 1)] =
        "| `" + c.name() + "` | " + name + " | " + per_parameter(p.instructions) + " | " +
        (by_hand > 0 ? per_parameter(by_hand) : "") + " | " + ratio(p.instructions, by_hand) +
        " | " + text("%.3f", p.efficiency()) + " | " + text("%.3f", p.loads.efficiency()) + " | " +
        text("%.3f", p.stores.efficiency()) + " | " + std::to_string(p.loads.widest) + " | " +
        std::to_string(p.stores.widest) + " | " + per_parameter(p.read) + " | " +
        per_parameter(p.written) + " | " + per_parameter(p.local) + " |\n";
  }
  double const bytes = ours.dram_bytes() / n, a = ours.instructions(), b = theirs.instructions();
  double const off = ours.dram_bytes() / planned - 1;
  if (c.cache_bytes == 0) holds = holds && std::abs(off) <= most_off;
  if (c.most_bytes > 0) holds = holds && bytes <= c.most_bytes;
  if (b > 0) holds = holds && a <= most_instructions * b;
  out.all_hold = out.all_hold && holds;
  std::string const row = "| `" + c.name() + "` | " + std::to_string(c.l2() / mib) + " MiB | " +
                          text("%.0f", ours.sum([](auto const& p) { return p.launches; })) + " | " +
                          text("%.2f", bytes) + " | " + text("%.2f", planned / n) + " | " +
                          text("%+.1f %%", 100 * off) + " | " +
                          (c.most_bytes > 0 ? text("%.1f", c.most_bytes) : "") + " | " +
                          per_parameter(a) + " | " + (b > 0 ? per_parameter(b) : "") + " | " +
                          ratio(a, b) + " | " + (holds ? "yes" : "**no**") + " |\n";
  std::cerr << row;
  out.steps += row;
  for (auto const& r : rows) out.passes += r;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string{argv[1]} == "--needs") {
    std::regex const wanted(argc > 2 ? argv[2] : "");
    std::set<std::string> programs;
    for (auto const& c : cases)
      if (std::regex_search(c.name(), wanted)) programs.insert("counts_" + c.cases);
    for (auto const& p : programs) std::cout << p << '\n';
    return 0;
  }
  if (argc < 4) {
    std::cerr << "usage: count_table --needs [CASE], or count_table RUN PROGRAMS SCRATCH [CASE]\n"
                 "The first lists the programs of the cases. RUN runs a program below the "
                 "emulator, PROGRAMS/counts_* are run, SCRATCH is "
                 "for their figures,\nCASE is a regular expression on the names of the cases.\n";
    return 2;
  }
  std::string const run = argv[1], programs = argv[2], scratch = argv[3];
  std::regex const wanted(argc > 4 ? argv[4] : "");
  tables out;
  int n = 0;
  for (auto const& c : cases) {
    if (!std::regex_search(c.name(), wanted)) continue;
    ++n;
    std::string const file = scratch + "/stats.json", report = scratch + "/report";
    std::remove(file.c_str());
    setenv("PTXEMU_L2_BYTES", std::to_string(c.l2()).c_str(), 1);
    std::string const command = '"' + run + "\" --check none --stats \"" + file + "\" -- \"" +
                                programs + "/counts_" + c.cases + "\" " + c.variant + ' ' +
                                std::to_string(c.E) + ' ' + std::to_string(c.R) + ' ' +
                                std::to_string(c.C) + ' ' + std::to_string(c.cache_bytes) + ' ' +
                                std::to_string(2 * c.l2()) + " >\"" + report + '"';
    if (std::system(command.c_str()) != 0) {
      std::cerr << c.name() << ": the program failed\n" << std::ifstream{report}.rdbuf();
      return 1;
    }
    double planned = 0;
    if (!(std::ifstream{report} >> planned))
      throw std::runtime_error(report + ": no bytes planned");
    std::ifstream in(file);
    step_counts ours, theirs;
    sort_launches(json::parse(in), ours, theirs);
    add(out, c, planned, ours, theirs);
  }
  std::cout << out.steps << '\n' << out.passes;
  return n > 0 && out.all_hold ? 0 : 1;
}
