// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
// One step of the library and, where the hand-written kernels know the shape, the same by hand;
// both must leave the same bits. Each starts with a cold cache. Run below an emulator that counts.

#include "mixes.cuh"

#include <string>

using namespace device_bench;

namespace {

// In the place of matrix products: what the library itself launches is what counts.
struct no_products {
  template <class T>
  tieropt::status operator()(tieropt::matrix_product<T> const&) const {
    return {};
  }
};

// What a step without its matrix products is planned to move.
template <class Parts, class Plan>
int64_t planned_bytes(Plan const& plan, shape const& s) {
  int64_t bytes = plan.traffic_bytes();
  if constexpr (tieropt::needs<Parts>::orthogonal) {
    bytes -= s.E * tieropt::bytes_of<tieropt::stage_element<Parts>>(
                       tieropt::product_elements<typename Parts::orthogonal>(s.R, s.C));
  }
  return bytes;
}

template <class Tier, class Param, class Grad>
void run(shape const& s, int64_t cache_bytes, int64_t evict_bytes) {
  int64_t const packs = evict_bytes / 16;
  buffer<uint4> const other{packs};
  auto const cool = [&] { evict<<<64, 256>>>(other.data(), packs, nullptr); };

  buffers<Tier, Param, Grad> const ours{s};
  auto const executor = tieropt::with_gemm(tieropt::cuda_executor{nullptr}, no_products{});
  library_step<Tier, Param, Grad> const step{ours, schedule_of(cache_bytes), executor};
  cool();
  step(executor);
  demand(cudaDeviceSynchronize());
  using parts = tieropt::tier_parts<Tier, Param, Grad>;
  std::printf("%lld bytes planned\n", static_cast<long long>(planned_bytes<parts>(step.plan(), s)));
  if constexpr (hand_step<Tier>::exists) {
    if (!hand_step<Tier>::knows(s)) return;
    buffers<Tier> const theirs{s};
    hand_step<Tier> const by_hand{theirs};
    cool();
    by_hand(4, nullptr);
    demand(cudaDeviceSynchronize());
    char const* const what = ours.differs(theirs);
    if (what) std::printf("%s differ from the hand-written kernels'\n", what);
    demand(what == nullptr, "the results agree bit for bit");
  }
}

// The one of a list that has a name.
template <class... Tier, class... Param, class... Grad>
void run(std::tuple<variant<Tier, Param, Grad>...> const& list, std::string const& name,
         shape const& s, int64_t cache_bytes, int64_t evict_bytes) {
  bool known = false;
  std::apply(
      [&](auto const&... one) {
        ((name == one.name ? (known = true, run<Tier, Param, Grad>(s, cache_bytes, evict_bytes))
                           : void()),
         ...);
      },
      list);
  demand(known, "the program knows the name");
}

}  // namespace

// counts_CASES NAME E R C CACHE_BYTES EVICT_BYTES
int main(int argc, char** argv) {
  demand(argc == 7, "a name and five numbers are given");
  auto const number = [&](int i) { return static_cast<int64_t>(std::atoll(argv[i])); };
  run(TIEROPT_BENCH_CASES, argv[1], {number(2), number(3), number(4)}, number(5), number(6));
}
