// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A tier with a momentum part of your own, beside the same tier with the library's.

#include <tieropt/tieropt.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

/// [part]
/// The momentum gives the direction, the gradient the length: sign(M) |g|.
struct sign_momentum {
  using state_type = float;  // how M is stored; the operator sees the compute type T

  template <class T>
  TIEROPT_HOST_DEVICE T operator()(T& m, T g, tieropt::step_scalars<T> const& s) const {
    // The library's arithmetic gives the same bits on host and device; * and + and - need not.
    m = tieropt::fma(s.beta1, m, tieropt::mul(s.one_minus_beta1, g));
    T const length = g < T(0) ? tieropt::neg(g) : g;
    return m < T(0) ? tieropt::neg(length) : length;
  }
};
static_assert(tieropt::momentum_policy<sign_momentum>);
/// [part]

/// [tiers]
struct steady : tieropt::tier {
  using momentum = sign_momentum;
  using eps = tieropt::added_eps;
  using clip = tieropt::no_clip;  // one pass; a clip would cost a second reading of the gradient
};
struct usual : steady {
  using momentum = tieropt::ema_momentum<float>;
};
/// [tiers]

/// Minimises a narrow valley, f = sum of i^2 (w_i - 1)^2 / 2, with a gradient that jitters.
/// @tparam Tier the tier that steps
/// @return root mean square of w - 1 after 300 steps, or -1 when a call was refused
template <class Tier>
double train() {
  std::int64_t const n = 64;
  std::vector<float> w(n), dw(n), m(n), v(n);
  std::vector<std::int64_t> steps(1);
  std::vector<tieropt::bound_tensor<Tier, float>> bound;
  bound.push_back({.param = tieropt::view(w.data(), n),
                   .grad = tieropt::view(dw.data(), n),
                   .momentum = tieropt::view(m.data(), n),
                   .variance = {.exact = tieropt::view(v.data(), n)},
                   .step = tieropt::view(steps.data(), 1)});
  auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(bound);
  if (!plan) return std::puts(message(plan.error())), -1;

  std::vector<std::byte> workspace(plan->workspace_bytes());
  tieropt::host_executor const executor;
  tieropt::status s = prepare(executor, *plan, workspace);
  for (int step = 0; s && step < 300; ++step) {
    float const jitter = step % 2 ? 0.5f : -0.5f;
    for (std::int64_t i = 0; i < n; ++i) dw[i] = float(i * i) * (w[i] - 1 + jitter * float(i % 3));
    tieropt::hyper const hypers[] = {{.lr = 0.05 * (1 - step / 300.0)}};
    s = enqueue(executor, *plan, workspace, hypers, tieropt::step_inputs{});
  }
  if (!s) return std::puts(message(s)), -1;
  double sum = 0;
  for (std::int64_t i = 1; i < n; ++i) sum += (w[i] - 1) * (w[i] - 1);
  return std::sqrt(sum / double(n - 1));
}

int main() {
  double const with_sign = train<steady>(), with_ema = train<usual>();
  std::printf("distance from the minimum: sign momentum %.1e, plain momentum %.1e\n", with_sign,
              with_ema);
  return with_sign < 0 || with_ema < 0;
}
