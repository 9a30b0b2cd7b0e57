// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One tensor of one tier on the device: a step of the library, and the same step by hand.
///
/// A program holds one of the tiers below, or a list of others, so that a change of a kernel
/// recompiles little.
#pragma once

#include "buffers.cuh"
#include "hand_one_pass.cuh"

#include <cuda/std/array>

#include <cmath>
#include <type_traits>
#include <utility>

namespace device_bench {

struct experts : tieropt::skewadam::corrected::experts {};
struct backbone : tieropt::skewadam::corrected::backbone {};
struct adamw : tieropt::adamw::tensor {};
struct router : tieropt::skewadam::corrected::router {};
struct lion : tieropt::lion::tensor {};
struct adafactor : tieropt::adafactor::tensor {};
struct adafactor_momentum : tieropt::adafactor::with_momentum {};
struct muon : tieropt::muon::matrix {};
/// A tier with one of the roundings. @tparam Tier a tier @tparam Rounding a rounding
template <class Tier, class Rounding>
struct rounded : Tier {
  using rounding = Rounding;  ///< of bf16
};

inline constexpr tieropt::hyper hypers{.lr = 1e-2, .clip = 0.5, .weight_decay = 0.1};
inline constexpr uint64_t seed = 42, tensor_key = 17;
inline constexpr tieropt::step_inputs inputs{.seed = seed, .max_grad_norm = 1};

/// A plan over one tensor. @tparam Tier a tier @tparam Param of parameters
/// @tparam Grad of gradients
template <class Tier, class Param = bf16, class Grad = Param>
class library_step {
  using memory = buffers<Tier, Param, Grad>;
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  using tensors = cuda::std::array<bound, 1>;
  using policy = tieropt::tier_policy<Tier>;

 public:
  /// @tparam X an executor @param[in] b buffers that outlive this @param[in] how schedule
  /// @param[in] x the executor @param[in] where the workspace lies
  template <tieropt::executor X>
  library_step(memory const& b, tieropt::schedule how, X const& x, place where = place::device)
      : tensors_{bind(b)},
        plan_{*tieropt::make_plan<policy>(how, tensors_)},
        memory_{static_cast<int64_t>(plan_.workspace_bytes()), where} {
    auto const status = tieropt::prepare(x, plan_, workspace());
    demand(static_cast<bool>(status), message(status));
  }
  library_step(library_step const&) = delete;

  /// One step. @tparam X an executor @param[in] x the executor
  template <tieropt::executor X>
  void operator()(X const& x) const {
    tieropt::hyper const h[] = {hypers};
    auto const status = tieropt::enqueue(x, plan_, workspace(), h, inputs);
    demand(static_cast<bool>(status), message(status));
  }
  /// @return the plan
  auto const& plan() const { return plan_; }

 private:
  cuda::std::span<std::byte> workspace() const { return {memory_.data(), memory_.bytes()}; }
  static tensors bind(memory const& b) {
    shape const s = b.s;
    bound t;
    t.param = tieropt::view(b.param.data(), s.E, s.R, s.C);
    t.grad = tieropt::view<Grad const>(b.grad.data(), s.E, s.R, s.C);
    if constexpr (memory::keeps) t.momentum = b.momentum.views(s);
    if constexpr (memory::factored) {
      t.variance.row = tieropt::view(b.row.data(), s.E, s.R);
      t.variance.col = tieropt::view(b.col.data(), s.E, s.C);
    } else if constexpr (memory::divides) {
      t.variance.exact = b.exact.views(s);
    }
    t.master = b.master.views(s);
    t.step = tieropt::view(b.step.data(), memory::one_step ? 1 : s.E);
    t.key = tensor_key;
    return {t};
  }

  tensors tensors_;
  tieropt::plan_of<policy, tensors> plan_;
  buffer<std::byte> memory_;
};

/// The same step by hand, matrix by matrix. @tparam Tier a tier
template <class Tier>
class hand_step {
  static constexpr bool keeps = buffers<Tier>::keeps, factored = buffers<Tier>::factored;
  static constexpr bool stochastic = Tier::rounding::stochastic;
  template <class... Tiers>
  static constexpr bool is_one_of = (std::is_base_of_v<Tiers, Tier> || ...);

 public:
  /// Whether there are kernels for the tier.
  static constexpr bool exists = is_one_of<experts, backbone, adamw, lion>;
  /// Whether they know a shape. @param[in] s shape @return true if so
  static bool knows(shape const& s) {
    return exists && s.R % 128 == 0 && s.R <= 8192 && s.C % 1024 == 0 && s.C <= 65536;
  }
  /// @param[in] b buffers that outlive this @pre knows(b.s)
  explicit hand_step(buffers<Tier> const& b)
      : b_{b}, scratch_{b.s.R * (b.s.C / 1024 + 1) + b.s.C * (b.s.R / 128 + 2)} {}
  /// One step. @param[in] k its number, from 1 @param[in] stream the stream
  void operator()(int64_t k, cudaStream_t stream) const {
    hand::scalars s = derive(k);
    for (int64_t e = 0; e < b_.s.E; ++e) {
      hand::matrix const m = matrix(e);
      s.first_pair = static_cast<uint32_t>(e * m.R * m.C / 2);
      if constexpr (is_one_of<experts, backbone>) {
        hand::factored_step<keeps, stochastic>(m, s, stream);
      } else if constexpr (is_one_of<adamw>) {
        hand::adamw_step<stochastic>(m, s, stream);
      } else if constexpr (is_one_of<lion>) {
        hand::lion_step<stochastic>(m, s, stream);
      }
    }
    demand(cudaGetLastError());
  }

 private:
  hand::matrix matrix(int64_t e) const {
    int64_t const R = b_.s.R, C = b_.s.C, first = e * R * C;
    float* next = scratch_.data();
    auto const take = [&](int64_t n) { return std::exchange(next, next + n); };
    hand::matrix m{.R = R, .C = C};
    m.param = reinterpret_cast<hand::uint16_t*>(b_.param.data()) + first;
    m.grad = reinterpret_cast<hand::uint16_t const*>(b_.grad.data()) + first;
    m.momentum = b_.momentum.data() + (keeps ? first : 0);
    m.exact = b_.exact.data() + (buffers<Tier>::divides && !factored ? first : 0);
    m.row = b_.row.data() + (factored ? e * R : 0);
    m.col = b_.col.data() + (factored ? e * C : 0);
    m.col_value = take(C);
    m.col_part = take(C * (R / 128));
    m.row_value = take(R);
    m.row_part = take(R * (C / 1024));
    m.norm_part = take(m.tiles());
    m.factor = take(1);
    return m;
  }
  static hand::scalars derive(int64_t k) {
    tieropt::hyper const& h = hypers;
    double const left1 = 1 - tieropt::power(h.beta1, k), left2 = 1 - tieropt::power(h.beta2, k);
    uint64_t const key =
        tieropt::mix64(tieropt::rounding_key(seed, tensor_key, static_cast<uint64_t>(k)));
    auto const f = [](double x) { return static_cast<float>(x); };
    return {.grad_gain = 1,
            .beta1 = f(h.beta1),
            .one_minus_beta1 = f(1 - h.beta1),
            .beta2 = f(h.beta2),
            .one_minus_beta2 = f(1 - h.beta2),
            .correction2 = f(1 / left2),
            .root_correction2 = f(1 / std::sqrt(left2)),
            .update_gain = f(keeps ? 1 / left1 : 1),
            .eps = f(factored ? 1e-30 : 1e-8),
            .clip = f(h.clip),
            .lr = f(h.lr),
            .decay = f(1 - h.lr * h.weight_decay),
            .key0 = static_cast<uint32_t>(key),
            .key1 = static_cast<uint32_t>(key >> 32),
            .first_pair = 0};
  }

  buffers<Tier> const& b_;
  buffer<float> scratch_;
};

/// The schedule of a command line. @param[in] cache_bytes 0 for streaming @return the schedule
inline tieropt::schedule schedule_of(int64_t cache_bytes) {
  return cache_bytes > 0 ? tieropt::cache_resident(cache_bytes) : tieropt::streaming();
}

/// What a cold cache needs: reads a buffer that is larger than any.
/// @param[in] data (n) @param[in] n count of packs @param[out] out null
__global__ void evict(uint4 const* data, int64_t n, uint4* out) {
  uint4 sum{};
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += int64_t{gridDim.x} * blockDim.x) {
    uint4 const q = data[i];
    sum.x ^= q.x, sum.y ^= q.y, sum.z ^= q.z, sum.w ^= q.w;
  }
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0xffffffffu) *out = sum;
}

}  // namespace device_bench
