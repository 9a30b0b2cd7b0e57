// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same bits for any tuning: groups of a block, elements of a lane.

#include "support/catch.hpp"
#include "support/model.hpp"
#include "support/own_parts.hpp"

namespace {

using testing::tuned;

std::vector<std::vector<int64_t>> const& mixed() {
  static std::vector<std::vector<int64_t>> const all{{128, 1024}, {2, 130, 261}, {1030}, {37, 5}};
  return all;
}

template <class Tier, class Param, class Grad>
testing::model<Tier, Param, Grad> stepped() {
  testing::model<Tier, Param, Grad> m{mixed()};
  REQUIRE(m.run(testing::executor{}, 2) == "");
  return m;
}

}  // namespace

TEST_CASE("a factored tier gives the same bits with 1, 2, 4 and 8 groups", "[invariance]") {
  using tier = tieropt::skewadam::corrected::backbone;
  using bf16 = tieropt::bf16;
  auto const usual = stepped<tier, bf16, bf16>();
  CHECK(usual.difference(stepped<tuned<tier, 1, 1>, bf16, bf16>()) == "");
  CHECK(usual.difference(stepped<tuned<tier, 2, 4>, bf16, bf16>()) == "");
  CHECK(usual.difference(stepped<tuned<tier, 4, 2>, bf16, bf16>()) == "");
}

TEST_CASE("an exact tier gives the same bits with 1 and 2 groups", "[invariance]") {
  using tier = tieropt::skewadam::corrected::router;
  auto const usual = stepped<tier, float, float>();
  CHECK(usual.difference(stepped<tuned<tier, 1, 4>, float, float>()) == "");
  CHECK(usual.difference(stepped<tuned<tier, 2, 1>, float, float>()) == "");
}
