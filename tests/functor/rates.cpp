// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Schedules of betas and learning rates on exact numbers.

#include <tieropt/functor/orthogonal.hpp>
#include <tieropt/functor/rates.hpp>

#include "support/catch.hpp"

#include <cmath>

using tieropt::hyper;

TEST_CASE("constant betas are constant", "[functor]") {
  hyper const h{.beta1 = 0.5, .beta2 = 0.75};
  CHECK(tieropt::constant_betas::beta1(h, 9) == 0.5);
  CHECK(tieropt::constant_betas::beta2(h, 9) == 0.75);
  CHECK(tieropt::constant_betas::beta1_power(h, 3) == 0.125);
  CHECK(tieropt::constant_betas::beta2_power(h, 2) == 0.5625);
}

TEST_CASE("beta2 rises from 0 towards 1", "[functor]") {
  using betas = tieropt::rising_beta2;
  hyper const h{.beta1 = 0.5, .beta2_decay = 0.5};
  CHECK(betas::beta2(h, 1) == 0.0);
  CHECK(betas::beta2(h, 4) == 0.5);
  CHECK(betas::beta2(h, 64) == 0.875);
  CHECK(betas::beta2_power(h, 1) == 0.0);
  CHECK(betas::beta1(h, 4) == 0.5);
  CHECK(std::fabs(betas::beta2({}, 1000) - (1 - std::pow(1000.0, -0.8))) < 1e-15);
}

TEST_CASE("relative rates do not look at lr", "[functor]") {
  hyper const h{.lr = 123};
  CHECK(tieropt::given_rate::lr(h, 9) == 123);
  CHECK(tieropt::relative_rate::lr(h, 1) == 1e-2);
  CHECK(tieropt::relative_rate::lr(h, 10000) == 1e-2);
  CHECK(tieropt::relative_rate::lr(h, 1000000) == 1e-3);
  CHECK(tieropt::relative_rate_warmup::lr(h, 1) == 1e-6);
  CHECK(tieropt::relative_rate_warmup::lr(h, 100) == 1e-6 * 100);
  CHECK(tieropt::relative_rate_warmup::lr(h, 1000000) == 1e-3);
}

TEST_CASE("an orthogonal update is scaled by its shape", "[functor]") {
  // K. Jordan's: sqrt(max(1, rows / columns)). Moonlight's: 0.2 sqrt(max(rows, columns)).
  CHECK(tieropt::keller_jordan_scale::factor(16, 4) == 2.0);
  CHECK(tieropt::keller_jordan_scale::factor(4, 16) == 1.0);
  CHECK(tieropt::moonlight_scale::factor(16, 4) == 0.2 * 4.0);
  CHECK(tieropt::moonlight_scale::factor(4, 25) == 0.2 * 5.0);
}
