// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
// One step of the library and, where the hand-written kernels know the shape, the same by hand;
// both must leave the same bits. Each starts with a cold cache. Run below an emulator that counts.

#include "case.cuh"

using namespace device_bench;

namespace {

// In the place of matrix products: what the library itself launches is what counts.
struct no_products {
  template <class T>
  tieropt::status operator()(tieropt::matrix_product<T> const&) const {
    return {};
  }
};

template <class Tier>
void run(shape const& s, int64_t cache_bytes, int64_t evict_bytes) {
  int64_t const packs = evict_bytes / 16;
  buffer<uint4> const other{packs};
  auto const cool = [&] { evict<<<64, 256>>>(other.data(), packs, nullptr); };

  buffers<Tier> ours{s};
  auto const executor = tieropt::with_gemm(tieropt::cuda_executor{nullptr}, no_products{});
  library_step<Tier> const step{ours, schedule_of(cache_bytes), executor};
  cool();
  step(executor);
  demand(cudaDeviceSynchronize());
  if (!hand_step<Tier>::knows(s)) {
    std::printf("%d launches, no hand-written kernels for it\n",
                static_cast<int>(step.plan().launches()));
    return;
  }
  buffers<Tier> theirs{s};
  hand_step<Tier> const by_hand{theirs};
  cool();
  by_hand(4, nullptr);
  demand(cudaDeviceSynchronize());
  char const* const what = ours.differs(theirs);
  if (what) std::printf("%s differ from the hand-written kernels'\n", what);
  demand(what == nullptr, "the results agree bit for bit");
  std::printf("%d launches, the hand-written kernels leave the same bits\n",
              static_cast<int>(step.plan().launches()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::printf("usage: %s nearest|stochastic E R C CACHE_BYTES EVICT_BYTES\n", argv[0]);
    return 2;
  }
  auto const number = [&](int i) { return static_cast<int64_t>(std::atoll(argv[i])); };
  shape const s{number(2), number(3), number(4)};
  if (std::string(argv[1]) == "nearest") {
    run<rounded<TIEROPT_BENCH_TIER, tieropt::nearest_rounding>>(s, number(5), number(6));
  } else {
    run<rounded<TIEROPT_BENCH_TIER, tieropt::stochastic_rounding>>(s, number(5), number(6));
  }
}
