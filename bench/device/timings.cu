// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
// One tier on a GPU: what steps take, eager and as a graph, beside a copy kernel that moves as many
// bytes and, where there are some, hand-written kernels. Every case is validated before it is
// timed.
//
// Before each timed step the cache is cooled by reading another buffer, as the rest of a training
// step would; the columns "next to next" time steps that follow one another directly. All figures
// are minima of interleaved rounds in microseconds by CUDA events. Prints rows of Markdown tables.

#include "case.cuh"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>

namespace device_bench {

constexpr int64_t mib = 1 << 20;

struct timed_case {
  shape s;
  int64_t cache_bytes;  // 0 = streaming
  bool nearest;
};

constexpr shape quick_shapes[] = {{1, 1, 1}, {1, 128, 1024}, {2, 130, 1500}};
constexpr shape shapes[] = {{1, 1, 1},       {1, 128, 1024},   {1, 1024, 4095}, {1, 2048, 4096},
                            {1, 4096, 4096}, {1, 4096, 14336}, {8, 2048, 1536}, {64, 1024, 2048}};

// ---- clocks -------------------------------------------------------------------------------------

class event {
 public:
  event() { demand(cudaEventCreate(&event_)); }
  event(event const&) = delete;
  ~event() { cudaEventDestroy(event_); }
  void record(cudaStream_t stream) const { demand(cudaEventRecord(event_, stream)); }
  // Microseconds from an earlier event.
  double since(event const& begin) const {
    float ms = 0;
    demand(cudaEventSynchronize(event_));
    demand(cudaEventElapsedTime(&ms, begin.event_, event_));
    return 1e3 * static_cast<double>(ms);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

__global__ void copy_16_bytes(uint4 const* __restrict__ from, uint4* __restrict__ to, int64_t n) {
  int64_t const i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

// Everything of a run that no case owns.
struct device {
  cudaStream_t stream = nullptr;
  bool real = true;  // else no clock is read: an emulator's says nothing
  int rounds = 20;
  int64_t evict_packs = 0;
  buffer<uint4> other;

  device(bool is_real, int64_t evict_bytes)
      : real{is_real}, rounds{is_real ? 20 : 1}, evict_packs{evict_bytes / 16}, other{evict_packs} {
    demand(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  device(device const&) = delete;
  ~device() { cudaStreamDestroy(stream); }

  void cool() const { evict<<<264, 256, 0, stream>>>(other.data(), evict_packs, nullptr); }
  // Microseconds of n calls, divided by n.
  template <class F>
  double microseconds(F const& f, int n = 1) const {
    event begin, end;
    begin.record(stream);
    for (int i = 0; i < n; ++i) f();
    end.record(stream);
    double const t = end.since(begin) / n;
    return real ? t : std::numeric_limits<double>::quiet_NaN();
  }
};

std::string text(char const* format, double x) {
  if (x != x) return "void";  // not measured on a GPU
  char s[64];
  std::snprintf(s, sizeof s, format, x);
  return s;
}

// ---- passes -------------------------------------------------------------------------------------

template <class Body>
struct pass_name {
  static constexpr char const* value = "begin_step, commit_steps";
};
template <template <class> class Pass, class Parts>
struct pass_name<tieropt::table_body<Pass<Parts>, Parts>> {
  template <template <class> class Other>
  static constexpr bool is = std::is_same_v<Pass<Parts>, Other<Parts>>;
  static constexpr char const* value = is<tieropt::squares_pass>        ? "squares"
                                       : is<tieropt::fold_pass>         ? "fold"
                                       : is<tieropt::measure_pass>      ? "measure"
                                       : is<tieropt::find_factors_pass> ? "find_factors"
                                       : is<tieropt::weigh_pass>        ? "weigh"
                                                                        : "apply";
};

// Times every launch by itself; adds up by pass.
class pass_clock {
 public:
  pass_clock(device const& d, std::map<std::string, double>& sums)
      : device_{d}, sums_{sums}, inner_{d.stream} {}
  tieropt::status upload(void* to, void const* from, size_t bytes) const {
    return inner_.upload(to, from, bytes);
  }
  template <tieropt::block_body Body>
  tieropt::status launch(int64_t blocks, Body const& body) const {
    tieropt::status s;
    sums_[pass_name<Body>::value] += device_.microseconds([&] { s = inner_.launch(blocks, body); });
    return s;
  }

 private:
  device const& device_;
  std::map<std::string, double>& sums_;
  tieropt::cuda_executor inner_;
};

// ---- one case -----------------------------------------------------------------------------------

// The first step against the hand-written kernels, or against the host.
template <class Tier>
void validate(shape const& s, tieropt::schedule how, tieropt::cuda_executor const& x) {
  buffers<Tier> const ours{s};
  library_step<Tier> const step{ours, how, x};
  step(x);
  demand(cudaStreamSynchronize(x.stream()));
  bool const by_hand = hand_step<Tier>::knows(s);
  buffers<Tier> const theirs{s, by_hand ? place::device : place::both};
  if (by_hand) {
    hand_step<Tier>{theirs}(4, x.stream());
    demand(cudaStreamSynchronize(x.stream()));
  } else {
    tieropt::host_executor const host{};
    library_step<Tier>{theirs, tieropt::streaming(), host, place::both}(host);
  }
  char const* const what = ours.differs(theirs);
  if (what) std::fprintf(stderr, "%s differ\n", what);
  demand(what == nullptr, "a case is right before it is timed");
}

class graph {
 public:
  template <class F>
  graph(cudaStream_t stream, F const& f) {
    cudaGraph_t g = nullptr;
    demand(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    f();
    demand(cudaStreamEndCapture(stream, &g));
    demand(cudaGraphInstantiate(&exec_, g, 0));
    demand(cudaGraphDestroy(g));
  }
  graph(graph const&) = delete;
  ~graph() { cudaGraphExecDestroy(exec_); }
  void launch(cudaStream_t stream) const { demand(cudaGraphLaunch(exec_, stream)); }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

template <class Tier>
void time_case(char const* tier, timed_case const& c, device const& d) {
  tieropt::cuda_executor const x{d.stream};
  validate<Tier>(c.s, schedule_of(c.cache_bytes), x);

  buffers<Tier> const b{c.s};
  library_step<Tier> const step{b, schedule_of(c.cache_bytes), x};
  auto const eager = [&] { step(x); };
  graph const captured{d.stream, eager};
  auto const replay = [&] { captured.launch(d.stream); };
  int64_t const traffic = step.plan().traffic_bytes(), packs = (traffic / 2 + 15) / 16;
  buffer<uint4> const from{packs}, to{packs};
  auto const copy = [&] {
    copy_16_bytes<<<static_cast<unsigned>((packs + 255) / 256), 256, 0, d.stream>>>(
        from.data(), to.data(), packs);
  };
  bool const has_hand = c.s.E == 1 && hand_step<Tier>::knows(c.s);
  hand_step<Tier> const by_hand{b};

  std::map<std::string, double> best;
  auto const keep = [&](std::string const& what, double t) {
    auto const [at, is_new] = best.try_emplace(what, t);
    if (!is_new) at->second = std::min(at->second, t);
  };
  for (int round = 0; round < d.rounds; ++round) {
    auto const cold = [&](char const* what, auto const& f) {
      d.cool();
      keep(what, d.microseconds(f));
    };
    cold("eager", eager);
    cold("graph", replay);
    cold("copy", copy);
    if (has_hand) cold("hand", [&] { by_hand(4, d.stream); });
    keep("eager, next", d.microseconds(eager, 4));
    keep("graph, next", d.microseconds(replay, 4));
    std::map<std::string, double> passes;
    d.cool();
    step(pass_clock{d, passes});
    for (auto const& [name, t] : passes) keep("pass " + name, t);
  }
  demand(cudaStreamSynchronize(d.stream));

  double const n = static_cast<double>(c.s.size()), bytes = static_cast<double>(traffic);
  double const fastest = std::min(best["eager"], best["graph"]);
  std::string const name = std::string("`") + tier + '/' + (c.nearest ? "nearest" : "stochastic") +
                           (c.cache_bytes > 0 ? "/cache_resident" : "/streaming") + "/(" +
                           std::to_string(c.s.E) + ", " + std::to_string(c.s.R) + ", " +
                           std::to_string(c.s.C) + ")`";
  std::printf("step | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name.c_str(),
              static_cast<int>(step.plan().launches()), text("%.4g", bytes / n).c_str(),
              text("%.1f", best["eager"]).c_str(), text("%.1f", best["graph"]).c_str(),
              text("%.1f", best["eager, next"]).c_str(), text("%.1f", best["graph, next"]).c_str(),
              has_hand ? text("%.1f", best["hand"]).c_str() : "",
              text("%.1f", best["copy"]).c_str(), text("%.0f", bytes / fastest * 1e-3).c_str(),
              text("%.0f", bytes / best["copy"] * 1e-3).c_str(),
              text("%.2f", best["copy"] / fastest).c_str());
  for (auto const& [what, t] : best) {
    if (what.rfind("pass ", 0) == 0) {
      std::printf("pass | %s | %s | %s |\n", name.c_str(), what.substr(5).c_str(),
                  text("%.1f", t).c_str());
    }
  }
  std::fflush(stdout);
}

template <class Tier>
void time_tier(char const* tier, bool quick, device const& d, int64_t l2_bytes) {
  using nearest = rounded<Tier, tieropt::nearest_rounding>;
  using stochastic = rounded<Tier, tieropt::stochastic_rounding>;
  auto const run = [&](shape const& s) {
    time_case<stochastic>(tier, {s, 0, false}, d);
    bool const large = quick || s.size() >= 2048 * 4096;
    if (large && tieropt::passes_of<typename tieropt::bound_tensor<Tier, bf16>::parts>() > 1)
      time_case<stochastic>(tier, {s, l2_bytes, false}, d);
    if (quick || (s.E == 1 && s.R == 4096 && s.C == 4096))
      time_case<nearest>(tier, {s, 0, true}, d);
  };
  if (quick) {
    for (auto const& s : quick_shapes) run(s);
  } else {
    for (auto const& s : shapes) run(s);
  }
}

}  // namespace device_bench

// timings_TIER [--quick]: tiny shapes
int main(int argc, char** argv) {
  using namespace device_bench;
  bool const quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  cudaDeviceProp card;
  demand(cudaGetDeviceProperties(&card, 0));
  bool const real = std::strstr(card.name, "ptxemu") == nullptr;
  int64_t const l2_bytes = card.l2CacheSize;
  device const d{real, quick ? mib : 2 * l2_bytes};
#define TIEROPT_TEXT_(x) #x
#define TIEROPT_TEXT(x) TIEROPT_TEXT_(x)
  // A sixth of the cache is left to partial sums and to what else goes on.
  time_tier<TIEROPT_BENCH_TIER>(TIEROPT_TEXT(TIEROPT_BENCH_TIER), quick, d, l2_bytes / 6 * 5);
}
