// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The scalars of a step are formed in double and rounded once.

#include <tieropt/kernel/begin_step.hpp>
#include <tieropt/kernel/sums.hpp>
#include <tieropt/policy/adamw.hpp>
#include <tieropt/policy/skewadam.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <limits>

namespace {

template <class Tier>
using parts = tieropt::tier_parts<Tier, float, float>;
template <class Tier>
auto derive(tieropt::hyper const& h, tieropt::step_inputs const& in, std::int64_t k) {
  return tieropt::derive_scalars<parts<Tier>>(h, in, k, 17);
}

using published = tieropt::skewadam::published::backbone;
using corrected = tieropt::skewadam::corrected::backbone;

/// Within the rounding to float and the errors of powers.
bool near(double a, double b) { return std::fabs(a - b) <= 1e-6 * b; }

}  // namespace

TEST_CASE("1 - beta does not come from a rounded beta", "[kernel]") {
  auto const s = derive<corrected>({.beta1 = 0.9, .beta2 = 0.999}, {}, 1);
  CHECK(s.beta1 == 0.9f);
  CHECK(s.one_minus_beta1 == static_cast<float>(1 - 0.9));
  CHECK(s.beta2 == 0.999f);
  CHECK(s.one_minus_beta2 == static_cast<float>(1 - 0.999));
  CHECK(s.one_minus_beta2 != 1 - 0.999f);
}

TEST_CASE("bias corrections follow the step", "[kernel]") {
  for (std::int64_t const k : {1, 2, 10, 1000, 100000}) {
    double const left1 = 1 - std::pow(0.9, static_cast<double>(k));
    double const left2 = 1 - std::pow(0.999, static_cast<double>(k));
    auto const c = derive<corrected>({}, {}, k), p = derive<published>({}, {}, k);
    INFO("step " << k);
    CHECK(near(c.correction2, 1 / left2));
    CHECK(near(c.root_correction2, 1 / std::sqrt(left2)));
    CHECK(near(c.update_gain, 1 / left1));
    CHECK(near(p.update_gain, std::sqrt(left2) / left1));
    CHECK(c.next_step == k);
  }
}

TEST_CASE("decay, learning rate and the gradient's factor are single numbers", "[kernel]") {
  auto const s = derive<corrected>({.lr = 3e-4, .clip = 0.5, .weight_decay = 0.05},
                                   {.grad_scale = 1024, .clip_factor = 0.5}, 1);
  CHECK(s.lr == 3e-4f);
  CHECK(s.decay == static_cast<float>(1 - 3e-4 * 0.05));
  CHECK(s.clip == 0.5f);
  CHECK(s.grad_gain == 0x1p-11f);
}

TEST_CASE("eps is the part's own default unless it is given", "[kernel]") {
  CHECK(derive<corrected>({}, {}, 1).eps == 1e-30f);
  CHECK(derive<published>({}, {}, 1).eps == 1e-8f);
  CHECK(derive<tieropt::adamw::tensor>({}, {}, 1).eps == 1e-8f);
  CHECK(derive<published>({.eps = 1e-4}, {}, 1).eps == 1e-4f);
}

TEST_CASE("a step is active unless it found an infinity or a number is not finite", "[kernel]") {
  double const bad = std::numeric_limits<double>::quiet_NaN();
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(derive<corrected>({}, {}, 1).active);
  CHECK_FALSE(derive<corrected>({}, {.found_inf = 1}, 1).active);
  CHECK_FALSE(derive<corrected>({.lr = bad}, {}, 1).active);
  CHECK_FALSE(derive<corrected>({.beta1 = infinity}, {}, 1).active);
  CHECK_FALSE(derive<corrected>({.beta2 = bad}, {}, 1).active);
  CHECK_FALSE(derive<corrected>({.eps = bad}, {}, 1).active);
  CHECK_FALSE(derive<corrected>({.clip = bad}, {}, 1).active);
  CHECK_FALSE(derive<corrected>({.weight_decay = -infinity}, {}, 1).active);
  CHECK_FALSE(derive<corrected>({}, {.grad_scale = bad}, 1).active);
  CHECK_FALSE(derive<corrected>({}, {.clip_factor = infinity}, 1).active);
}

TEST_CASE("the rounding key names seed, tensor and step", "[kernel]") {
  auto const key = [](std::uint64_t seed, std::uint64_t tensor, std::int64_t k) {
    return tieropt::derive_scalars<parts<corrected>>({}, {.seed = seed}, k, tensor).rounding_key;
  };
  CHECK(key(1, 2, 3) == key(1, 2, 3));
  CHECK(key(1, 2, 3) != key(2, 2, 3));
  CHECK(key(1, 2, 3) != key(1, 3, 3));
  CHECK(key(1, 2, 3) != key(1, 2, 4));
}

TEST_CASE("the tree of neighbours pairs 1 with 2, 3 with 4, and their sums", "[kernel]") {
  // Values whose sum depends on the order: ((1 + e) + (e + e)) keeps what ((1 + e) + e) + e loses.
  float const e = 0x1p-24f;
  tieropt::tree_sum<float> sum;
  CHECK(sum.total() == 0.0f);
  for (float const x : {1.0f, e, e, e}) sum.push(x);
  CHECK(sum.total() == 1.0f + 0x1p-23f);
  CHECK(((1.0f + e) + e) + e == 1.0f);
  float const eight[] = {1.0f, e, e, e, 0, 0, 0, 0};
  CHECK(tieropt::tree8(eight, 1) == 1.0f + 0x1p-23f);
}
