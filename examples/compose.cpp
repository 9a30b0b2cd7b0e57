// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The policies of the guide "Compose your own", from short to unusual, each trained for a while.

#include <tieropt/tieropt.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <vector>

/// [cautious]
struct cautious_adamw : tieropt::adamw::tensor {
  using transform = tieropt::cautious_update;  // nothing against the gradient
  using clip = tieropt::cautious_scale<>;      // what is left makes up for it
};
/// [cautious]

/// [mixed]
struct hidden : tieropt::muon::matrix {};                   // momentum, orthogonalised
struct experts : tieropt::skewadam::corrected::experts {};  // a row and a column of squares
struct router : tieropt::adamw::tensor {};                  // both moments
using mixed = tieropt::tier_policy<hidden, experts, router>;
/// [mixed]

/// [warm]
/// Every expert warms up by its own steps: one that is chosen late starts slowly, too.
struct own_warmup {
  TIEROPT_HOST_DEVICE static double lr(tieropt::hyper const& h, std::int64_t k) {
    return k < 20 ? tieropt::mul(h.lr, static_cast<double>(k) / 20) : h.lr;
  }
};
/// Long updates count by their root.
struct root_update {
  static constexpr bool homogeneous =
      false;  // of twice the update it does not make twice the result
  static constexpr bool reads_grad = false;
  template <class T>
  TIEROPT_HOST_DEVICE static T apply(T u, T) {
    T const root = tieropt::sqrt(u < T(0) ? tieropt::neg(u) : u);
    return u < T(0) ? tieropt::neg(root) : root;
  }
};
struct warm_experts : tieropt::tier {
  using variance = tieropt::factored_variance<float>;
  using transform = root_update;
  using rate = own_warmup;
};
/// [warm]

/// [trust]
/// U <- U / rms(U), whatever its length.
struct unit_rms : tieropt::rms_clip<tieropt::scope::matrix> {
  template <class T>
  TIEROPT_HOST_DEVICE static T factor(T rms, T gain, tieropt::step_scalars<T> const&) {
    return tieropt::div(gain, tieropt::add(rms, T(1e-6)));
  }
};
/// LAMB's trust ratio |p| / |U| (arXiv 1904.00962) for each matrix, on half of Adam's state: one
/// row, one column, a momentum that is read back.
struct trusting : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
  using clip = unit_rms;
  using scale = tieropt::param_rms_scale<tieropt::scope::matrix>;
  using decay = tieropt::no_decay;
};
static_assert(tieropt::grad_reads<trusting> == 2);
/// [trust]

namespace {

/// A stack of E matrices (R, C) of one population, and what its tier keeps for it.
template <class Tier>
class stack {
  static constexpr std::int64_t E = 3, R = 16, C = 24;
  using need = tieropt::needs<Tier>;

 public:
  using bound = tieropt::bound_tensor<Tier, float>;

  stack() {
    std::int64_t const shape[] = {E, R, C};
    auto const size = tieropt::state_bytes<Tier>(shape);
    auto const floats = [](std::int64_t bytes) { return static_cast<std::size_t>(bytes) / 4; };
    momentum_.resize(floats(size.momentum));
    exact_.resize(floats(size.exact));
    row_.resize(floats(size.row));
    col_.resize(floats(size.col));
    for (std::size_t i = 0; i < param_.size(); ++i) param_[i] = 0.1f * std::sin(float(i));
    bound b{.param = tieropt::view(param_.data(), E, R, C),
            .grad = tieropt::view(grad_.data(), E, R, C),
            .step = tieropt::view(step_.data(), E)};
    if constexpr (need::momentum) b.momentum = tieropt::view(momentum_.data(), E, R, C);
    if constexpr (need::exact) b.variance = {.exact = tieropt::view(exact_.data(), E, R, C)};
    if constexpr (need::factored) {
      b.variance = {.row = tieropt::view(row_.data(), E, R),
                    .col = tieropt::view(col_.data(), E, C)};
    }
    all_.push_back(b);
  }

  std::vector<bound> const& tensors() const { return all_; }
  /// The gradient of |p - 1|^2 / 2, and that loss per weight.
  double pull() {
    double loss = 0;
    for (std::size_t i = 0; i < param_.size(); ++i) {
      grad_[i] = param_[i] - 1;
      loss += 0.5 * double(grad_[i]) * double(grad_[i]);
    }
    return loss / double(param_.size());
  }

 private:
  std::vector<float> param_ = std::vector<float>(E * R * C), grad_ = param_;
  std::vector<float> momentum_, exact_, row_, col_;
  std::vector<std::int64_t> step_ = std::vector<std::int64_t>(E);
  std::vector<bound> all_;
};

/// Sums of products in a plain loop: who trains for real brings a BLAS, see with_gemm.
struct loop_gemm {
  template <class T>
  tieropt::status operator()(tieropt::matrix_product<T> const& p) const {
    using codec = tieropt::storage<T>;
    for (std::int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
      std::int64_t const e = i / (p.m * p.n), r = i / p.n % p.m, c = i % p.n;
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        auto const a = p.a[e * p.m * p.k + (p.transpose_a ? k * p.m + r : r * p.k + k)];
        auto const b = p.b[e * p.k * p.n + (p.transpose_b ? c * p.k + k : k * p.n + c)];
        sum += codec::template decode<float>(a) * codec::template decode<float>(b);
      }
      sum *= float(p.alpha);
      if (p.beta != 0) sum += float(p.beta) * codec::template decode<float>(p.c[i]);
      p.d[i] = codec::nearest(sum);
    }
    return {};
  }
};

/// Trains some stacks under one policy. @return whether the loss fell to a quarter
template <class Policy, class... Tiers>
bool train(char const* name, double lr, stack<Tiers>... stacks) {
  auto const plan = tieropt::make_plan<Policy>(stacks.tensors()...);
  if (!plan) return std::puts(message(plan.error())), false;
  std::vector<std::byte> workspace(plan->workspace_bytes());
  auto const executor = tieropt::with_gemm(tieropt::host_executor{}, loop_gemm{});
  tieropt::hyper const hypers[] = {{.lr = lr}};
  tieropt::status s = prepare(executor, *plan, workspace);
  double const first = (stacks.pull() + ...);
  for (int k = 0; s && k < 300; ++k) {
    s = enqueue(executor, *plan, workspace, hypers);
    (stacks.pull(), ...);
  }
  if (!s) return std::puts(message(s)), false;
  double const last = (stacks.pull() + ...);
  std::printf("%-10s %6.1f bytes of state, %5.1f bytes moved per parameter, loss %.4f -> %.4f\n",
              name, double(plan->state_bytes().total()) / (1152.0 * sizeof...(Tiers)),
              double(plan->traffic_bytes()) / (1152.0 * sizeof...(Tiers)), first, last);
  return last < first / 4;
}

}  // namespace

int main() {
  bool ok = train<tieropt::tier_policy<cautious_adamw>>("cautious", 0.01, stack<cautious_adamw>{});
  ok &= train<mixed>("mixed", 0.02, stack<hidden>{}, stack<experts>{}, stack<router>{});
  ok &= train<tieropt::tier_policy<warm_experts>>("warm", 0.01, stack<warm_experts>{});
  ok &= train<tieropt::tier_policy<trusting>>("trusting", 0.01, stack<trusting>{});
  return ok ? 0 : 1;
}
