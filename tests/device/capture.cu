// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A step that was captured once replays with new hyperparameters, inputs, masks, steps and
/// gradients, and gives the bits of eager steps and of the host.

#include "device/arena.cuh"

#include <limits>

namespace {

using namespace device_test;
using tieropt::bf16;

using backbone = tieropt::skewadam::corrected::backbone;
using experts = tieropt::skewadam::corrected::experts;
using adamw = tieropt::adamw::tensor;
using policy = tieropt::tier_policy<backbone, experts, adamw>;

constexpr int n_steps = 5;

/// Nine tensors in three ranges, with everything that a step reads in managed memory.
struct model {
  template <class Tier, class Param, class Grad>
  struct range {
    std::vector<tieropt::bound_tensor<Tier, Param, Grad>> tensors;
    std::vector<Grad*> first, second;  // two gradients for each
    std::vector<int*> mask;            // or null
    std::vector<Grad const*> bound;    // what is bound now
    std::vector<std::vector<int64_t>> steps;

    void add(arena& memory, arena& inputs, extents const& shape, int64_t key, int group,
             bool masked, bool present = true) {
      auto t = bind<Tier, Param, Grad>(memory, shape, key);
      int64_t const E = matrices(shape);
      t.group = group;
      first.push_back(const_cast<Grad*>(t.grad.data));
      second.push_back(inputs.take<Grad>(t.param.size(), "second gradient"));
      mask.push_back(masked ? inputs.take<int>(E, "mask") : nullptr);
      if (masked) t.active = tieropt::view<int const>(mask.back(), E);
      if (!present) t.grad = {};
      bound.push_back(present ? first.back() : nullptr);
      steps.emplace_back(static_cast<std::size_t>(E), 0);
      tensors.push_back(t);
    }
  };
  arena memory{std::size_t{8} << 20}, inputs_memory{std::size_t{4} << 20};
  range<backbone, bf16, float> a;
  range<experts, bf16, bf16> b;
  range<adamw, float, bf16> c;
  tieropt::hyper* hypers = inputs_memory.take<tieropt::hyper>(2, "hypers");
  tieropt::step_inputs* inputs = inputs_memory.take<tieropt::step_inputs>(1, "inputs");

  model() {
    a.add(memory, inputs_memory, {3, 37, 300}, 1, 0, true);
    a.add(memory, inputs_memory, {20, 1030}, 2, 1, false);
    a.add(memory, inputs_memory, {0, 4}, 3, 0, false);
    a.add(memory, inputs_memory, {700}, 4, 0, false);
    b.add(memory, inputs_memory, {4, 33, 257}, 5, 1, true);
    b.add(memory, inputs_memory, {2, 2, 16, 1024}, 6, 0, false);
    b.add(memory, inputs_memory, {5, 7}, 7, 0, false, false);  // bound without a gradient
    c.add(memory, inputs_memory, {130, 70}, 8, 0, false);
    c.add(memory, inputs_memory, {2, 9, 11}, 9, 1, true);
  }
  auto plan(tieropt::schedule how) const {
    return tieropt::make_plan<policy>(how, a.tensors, b.tensors, c.tensors);
  }
  template <class F>
  void each(F const& f) {
    f(a);
    f(b);
    f(c);
  }

  /// What changes before step k, but for the addresses of the gradients.
  void change(int k, bool finite) {
    *inputs = {.seed = static_cast<uint64_t>(100 + k), .found_inf = k == 2};
    if (k == 1) inputs->grad_scale = 512, inputs->clip_factor = 0.5;
    hypers[0] = {.lr = 0.01 / (k + 1),
                 .beta2 = k == 3 ? 0.98 : 0.999,
                 .weight_decay = k % 2 == 1 ? 0.1 : 0.0};
    hypers[1] = {.lr = 0.02 * (k - 2.5), .beta1 = k == 0 ? 0.0 : 0.95, .clip = 0.05};
    if (k == 4 && !finite) hypers[1].lr = std::numeric_limits<double>::infinity();
    uint64_t seed = static_cast<uint64_t>(k + 1) << 40;
    each([&](auto& range) {
      for (std::size_t i = 0; i < range.tensors.size(); ++i) {
        int64_t const n = range.tensors[i].param.size(), E = range.tensors[i].step.extent[0];
        double const scale = k == 1 ? 5 : 0.01;
        seed += uint64_t{1} << 32;
        arena::fill(range.first[i], n, [&](int64_t j) { return scale * number(seed + j); });
        arena::fill(range.second[i], n, [&](int64_t j) { return scale * number(~seed - j); });
        for (int64_t e = 0; range.mask[i] != nullptr && e < E; ++e) {
          range.mask[i][e] = k == 0 || (k + e) % 3 != 0 ? 1 : 0;
        }
      }
    });
    if (k == 3) {  // as after loading a checkpoint
      a.tensors[1].step.data[0] = a.steps[1][0] = 1000;
      a.tensors[0].step.data[2] += 5;
      a.steps[0][2] += 5;
    }
  }
  /// New addresses before steps 3 and 4. @return whether there are any
  bool choose_grads(int k) {
    if (k < 3) return false;
    a.bound[0] = k == 3 ? a.second[0] : a.first[0];
    a.bound[1] = k == 3 ? nullptr : a.second[1];
    b.bound[0] = k == 3 ? b.second[0] : nullptr;
    b.bound[2] = b.second[2];
    c.bound[0] = k == 3 ? nullptr : c.second[0];
    return true;
  }
  template <class X, class Plan>
  tieropt::status rebind(int k, X const& x, Plan const& plan,
                         cuda::std::span<std::byte> workspace) {
    if (!choose_grads(k)) return {};
    return rebind_grads(x, plan, workspace, a.bound, b.bound, c.bound);
  }
  /// Counts the steps that must have been taken, and compares.
  void check_steps() {
    bool const all_rest = inputs->found_inf != 0;
    each([&](auto& range) {
      for (std::size_t i = 0; i < range.tensors.size(); ++i) {
        auto const& t = range.tensors[i];
        for (int64_t e = 0; e < t.step.extent[0]; ++e) {
          bool const rests = all_rest || t.param.size() == 0 || range.bound[i] == nullptr ||
                             (range.mask[i] != nullptr && range.mask[i][e] == 0) ||
                             !(hypers[t.group].lr < 1);
          auto& expected = range.steps[i][static_cast<std::size_t>(e)];
          if (!rests) ++expected;
          INFO("matrix " << e << " of tensor " << t.key);
          CHECK(t.step.data[e] == expected);
        }
      }
    });
  }
};

/// Nothing is kept between steps but the tensors: each has a plan of its own.
void run_on_host(model& m, bool finite) {
  for (int k = 0; k < n_steps; ++k) {
    INFO("step " << k << " on the host");
    m.change(k, finite);
    m.choose_grads(k);
    m.each([](auto& range) {
      for (std::size_t i = 0; i < range.tensors.size(); ++i) {
        auto& t = range.tensors[i];
        t.grad = {};
        if (range.bound[i] == nullptr) continue;
        auto const& p = t.param;
        t.grad = view_of(range.bound[i], extents(p.extent, p.extent + p.rank));
      }
    });
    auto const plan = m.plan(tieropt::streaming());
    REQUIRE(plan.has_value());
    std::vector<std::byte> workspace(plan->workspace_bytes());
    tieropt::serial_executor const x;
    REQUIRE(prepare(x, *plan, workspace));
    REQUIRE(enqueue(x, *plan, workspace, tieropt::resident{m.hypers}, tieropt::resident{m.inputs}));
    m.check_steps();
  }
}

void run_eagerly(model& m, bool finite, bool resident) {
  auto const plan = m.plan(tieropt::streaming());
  REQUIRE(plan.has_value());
  device_memory const workspace{plan->workspace_bytes()};
  stream const s;
  tieropt::cuda_executor const x{s};
  REQUIRE(prepare(x, *plan, workspace));
  for (int k = 0; k < n_steps; ++k) {
    INFO("step " << k);
    m.change(k, finite);
    REQUIRE(m.rebind(k, x, *plan, workspace));
    cuda::std::span<tieropt::hyper const> const hypers{m.hypers, 2};
    tieropt::status const st = resident ? enqueue(x, *plan, workspace, tieropt::resident{m.hypers},
                                                  tieropt::resident{m.inputs})
                                        : enqueue(x, *plan, workspace, hypers, *m.inputs);
    REQUIRE(st);
    s.wait();
    m.check_steps();
  }
}

void replay(model& m, tieropt::schedule how) {
  auto const plan = m.plan(how);
  REQUIRE(plan.has_value());
  device_memory const workspace{plan->workspace_bytes()};
  stream const s;
  tieropt::cuda_executor const x{s};
  REQUIRE(prepare(x, *plan, workspace));
  s.wait();
  auto const before = m.memory.copy();
  graph captured{s, cudaStreamCaptureModeGlobal, [&] {
                   CHECK(enqueue(x, *plan, workspace, tieropt::resident{m.hypers},
                                 tieropt::resident{m.inputs}));
                 }};
  CHECK(captured.kernels() == plan->launches());
  CHECK(captured.nodes() == plan->launches());
  CHECK((m.memory.copy() == before));
  for (int k = 0; k < n_steps; ++k) {
    INFO("replay " << k);
    m.change(k, false);
    REQUIRE(m.rebind(k, x, *plan, workspace));
    captured.launch(s);
    s.wait();
    m.check_steps();
  }
}

}  // namespace

TEST_CASE("a captured step replays with new values, and equals eager steps and the host",
          "[capture]") {
  model host, eager;
  run_on_host(host, false);
  run_eagerly(eager, false, true);
  CHECK(host.memory.difference(eager.memory) == "");
  for (auto const how : {tieropt::streaming(), tieropt::cache_resident(1 << 16)}) {
    INFO("cache of " << how.cache_bytes << " bytes");
    model replayed;
    replay(replayed, how);
    CHECK(eager.memory.difference(replayed.memory) == "");
  }
  // Steps 2 (found_inf) and 4 (lr) rested, step 3 without a gradient.
  CHECK(eager.a.steps[1] == std::vector<int64_t>{1000});
  CHECK(eager.b.steps[2] == std::vector<int64_t>{2});
}

TEST_CASE("hyperparameters on the host and on the device give the same bits", "[capture]") {
  model host, resident, given;
  run_on_host(host, true);
  run_eagerly(resident, true, true);
  run_eagerly(given, true, false);
  CHECK(host.memory.difference(resident.memory) == "");
  CHECK(resident.memory.difference(given.memory) == "");
}

TEST_CASE("replays on their own go on from each other", "[capture]") {
  // No change and no host between the replays: the steps alone advance.
  model replayed, eager;
  for (model* m : {&replayed, &eager}) {
    m->change(0, true);
    auto const plan = m->plan(tieropt::streaming());
    REQUIRE(plan.has_value());
    device_memory const workspace{plan->workspace_bytes()};
    stream const s;
    tieropt::cuda_executor const x{s};
    REQUIRE(prepare(x, *plan, workspace));
    auto const step = [&] {
      REQUIRE(
          enqueue(x, *plan, workspace, tieropt::resident{m->hypers}, tieropt::resident{m->inputs}));
    };
    if (m == &eager) {
      for (int k = 0; k < n_steps; ++k) step();
      s.wait();
    } else {
      graph captured{s, cudaStreamCaptureModeGlobal, step};
      for (int k = 0; k < n_steps; ++k) captured.launch(s);
      s.wait();
    }
    CHECK(m->a.tensors[0].step.data[1] == n_steps);
  }
  CHECK(eager.memory.difference(replayed.memory) == "");
}
