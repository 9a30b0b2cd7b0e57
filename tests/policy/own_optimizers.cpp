// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The optimizers that examples/optimizers adds, against their formulas in double.

#include "../../examples/optimizers/adagrad.hpp"
#include "../../examples/optimizers/grams.hpp"
#include "../../examples/optimizers/yogi.hpp"
#include "support/catch.hpp"
#include "support/model.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

/// One weight and its states.
struct weight {
  double p, m = 0, v = 0;
};

/// Steps a tier and, weight by weight, a formula f(weight, gradient, k).
template <class Tier, class F>
void compare(tieropt::hyper const& h, F const& f) {
  testing::model<Tier, float> m{{{3, 20, 70}, {37}}};
  m.hyper = h;
  for (auto& t : m.tensors) {
    std::vector<weight> want;
    for (double const p : t.param.values()) want.push_back({p});
    for (int k = 1; k <= 4; ++k) {
      t.new_gradient(k);
      auto const g = t.grad.values();
      std::vector all{t.whole()};
      REQUIRE(testing::step_of<Tier>(testing::executor{}, all, h, {}) == "");
      auto const got = t.param.values();
      double longest = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        double const before = want[i].p;
        f(want[i], g[i], k);
        longest = std::fmax(longest, std::fabs(want[i].p - before));
      }
      for (std::size_t i = 0; i < got.size(); ++i) {
        // Of each step so far: ten or so roundings of the update (whose momentum may cancel, which
        // the longest one accounts for), two of the weight.
        double const bound = k * 0x1p-24 * (16 * longest + 2 * std::fabs(want[i].p));
        INFO("step " << k << ", element " << i);
        REQUIRE(std::fabs(got[i] - want[i].p) <= bound);
      }
    }
  }
}

}  // namespace

TEST_CASE("Adagrad, as a user adds it", "[policy]") {
  compare<own::adagrad>({.lr = 1e-2, .eps = 1e-10, .weight_decay = 0.1},
                        [](weight& w, double g, int) {
                          g += 0.1 * w.p;
                          w.v += g * g;
                          w.p -= 1e-2 * g / (std::sqrt(w.v) + 1e-10);
                        });
}

TEST_CASE("Yogi, as a user adds it", "[policy]") {
  compare<own::yogi>({.lr = 1e-2, .eps = 1e-3}, [](weight& w, double g, int) {
    w.m = 0.9 * w.m + 0.1 * g;
    double const d = w.v - g * g;
    w.v -= (1 - 0.999) * (d > 0 ? 1 : d < 0 ? -1 : 0) * g * g;
    w.p -= 1e-2 * w.m / (std::sqrt(w.v) + 1e-3);
  });
}

TEST_CASE("Grams, as a user adds it", "[policy]") {
  compare<own::grams>(
      {.lr = 1e-2, .eps = 1e-8, .weight_decay = 0.1}, [](weight& w, double g, int k) {
        w.m = 0.9 * w.m + 0.1 * g;
        w.v = 0.999 * w.v + 0.001 * g * g;
        double const u =
            w.m / (1 - std::pow(0.9, k)) / (std::sqrt(w.v / (1 - std::pow(0.999, k))) + 1e-8);
        double const sign = g > 0 ? 1 : g < 0 ? -1 : 0;
        w.p = w.p * (1 - 1e-2 * 0.1) - 1e-2 * sign * std::fabs(u);
      });
}
