// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
// The same plan on the host and on a device: parameters, states, step counters and every partial
// sum have the same bits.

#include <tieropt/tieropt.cuh>

#include "device/buffer.cuh"

#include <cuda/std/array>

#include <type_traits>

using namespace device_test;
using tieropt::int64_t;
using tieropt::uint64_t;

namespace {

checks results;

// ---- populations --------------------------------------------------------------------------------

template <class Momentum, class Rounding, int PerLane, int Groups = 8>
struct factored : tieropt::tier {
  using momentum = Momentum;
  using variance = tieropt::factored_variance<float>;
  using rounding = Rounding;
  static constexpr tieropt::tuning tune{.groups = Groups, .per_lane = PerLane, .blocks_per_sm = 3};
};
struct plain_adamw : tieropt::adamw::tensor {
  using rounding = tieropt::nearest_rounding;
  static constexpr tieropt::tuning tune{.groups = 4, .per_lane = 2, .blocks_per_sm = 4};
};

using ema = tieropt::ema_momentum<float>;
using no_momentum = tieropt::no_momentum;
using nearest = tieropt::nearest_rounding;
using stochastic = tieropt::stochastic_rounding;

// ---- one tensor on both sides -------------------------------------------------------------------

struct shape {
  int rank = 2;  // 1: (C), 2: (R, C), 3: (E, R, C)
  int64_t E = 1, R = 1, C = 1;
  int64_t pitch = 0;        // elements between rows of parameter and gradient, 0: C
  int64_t columns = 1;      // elements between columns of the gradient
  bool rests = false;       // the second matrix rests
  bool not_finite = false;  // the first matrix has gradients that are NaN and infinite
  int64_t size() const { return E * R * C; }
};

double uniform(uint64_t i) {
  return static_cast<double>(static_cast<int64_t>(tieropt::mix64(i))) * 0x1p-63;
}

template <class T>
struct twin {
  std::vector<T> host;
  device_buffer<T> device;

  explicit twin(std::vector<T> values) : host(std::move(values)), device{host} {}
  T* data(bool on_device) { return on_device ? device.data() : host.data(); }
  void compare(char const* what) const { results.equal_bits(host, device.download(), what); }
};

template <class T, class F>
twin<T> filled(int64_t n, F f) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[i] = tieropt::storage<T>::nearest(f(uint64_t(i)));
  return twin<T>{std::move(values)};
}

// A view of what a shape says, of whatever rank.
template <class T>
tieropt::tensor_view<T> bind(shape const& s, T* data, int64_t pitch, int64_t columns) {
  tieropt::tensor_view<T> v;
  v.data = data;
  v.rank = s.rank;
  int64_t const extents[] = {s.E, s.R, s.C}, strides[] = {s.R * pitch, pitch, columns};
  for (int i = 0; i < s.rank; ++i) {
    v.extent[i] = extents[3 - s.rank + i];
    v.stride[i] = strides[3 - s.rank + i];
  }
  return v;
}

template <class Tier, class Param, class Grad>
struct tensor {
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  using moment = typename bound::variance_type;
  static constexpr bool keeps = tieropt::keeps_momentum<typename Tier::momentum>;
  using momentum = std::conditional_t<keeps, typename bound::momentum_type, float>;

  shape s;
  int64_t pitch;
  twin<Param> param;
  twin<Grad> first_grad, second_grad;
  twin<momentum> m;
  twin<moment> row, col, exact;
  twin<int64_t> step;
  twin<int> active;

  static auto grads(shape const& s, int64_t pitch, uint64_t seed) {
    uint64_t const broken = s.not_finite ? uint64_t(s.C) : 0;  // elements
    return filled<Grad>(s.E * s.R * pitch * s.columns, [=](uint64_t i) {
      if (i < broken && i % 97 == 5) return i % 2 == 0 ? __builtin_nanf("") : -__builtin_inff();
      float const scale = i % 7 == 0 ? 1e-20f : i % 11 == 0 ? 1e-3f : 0.5f;
      return static_cast<float>(uniform(seed + i)) * scale;
    });
  }
  template <class T>
  static auto positive(int64_t n) {
    return filled<T>(n, [](uint64_t i) { return 1e-3f * static_cast<float>(1.5 + uniform(i)); });
  }

  explicit tensor(shape const& given)
      : s{given},
        pitch{s.pitch > 0 ? s.pitch : s.C},
        param{filled<Param>(s.E * s.R * pitch, [](uint64_t i) { return float(uniform(i)); })},
        first_grad{grads(s, pitch, 1u << 20)},
        second_grad{grads(s, pitch, 1u << 30)},
        m{filled<momentum>(keeps ? s.size() : 1, [](uint64_t i) { return float(uniform(i + 9)); })},
        row{positive<moment>(s.E * s.R)},
        col{positive<moment>(s.E * s.C)},
        exact{positive<moment>(Tier::variance::factored && s.rank > 1 ? 1 : s.size())},
        step{std::vector<int64_t>(static_cast<std::size_t>(s.E), 3)},
        active{std::vector<int>(static_cast<std::size_t>(s.E), 1)} {
    if (s.rests) {
      active.host[1] = 0;
      demand(cudaMemcpy(active.device.data(), active.host.data(), active.host.size() * sizeof(int),
                        cudaMemcpyHostToDevice));
    }
  }

  bound bind_on(bool device) {
    bound b;
    b.param = bind(s, param.data(device), pitch, 1);
    b.grad = bind<Grad const>(s, first_grad.data(device), pitch * s.columns, s.columns);
    if constexpr (keeps) b.momentum = bind(s, m.data(device), s.C, 1);
    if (Tier::variance::factored && s.rank > 1) {
      shape rows = s, cols = s;
      rows.rank = cols.rank = s.rank - 1;
      rows.C = s.R, rows.R = cols.R = s.E;
      b.variance.row = bind(rows, row.data(device), s.R, 1);
      b.variance.col = bind(cols, col.data(device), s.C, 1);
    } else {
      b.variance.exact = bind(s, exact.data(device), s.C, 1);
    }
    int64_t const n_steps = Tier::step_scope == tieropt::scope::tensor ? 1 : s.E;
    b.step = tieropt::view(step.data(device), n_steps);
    if (s.rests) b.active = tieropt::view<int const>(active.data(device), s.E);
    b.key = 17;
    b.first_element = 12345;
    return b;
  }
  void compare() const {
    param.compare("parameters");
    m.compare("momentum");
    row.compare("row factors");
    col.compare("column factors");
    exact.compare("exact second moments");
    step.compare("steps");
  }
};

// What the passes left in the workspace: scalars and partial results, matrix by matrix.
template <class Parts>
void compare_workspaces(shape const& s, std::vector<std::byte> const& host,
                        std::vector<std::byte> const& device, std::size_t scalars_at,
                        std::size_t elements_at) {
  using T = typename Parts::compute;
  auto const equal = [&](std::size_t offset, std::size_t bytes, char const* what) {
    results.expect(std::memcmp(&host[offset], &device[offset], bytes) == 0, what);
  };
  tieropt::geometry const g{s.E, s.rank > 1 ? s.R : 1, s.C};
  tieropt::work_layout const at = tieropt::lay_out<Parts>(g);
  using scalars = tieropt::step_scalars<T>;
  bool const per_matrix = Parts::clip::spans == tieropt::scope::matrix;
  for (int64_t e = 0; e < g.E; ++e) {
    equal(scalars_at + e * sizeof(scalars), offsetof(scalars, active) + 1, "scalars");
    if (s.rests && e == 1) continue;
    if (s.not_finite && e == 0) continue;  // a NaN within the passes has no pattern
    // A part of (E, n) elements: the rows of this matrix.
    auto const part = [&](int64_t offset, int64_t pitch, int64_t n, char const* what) {
      equal(elements_at + (offset + e * pitch) * sizeof(T), n * sizeof(T), what);
    };
    if (Parts::variance::factored) {
      part(at.col_value, tieropt::padded_columns(g.C), g.C, "column values");
      part(at.row_value, g.R, g.R, "row values");
      part(at.row_part, g.segments() * g.R, g.segments() * g.R, "row sums");
      part(at.col_part, g.row_tiles() * g.C, g.row_tiles() * g.C, "column sums");
    }
    if (Parts::clip::measures) {
      part(at.norm_part, g.matrix_tiles(), g.matrix_tiles(), "norms");
      if (e == 0 || per_matrix) part(at.rms, 1, 1, "RMS of the update");
      if (e == 0 || per_matrix) part(at.factor, 1, 1, "clip factor");
    }
  }
}

template <class Tier, class Param, class Grad = Param>
void run(char const* name, shape const& s) {
  results.about("%s, (%d, %d, %d) of rank %d", name, int(s.E), int(s.R), int(s.C), s.rank);
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  tensor<Tier, Param, Grad> both{s};
  cudaStream_t stream = nullptr;
  demand(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  std::vector<std::byte> workspace[2];
  std::size_t scalars_at = 0, elements_at = 0;
  // Both the serial executor and the parallel one take part.
  using host_executor = std::conditional_t<std::is_same_v<Tier, plain_adamw>,
                                           tieropt::host_executor, tieropt::serial_executor>;
  auto const step_twice = [&](auto const& executor, bool on_device) {
    cuda::std::array<bound, 1> const tensors{both.bind_on(on_device)};
    auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(tensors);
    results.expect(plan.has_value(), "the plan is made");
    if (!plan) return;
    // Device memory as it comes: nothing may be read that was not written.
    device_buffer<std::byte> const memory{on_device ? plan->workspace_bytes() : 1};
    workspace[on_device].resize(plan->workspace_bytes());
    cuda::std::span<std::byte> const work{on_device ? memory.data() : workspace[0].data(),
                                          plan->workspace_bytes()};
    tieropt::hyper const hypers[] = {{.lr = 0.01, .weight_decay = 0.1}};
    cuda::std::array<Grad const*, 1> const next{both.second_grad.data(on_device)};
    tieropt::status st = prepare(executor, *plan, work);
    if (st) st = enqueue(executor, *plan, work, hypers, {.seed = 42, .grad_scale = 2});
    if (st) st = rebind_grads(executor, *plan, work, next);
    if (st) st = enqueue(executor, *plan, work, hypers, {.seed = 43});
    results.expect(static_cast<bool>(st), message(st));
    demand(cudaStreamSynchronize(stream));
    if (on_device) workspace[1] = memory.download();
    auto const parts = tieropt::workspace_of<0>(*plan, work);
    scalars_at = reinterpret_cast<std::byte*>(parts.scalars) - work.data();
    elements_at = reinterpret_cast<std::byte*>(parts.elements) - work.data();
  };
  step_twice(host_executor{}, false);
  step_twice(tieropt::cuda_executor{stream}, true);
  both.compare();
  results.expect(both.step.host[0] == 5, "two steps were taken");
  compare_workspaces<typename bound::parts>(s, workspace[0], workspace[1], scalars_at, elements_at);
  demand(cudaStreamDestroy(stream));
}

}  // namespace

int main(int argc, char**) {
  bool const quick = argc > 1;  // any argument: only the small shapes
  using tieropt::bf16;
  using tieropt::fp16;
  auto const run_all = [](char const* name, auto runner, auto const&... shapes) {
    (runner(name, shapes), ...);
  };
  shape const one{.R = 1, .C = 1}, small{.R = 3, .C = 5}, odd{.R = 257, .C = 129},
      stack{.rank = 3, .E = 4, .R = 37, .C = 300}, segment{.R = 130, .C = 1030},
      wide{.R = 128, .C = 50257}, whole{.rank = 3, .E = 2, .R = 130, .C = 2048},
      padded{.R = 37, .C = 1100, .pitch = 1104}, strided{.R = 33, .C = 1100, .columns = 3},
      vector{.rank = 1, .C = 3000}, resting{.rank = 3, .E = 4, .R = 37, .C = 300, .rests = true},
      broken{.rank = 3, .E = 2, .R = 20, .C = 1030, .not_finite = true};
  auto const required = [&](char const* name, auto runner) {
    run_all(name, runner, one, small, odd, stack, segment, whole, padded, strided, vector, resting,
            broken);
    if (!quick) runner(name, wide);
  };
  required("momentum, stochastic, 4 per lane", [](char const* name, shape const& s) {
    run<factored<ema, stochastic, 4>, bf16>(name, s);
  });
  required("momentum, nearest, 8 per lane",
           [](char const* name, shape const& s) { run<factored<ema, nearest, 8>, bf16>(name, s); });
  required("no momentum, stochastic, 8 per lane", [](char const* name, shape const& s) {
    run<factored<no_momentum, stochastic, 8>, bf16>(name, s);
  });
  required("no momentum, nearest, 4 per lane, 2 groups", [](char const* name, shape const& s) {
    run<factored<no_momentum, nearest, 4, 2>, bf16>(name, s);
  });
  run_all(
      "router, fp16 and float",
      [](char const* name, shape const& s) {
        run<tieropt::skewadam::corrected::router, fp16, float>(name, s);
      },
      small, odd, stack, whole);
  run_all(
      "AdamW, float", [](char const* name, shape const& s) { run<plain_adamw, float>(name, s); },
      small, odd, stack, whole);
  run_all(
      "published backbone, bf16",
      [](char const* name, shape const& s) {
        run<tieropt::skewadam::published::backbone, bf16>(name, s);
      },
      odd, stack, whole, vector);
  run_all(
      "experts in double, bf16",
      [](char const* name, shape const& s) {
        run<tieropt::skewadam::corrected::experts_as<double>, bf16>(name, s);
      },
      odd, stack, whole);
  return results.finish();
}
