// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The host's bits from subnormals to infinities: nothing is flushed to zero, divided or rooted
/// approximately, whatever the compiler's flags.

#include "support/catch.hpp"
#include "support/stage.hpp"
#include "support/tier_rows.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace {

using testing::rows::device;

template <class Tier, class Param, class Grad>
void run_all() {
  for (auto const& extents :
       std::vector<std::vector<std::int64_t>>{{300}, {20, 1030}, {3, 40, 256}, {2, 130, 33}}) {
    for (int const kind : {0, 4, 5, 6}) {
      // The last: zeros of both signs, which a learning rate of zero leaves with a sign.
      for (auto const& [param, lr] : std::vector<std::pair<double, double>>{
               {0.25, 1.0}, {0.25, 0x1p-130}, {0x1p-140, 1.0}, {0x1p-140, 0x1p-130}, {0.0, 0.0}}) {
        testing::scenario s;
        s.extents = extents;
        s.grad_kind = kind;
        s.param_magnitude = param;
        s.hyper = {.lr = lr, .eps = -1, .weight_decay = 0.1};
        s.first_step = kind == 4 ? 3 : 0;
        s.steps = 2;
        s.seed = 20261130;
        INFO("extents " << Catch::Detail::stringify(extents) << ", gradients of kind " << kind
                        << ", parameters of " << param << ", lr " << lr);
        CHECK(testing::run_against_host<Tier, Param, Grad>(s) == "");
      }
    }
  }
}
template <int I>
void run_row() {
  constexpr auto row = device[I];
  run_all<testing::tier_of<row>, testing::element_of<row.param>, testing::element_of<row.grad>>();
}

}  // namespace

TEST_CASE("the backbone has the host's bits at every magnitude", "[magnitudes]") {
  run_all<tieropt::skewadam::corrected::backbone, float, float>();
  run_all<tieropt::skewadam::corrected::backbone, tieropt::bf16, tieropt::bf16>();
}

TEST_CASE("the published backbone has the host's bits at every magnitude", "[magnitudes]") {
  run_all<tieropt::skewadam::published::backbone, float, float>();
}

TEST_CASE("AdamW has the host's bits at every magnitude", "[magnitudes]") {
  run_all<tieropt::adamw::tensor, float, float>();
}

TEST_CASE("tiers with operands in double have the host's bits at every magnitude", "[magnitudes]") {
  run_row<0>();   // experts, double param
  run_row<13>();  // factored in double, double grad
}

TEST_CASE("an exact tier in 16 bits has the host's bits at every magnitude", "[magnitudes]") {
  run_row<12>();
}

TEST_CASE("signs and masks have the host's bits at every magnitude", "[magnitudes]") {
  run_row<2>();  // the sign of a momentum alone
  run_row<5>();  // its mask
}
