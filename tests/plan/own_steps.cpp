// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Matrices of one tensor that are at different steps, under what the tensor shares.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

struct unclipped : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::no_variance;
  using clip = tieropt::no_clip;
};
struct clipped : unclipped {
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
};
struct floored : unclipped {
  using variance = tieropt::exact_variance<float>;
  using eps = tieropt::floored_eps;
};
struct floored_clipped : floored {
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
};

/// A step of two matrices, the first at step 1, the second at step 101. @return the measured level
template <class Tier>
double step(testing::model<Tier, float>& m, double clip) {
  auto& t = m.tensors[0];
  t.step[1] = 100;
  t.grad.fill([](std::int64_t) { return 1.0; });
  std::vector all{t.whole()};
  auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(all);
  REQUIRE(plan.has_value());
  testing::scratch workspace{plan->workspace_bytes()};
  testing::executor const x;
  tieropt::hyper const hypers[] = {{.lr = 0.1, .clip = clip}};
  REQUIRE(tieropt::prepare(x, *plan, workspace));
  REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers));
  CHECK(t.step[0] == 1);
  CHECK(t.step[1] == 101);
  if constexpr (Tier::clip::measures) {
    constexpr cuda::std::integral_constant<std::size_t, 0> range{};
    return testing::read(tieropt::update_rms(*plan, workspace, range, 0));
  } else {
    return 0;
  }
}

}  // namespace

TEST_CASE("a clip of the tensor leaves each matrix its own correction", "[plan]") {
  testing::model<unclipped, float> a{{{2, 20, 70}}};
  testing::model<clipped, float> b{{{2, 20, 70}}};
  step(a, 1);
  double const rms = step(b, 1e9);
  CHECK(a.difference(b) == "");
  // (1 - beta1) g / (1 - beta1^k): 1 in the first matrix, 0.1 in the second.
  double const second = 0.1 / (1 - std::pow(0.9, 101));
  CHECK(std::fabs(rms - std::sqrt((1 + second * second) / 2)) < 1e-6);

  testing::model<floored, float> c{{{2, 20, 70}}};
  testing::model<floored_clipped, float> d{{{2, 20, 70}}};
  step(c, 1);
  step(d, 1e9);
  CHECK(c.difference(d) == "");
}
