// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The presets against the double reference, with gradients from tiny to huge.

#include "support/against_reference.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

namespace {

namespace ref = testing::reference;

constexpr ref::recipe corrected_backbone{.momentum = true, .factored = true};
constexpr ref::recipe corrected_experts{.factored = true};
constexpr ref::recipe corrected_router{};
constexpr ref::recipe published_backbone{.momentum = true,
                                         .factored = true,
                                         .eps = ref::eps_kind::floored,
                                         .clip = ref::clip_kind::tensor,
                                         .rounded_decay = true,
                                         .tensor_step = true};
constexpr ref::recipe adamw{
    .momentum = true, .eps = ref::eps_kind::added, .clip = ref::clip_kind::none};

/// Runs a preset over shapes, magnitudes and kinds of gradient.
template <class Tier, class Param, class Grad>
void run(ref::recipe const& recipe, std::vector<double> const& magnitudes) {
  double largest = 0;
  std::uint64_t seed = 20260105;
  std::vector<std::vector<int64_t>> const shapes{{37}, {19, 23}, {3, 17, 300}, {130, 5}};
  for (auto const& extents : shapes) {
    for (double const magnitude : magnitudes) {
      for (int const kind : {0, 2, 3}) {
        testing::scenario s;
        s.extents = extents;
        s.hyper = {.lr = 0.5, .eps = -1, .weight_decay = 0.1};
        s.magnitude = magnitude;
        s.grad_kind = kind;
        s.seed = ++seed;
        std::string const wrong =
            testing::run_against_reference<Tier, Param, Grad>(recipe, false, s, largest);
        INFO("rank " << extents.size() << ", gradients of " << magnitude << ", kind " << kind
                     << ", seed " << seed);
        CHECK(wrong == "");
      }
    }
  }
}

}  // namespace

TEST_CASE("the corrected backbone follows the formulas", "[reference]") {
  run<tieropt::skewadam::corrected::backbone, float, float>(corrected_backbone,
                                                            {1e-12, 1e-5, 1, 1e4});
}

TEST_CASE("the corrected experts follow the formulas", "[reference]") {
  run<tieropt::skewadam::corrected::experts, tieropt::bf16, tieropt::bf16>(corrected_experts,
                                                                           {1e-12, 1e-5, 1, 1e4});
}

TEST_CASE("the corrected router follows the formulas", "[reference]") {
  run<tieropt::skewadam::corrected::router, float, tieropt::bf16>(corrected_router,
                                                                  {1e-12, 1e-5, 1, 1e4});
}

TEST_CASE("the published backbone follows the formulas", "[reference]") {
  run<tieropt::skewadam::published::backbone, tieropt::bf16, float>(published_backbone,
                                                                    {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("AdamW follows the formulas", "[reference]") {
  run<tieropt::adamw::tensor, float, float>(adamw, {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("rows without a gradient stay in bounds next to huge ones", "[reference]") {
  // The row ratio of a dead row is eps / mean(g^2): 1e-42 and below for these gradients.
  run<tieropt::skewadam::corrected::experts, tieropt::bf16, tieropt::bf16>(corrected_experts,
                                                                           {1e6, 1e9});
}
