// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times tiers over element types, roundings, shapes and threads; see harness.hpp for the method.
#include "harness.hpp"
#include "tiers.hpp"

#include <fstream>
#include <string>
#include <vector>

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string flags() {
#if defined(TIEROPT_BENCH_FLAGS)
  return TIEROPT_BENCH_FLAGS;
#else
  return "unknown";
#endif
}

std::string vector_units() {
#if defined(__AVX512BW__)
  return "AVX-512";
#elif defined(__AVX2__) && defined(__FMA__)
  return "AVX2 and FMA";
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return "FMA";
#else
  return "no FMA: every fused multiply-add is a library call";
#endif
}

std::string processor() {
  std::ifstream info{"/proc/cpuinfo"};
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

int main(int argc, char** argv) {
  // Ours first, so that the user's flags win.
  std::vector<std::string> defaults{"--benchmark_min_time=0.05",
                                    "--benchmark_counters_tabular=true"};
  std::vector<char*> arguments{argv[0]};
  for (auto& flag : defaults) arguments.push_back(flag.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int n = static_cast<int>(arguments.size());
  benchmark::Initialize(&n, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(n, arguments.data())) return 1;

  benchmark::AddCustomContext("compiler", compiler());
  benchmark::AddCustomContext("flags", flags());
  benchmark::AddCustomContext("vectors", vector_units());
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("threads at most", std::to_string(bench::n_threads()));
  benchmark::AddCustomContext("rates and of_*",
                              "fastest step; memcpy (hand loops) in the same run");

  bench::register_corrected_experts();
  bench::register_corrected_backbone();
  bench::register_corrected_router();
  bench::register_published_backbone();
  bench::register_adamw();
  bench::register_adam();
  bench::register_lion();
  bench::register_adafactor();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return bench::any_wrong ? 1 : 0;
}
