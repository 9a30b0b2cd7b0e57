// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a step puts on its stream: the kernels that its plan predicts, and nothing else.

#include "device/arena.cuh"

namespace {

using namespace device_test;
using tieropt::bf16;
using tieropt::errc;

using backbone = tieropt::skewadam::corrected::backbone;
using router = tieropt::skewadam::corrected::router;
using adamw = tieropt::adamw::tensor;
using policy = tieropt::tier_policy<backbone, router, adamw>;

/// Three ranges of n tensors each: empty ones among them, sizes mixed.
struct model {
  arena memory;
  std::vector<tieropt::bound_tensor<backbone, bf16>> a;
  std::vector<tieropt::bound_tensor<router, float>> b;
  std::vector<tieropt::bound_tensor<adamw, float, bf16>> c;

  explicit model(int64_t n) : memory(static_cast<std::size_t>(n) * 8000 + 2000000) {
    static std::vector<extents> const some{{3, 5}, {7}, {2, 3, 4}, {0, 4},
                                           {1, 1}, {},  {0},       {2, 0, 3}};
    for (int64_t i = 0; i < n; ++i) {
      extents const shape =
          i == 60 ? extents{130, 1030} : some[static_cast<std::size_t>(i) % some.size()];
      a.push_back(bind<backbone, bf16, bf16>(memory, shape, 3 * i));
      b.push_back(bind<router, float, float>(memory, shape, 3 * i + 1));
      c.push_back(bind<adamw, float, bf16>(memory, shape, 3 * i + 2));
    }
  }
  auto plan(tieropt::schedule how = {}) const { return tieropt::make_plan<policy>(how, a, b, c); }
};

tieropt::hyper const hypers[] = {{.lr = 0.01, .weight_decay = 0.1}};

}  // namespace

TEST_CASE("a streaming step is 15 kernels for 1, 384 and 20,000 tensors", "[launches]") {
  for (int64_t const n : {1, 384, 20000}) {
    INFO(n << " tensors in each of 3 ranges");
    model const all{n};
    auto const plan = all.plan();
    REQUIRE(plan.has_value());
    CHECK(plan->launches() == 7 + 5 + 3);
    device_memory const workspace{plan->workspace_bytes()};
    stream const s;
    tieropt::cuda_executor const executor{s};
    REQUIRE(prepare(executor, *plan, workspace));
    s.wait();
    auto const before = all.memory.copy();
    // In this mode a call that allocates or waits spoils the capture. Work that went to another
    // stream would be no node, and would run.
    graph const captured{s, cudaStreamCaptureModeGlobal,
                         [&] { CHECK(enqueue(executor, *plan, workspace, hypers)); }};
    CHECK(captured.nodes() == plan->launches());
    CHECK(captured.kernels() == captured.nodes());
    REQUIRE_CUDA(cudaDeviceSynchronize());
    CHECK((all.memory.copy() == before));  // not to be printed
  }
}

TEST_CASE("a cache-resident step is the kernels that its plan predicts", "[launches]") {
  for (int64_t const n : {1, 384}) {
    for (int64_t const cache : {int64_t{0}, int64_t{1} << 12, int64_t{1} << 30}) {
      INFO(n << " tensors in each of 3 ranges, a cache of " << cache << " bytes");
      model const all{n};
      auto const plan = all.plan(tieropt::cache_resident(cache));
      REQUIRE(plan.has_value());
      device_memory const workspace{plan->workspace_bytes()};
      stream const s;
      tieropt::cuda_executor const executor{s};
      REQUIRE(prepare(executor, *plan, workspace));
      graph const captured{s, cudaStreamCaptureModeGlobal,
                           [&] { CHECK(enqueue(executor, *plan, workspace, hypers)); }};
      CHECK(captured.nodes() == plan->launches());
      CHECK(captured.kernels() == captured.nodes());
      if (n == 384 && cache == 0) CHECK(captured.nodes() > 1000);
    }
  }
}

TEST_CASE("a graph of 384 tensors and eager steps give the host's bits", "[launches]") {
  model host{384}, eager{384}, replayed{384};
  stream const s;
  tieropt::cuda_executor const executor{s};
  auto const run = [&](model& all, auto const& x, auto const& step) {
    auto const plan = all.plan();
    REQUIRE(plan.has_value());
    device_memory const workspace{plan->workspace_bytes()};
    REQUIRE(prepare(x, *plan, workspace));
    step(x, *plan, workspace);
  };
  auto const twice = [](auto const& x, auto const& plan, cuda::std::span<std::byte> workspace) {
    for (int k = 0; k < 2; ++k) REQUIRE(enqueue(x, plan, workspace, hypers));
  };
  auto const on_host = [&] {
    auto const plan = host.plan();
    std::vector<std::byte> workspace(plan->workspace_bytes());
    REQUIRE(prepare(tieropt::serial_executor{}, *plan, workspace));
    twice(tieropt::serial_executor{}, *plan, workspace);
  };
  on_host();
  run(eager, executor, [&](auto const&... args) {
    twice(args...);
    s.wait();
  });
  run(replayed, executor, [&](auto const& x, auto const& plan, auto const& workspace) {
    graph captured{s, cudaStreamCaptureModeGlobal,
                   [&] { REQUIRE(enqueue(x, plan, workspace, hypers)); }};
    for (int k = 0; k < 2; ++k) captured.launch(s);
    s.wait();
  });
  CHECK(host.memory.difference(eager.memory) == "");
  CHECK(host.memory.difference(replayed.memory) == "");
  CHECK(*host.a[0].step.data == 2);
}

TEST_CASE("prepare and rebind_grads are refused while the stream captures", "[launches]") {
  model const all{40};
  auto const plan = all.plan();
  REQUIRE(plan.has_value());
  device_memory const workspace{plan->workspace_bytes()};
  cuda::std::span<std::byte> const work = workspace;
  REQUIRE_CUDA(cudaMemset(work.data(), 0x5a, work.size()));
  std::vector<bf16 const*> const a(40);
  std::vector<float const*> const b(40);
  std::vector<bf16 const*> const c(40);
  for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
    stream const s;
    tieropt::cuda_executor const executor{s};
    graph const captured{
        s, mode, [&] {
          CHECK(prepare(executor, *plan, work).code == errc::capturing);
          CHECK(rebind_grads(executor, *plan, work, a, b, c).code == errc::capturing);
        }};
    CHECK(captured.nodes() == 0);
    std::vector<std::byte> now(work.size());
    REQUIRE_CUDA(cudaMemcpy(now.data(), work.data(), work.size(), cudaMemcpyDeviceToHost));
    CHECK((now == std::vector<std::byte>(work.size(), std::byte{0x5a})));
    CHECK(prepare(executor, *plan, work));  // and not any longer
    s.wait();
    REQUIRE_CUDA(cudaMemset(work.data(), 0x5a, work.size()));
  }
}

TEST_CASE("an eager step leaves the legacy stream and other streams alone", "[launches]") {
  model const all{40};
  auto const plan = all.plan();
  REQUIRE(plan.has_value());
  device_memory const workspace{plan->workspace_bytes()};
  stream const s, other{cudaStreamDefault};
  tieropt::cuda_executor const executor{s};
  REQUIRE(prepare(executor, *plan, workspace));
  s.wait();
  // While a blocking stream captures, every use of the legacy stream is an error and spoils it.
  graph const captured{other, cudaStreamCaptureModeRelaxed,
                       [&] { CHECK(enqueue(executor, *plan, workspace, hypers)); }};
  CHECK(captured.nodes() == 0);
  s.wait();
  CHECK(*all.a[0].step.data == 1);
}

TEST_CASE("a launch beyond a device's grid is refused before anything is launched", "[launches]") {
  // 2^31 matrices in memory that nobody touches.
  int64_t const E = int64_t{1} << 31;
  auto const place = [](uintptr_t k) { return reinterpret_cast<float*>(k << 44); };
  std::vector<tieropt::bound_tensor<adamw, float>> const one{
      {.param = tieropt::view(place(1), E, 2, 3),
       .grad = tieropt::view(static_cast<float const*>(place(2)), E, 2, 3),
       .momentum = tieropt::view(place(3), E, 2, 3),
       .variance = {.exact = tieropt::view(place(4), E, 2, 3)},
       .step = tieropt::view(reinterpret_cast<int64_t*>(place(5)), E)}};
  auto const plan = tieropt::make_plan<policy>(one);
  REQUIRE(plan.has_value());
  cuda::std::span<std::byte> const workspace{reinterpret_cast<std::byte*>(place(6)),
                                             plan->workspace_bytes()};
  stream const s;
  graph const captured{
      s, cudaStreamCaptureModeGlobal, [&] {
        CHECK(enqueue(tieropt::cuda_executor{s}, *plan, workspace, hypers).code == errc::too_large);
      }};
  CHECK(captured.nodes() == 0);
}
