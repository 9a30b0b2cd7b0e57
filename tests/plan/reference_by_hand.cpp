// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The reference against steps that were worked out by hand; the library is not asked.

#include "support/catch.hpp"
#include "support/reference.hpp"

#include <cmath>
#include <vector>

namespace {

namespace ref = testing::reference;
using kind = ref::momentum_kind;

constexpr ref::hyper powers_of_two{.lr = 0.5, .beta1 = 0.5, .beta2 = 0.75, .eps = 0, .clip = 1};

/// The parts that do least: p - lr g.
constexpr ref::recipe plain{.variance = ref::variance_kind::none,
                            .clip = ref::clip_kind::none,
                            .decay = ref::decay_kind::none};

/// A row of parameters 1, 2, ... with zero states after `taken` steps.
ref::tensor<double> row_of(std::size_t n, std::int64_t taken = 0) {
  ref::tensor<double> t;
  t.C = static_cast<std::int64_t>(n);
  for (std::size_t i = 0; i < n; ++i) t.param.push_back(static_cast<double>(i + 1));
  t.momentum.resize(n), t.row.resize(1), t.col.resize(n), t.exact.resize(n);
  t.step = {taken};
  return t;
}
/// What is subtracted in one step.
std::vector<double> moves(ref::recipe const& tier, ref::hyper const& h, ref::tensor<double>& t,
                          std::vector<double> const& grad) {
  auto const trace = ref::step<double>(tier, h, t, grad, {}, 1.0, testing::fp32_format);
  std::vector<double> values;
  for (auto const& x : trace.move) values.push_back(x.value);
  return values;
}
std::vector<double> moves(ref::recipe const& tier, ref::hyper const& h,
                          std::vector<double> const& grad, std::int64_t taken = 0) {
  auto t = row_of(grad.size(), taken);
  return moves(tier, h, t, grad);
}
bool close(double a, double b) { return std::fabs(a - b) <= 1e-15 * std::fabs(b); }
/// Two steps with the gradients 4 and 8; what the second subtracts.
double second(kind momentum, bool of_update = false, ref::bias_kind bias = ref::bias_kind::none) {
  ref::recipe tier = plain;
  tier.momentum = momentum, tier.of_update = of_update, tier.bias = bias;
  auto t = row_of(1);
  moves(tier, powers_of_two, t, {4});
  return moves(tier, powers_of_two, t, {8})[0];
}

}  // namespace

TEST_CASE("momenta of two steps are those worked out by hand", "[reference]") {
  CHECK(second(kind::none) == 4);                   // 0.5 * 8
  CHECK(second(kind::ema) == 2.5);                  // M = 2, then 1 + 4
  CHECK(second(kind::heavy_ball) == 5);             // M = 4, then 2 + 8
  CHECK(second(kind::lion) == 2.25);                // M = 1, then 0.5 + 4
  CHECK(second(kind::nesterov_ema) == 3.25);        // M = 5, 2.5 + 4
  CHECK(second(kind::nesterov_heavy_ball) == 6.5);  // M = 10, 5 + 8
  CHECK(second(kind::ema, true) == 2.5);            // of 2 and 4: M = 1, then 0.5 + 2
  CHECK(close(second(kind::ema, false, ref::bias_kind::both), 2.5 / 0.75));
  CHECK(close(second(kind::nesterov_ema, false, ref::bias_kind::both), 3.25 / 0.875));
  CHECK(second(kind::nesterov_ema, false, ref::bias_kind::second) == 3.25);
}

TEST_CASE("second moments of a first step are those worked out by hand", "[reference]") {
  ref::recipe tier = plain;
  tier.variance = ref::variance_kind::exact;
  CHECK(moves(tier, powers_of_two, {4, -2}) == std::vector<double>{0.5, -0.5});
  tier.bias = ref::bias_kind::none;  // V = g^2 / 4
  CHECK(moves(tier, powers_of_two, {4, -2}) == std::vector<double>{1, -1});
  tier.rising = true;  // beta2 = 0
  CHECK(moves(tier, powers_of_two, {4, -2}) == std::vector<double>{0.5, -0.5});
  ref::hyper h = powers_of_two;
  h.beta2_decay = 0.5;  // beta2 = 1 - 4^-0.5 in the fourth step: V = g^2 / 2
  CHECK(close(moves(tier, h, {4}, 3)[0], std::sqrt(0.5)));
  tier.rising = false, tier.eps = ref::eps_kind::added, h.eps = 2;
  CHECK(moves(tier, h, {4, -2}) == std::vector<double>{0.5, -1.0 / 3});  // 4 / (2 + 2), 2 / (1 + 2)
}

TEST_CASE("transforms and clips are those worked out by hand", "[reference]") {
  ref::recipe tier = plain;
  tier.transform = ref::transform_kind::sign;
  CHECK(moves(tier, powers_of_two, {4, 0, -2}) == std::vector<double>{0.5, 0, -0.5});
  tier.clip = ref::clip_kind::share_matrix;  // two of three
  CHECK(moves(tier, powers_of_two, {4, 0, -2}) == std::vector<double>{0.75, 0, -0.75});
  tier.transform = ref::transform_kind::cautious, tier.momentum = kind::heavy_ball;
  auto t = row_of(3);
  moves(tier, powers_of_two, t, {4, 4, 0});
  // M = 2 + 8, 2 - 1 and 0 + 0: the second disagrees with its gradient, a third is left.
  CHECK(moves(tier, powers_of_two, t, {8, -1, 0}) == std::vector<double>{15, 0, 0});
  tier = plain, tier.clip = ref::clip_kind::rms_matrix;  // RMS 5
  CHECK(close(moves(tier, powers_of_two, {1, -7})[1], 0.5 * -7 / 5));
  tier.clip = ref::clip_kind::unit_norm;
  CHECK(std::fabs(moves(tier, powers_of_two, {3, 4})[0] - 0.3) < 1e-7);
}

TEST_CASE("rates, scales and decays are those worked out by hand", "[reference]") {
  ref::recipe tier = plain;
  tier.rate = ref::rate_kind::relative;
  CHECK(moves(tier, powers_of_two, {4}, 99)[0] == 0.04);
  CHECK(moves(tier, powers_of_two, {4}, 39999)[0] == 0.02);  // 1 / 200
  tier.rate = ref::rate_kind::warm_up;
  CHECK(moves(tier, powers_of_two, {4}, 99)[0] == 4 * (1e-6 * 100));
  CHECK(moves(tier, powers_of_two, {4}, 39999)[0] == 0.02);
  tier = plain, tier.scale = ref::scale_kind::matrix;
  CHECK(moves(tier, powers_of_two, {4})[0] == 2);  // the parameter is 1
  ref::hyper h = powers_of_two;
  h.eps2 = 3, h.weight_decay = 0.25;
  CHECK(moves(tier, h, {4})[0] == 6);
  tier.scale = ref::scale_kind::none, tier.decay = ref::decay_kind::l2;
  CHECK(moves(tier, h, {4, 4}) == std::vector<double>{0.5 * 4.25, 0.5 * 4.5});
  tier.maximize = true;
  CHECK(moves(tier, h, {4, 4}) == std::vector<double>{0.5 * -3.75, 0.5 * -3.5});
  tier.decay = ref::decay_kind::fused;
  auto t = row_of(2);
  auto const trace = ref::step<double>(tier, h, t, {4, 4}, {}, 1.0, testing::fp32_format);
  CHECK(trace.before[1].value == 2 * 0.875 + 2);
}
