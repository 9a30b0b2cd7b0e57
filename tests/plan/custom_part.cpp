// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A momentum and an element type of a user's own run through every pass.

#include "support/catch.hpp"
#include "support/model.hpp"
#include "support/own_parts.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

TEST_CASE("a momentum of a user's own is measured and applied alike", "[custom]") {
  // eps = 1 floors the denominator to 1: the update is the sign, its RMS at most 1.
  testing::model<testing::signs, float> m{{{9, 11}, {5}}};
  m.hyper = {.lr = 0.25, .beta1 = 0.5, .beta2 = 0, .eps = 1};
  auto const before = m;
  REQUIRE(m.run(testing::executor{}, 2) == "");
  for (std::size_t i = 0; i < m.tensors.size(); ++i) {
    auto t = before.tensors[i];
    std::vector<float> momentum(static_cast<std::size_t>(t.param.size()));
    for (int k = 0; k < 2; ++k) {
      t.new_gradient(k);
      for (std::int64_t j = 0; j < t.param.size(); ++j) {
        float& mean = momentum[static_cast<std::size_t>(j)];
        mean = std::fma(0.5f, mean, 0.5f * t.grad[j]);
        t.param[j] -= mean < 0 ? -0.25f : mean > 0 ? 0.25f : 0.0f;
      }
    }
    INFO("tensor " << i);
    CHECK(m.tensors[i].param == t.param);
    for (std::int64_t j = 0; j < t.param.size(); ++j) {
      REQUIRE(m.tensors[i].momentum[j] == momentum[static_cast<std::size_t>(j)]);
    }
  }
}

TEST_CASE("a 16-bit type of a framework rounds like the library's", "[custom]") {
  using tier = tieropt::skewadam::corrected::experts;
  using testing::framework_bf16;
  testing::owned_tensor<tier, tieropt::bf16, tieropt::bf16> ours{{2, 7, 9}, 3},
      theirs{{2, 7, 9}, 3};
  ours.new_gradient(0);
  theirs.new_gradient(0);
  std::vector mine{ours.whole()};
  auto const b = theirs.whole();
  std::vector<tieropt::bound_tensor<tier, framework_bf16>> own(1);
  own[0].param = tieropt::view(reinterpret_cast<framework_bf16*>(theirs.param.data()), 2, 7, 9);
  own[0].grad = tieropt::view(reinterpret_cast<framework_bf16 const*>(theirs.grad.data()), 2, 7, 9);
  own[0].variance = b.variance;
  own[0].step = b.step;
  own[0].key = b.key;
  testing::executor const x;
  REQUIRE(testing::step_of<tier>(x, mine, {.lr = 0.1}, {.seed = 2}) == "");
  REQUIRE(testing::step_of<tier>(x, own, {.lr = 0.1}, {.seed = 2}) == "");
  CHECK(ours.difference(theirs) == "");
}
