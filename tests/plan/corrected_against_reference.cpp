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

constexpr auto factored = ref::variance_kind::factored;
constexpr auto no_variance = ref::variance_kind::none;
constexpr auto ema = ref::momentum_kind::ema;
constexpr auto added = ref::eps_kind::added;
constexpr auto unclipped = ref::clip_kind::none;
constexpr auto l2 = ref::decay_kind::l2;

constexpr ref::recipe corrected_backbone{.momentum = ema, .variance = factored};
constexpr ref::recipe corrected_experts{.variance = factored};
constexpr ref::recipe corrected_router{};
constexpr ref::recipe published_backbone{.momentum = ema,
                                         .variance = factored,
                                         .eps = ref::eps_kind::floored,
                                         .clip = ref::clip_kind::rms_tensor,
                                         .decay = ref::decay_kind::rounded,
                                         .tensor_step = true};
constexpr ref::recipe adamw{.momentum = ema, .eps = added, .clip = unclipped};
constexpr ref::recipe adam{.momentum = ema, .eps = added, .clip = unclipped, .decay = l2};
constexpr ref::recipe rmsprop{
    .eps = added, .bias = ref::bias_kind::none, .clip = unclipped, .decay = l2};
constexpr ref::recipe sgd{.momentum = ref::momentum_kind::heavy_ball,
                          .variance = no_variance,
                          .clip = unclipped,
                          .decay = l2};
constexpr ref::recipe sgd_nesterov{.momentum = ref::momentum_kind::nesterov_heavy_ball,
                                   .variance = no_variance,
                                   .clip = unclipped,
                                   .decay = l2};
constexpr ref::recipe lion{.momentum = ref::momentum_kind::lion,
                           .variance = no_variance,
                           .transform = ref::transform_kind::sign,
                           .clip = unclipped};
constexpr ref::recipe adafactor{.variance = factored,
                                .bias = ref::bias_kind::none,
                                .rising = true,
                                .clip = ref::clip_kind::rms_tensor,
                                .rate = ref::rate_kind::relative,
                                .scale = ref::scale_kind::tensor,
                                .tensor_step = true};
constexpr ref::recipe adafactor_with_momentum{.momentum = ema,
                                              .of_update = true,
                                              .variance = factored,
                                              .bias = ref::bias_kind::none,
                                              .rising = true,
                                              .clip = ref::clip_kind::rms_tensor,
                                              .rate = ref::rate_kind::relative,
                                              .scale = ref::scale_kind::tensor,
                                              .tensor_step = true};

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
  INFO("largest error " << largest << " of its bound");
  CHECK(largest > 0.1);
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

TEST_CASE("Adam with L2 decay follows the formulas", "[reference]") {
  run<tieropt::adam::tensor, float, float>(adam, {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("RMSprop follows the formulas", "[reference]") {
  run<tieropt::rmsprop::tensor, float, float>(rmsprop, {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("SGD with a heavy ball follows the formulas", "[reference]") {
  run<tieropt::sgd::tensor, float, float>(sgd, {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("SGD with Nesterov's momentum follows the formulas", "[reference]") {
  run<tieropt::sgd::nesterov, tieropt::bf16, float>(sgd_nesterov, {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("Lion follows the formulas", "[reference]") {
  run<tieropt::lion::tensor, float, tieropt::bf16>(lion, {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("Adafactor follows the formulas", "[reference]") {
  run<tieropt::adafactor::tensor, float, float>(adafactor, {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("Adafactor with momentum follows the formulas", "[reference]") {
  run<tieropt::adafactor::with_momentum, float, float>(adafactor_with_momentum,
                                                       {1e-12, 1e-5, 1, 1e6});
}

TEST_CASE("rows without a gradient stay in bounds next to huge ones", "[reference]") {
  // The row ratio of a dead row is eps / mean(g^2): 1e-42 and below for these gradients.
  run<tieropt::skewadam::corrected::experts, tieropt::bf16, tieropt::bf16>(corrected_experts,
                                                                           {1e6, 1e9});
}
