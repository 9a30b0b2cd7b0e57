// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Views that start off alignment, with gaps, of odd widths: the bits of dense ones on the host.

#include "support/catch.hpp"
#include "support/stage.hpp"

#include <cstdint>
#include <vector>

namespace {

using backbone = tieropt::skewadam::corrected::backbone;
using published = tieropt::skewadam::published::experts;
using adamw = tieropt::adamw::tensor;
using testing::layout;
using tieropt::bf16;

template <class Tier, class Param, class Grad>
void run(testing::scenario const& s) {
  INFO("extents " << Catch::Detail::stringify(s.extents) << ", layouts "
                  << static_cast<int>(s.param_layout) << static_cast<int>(s.grad_layout)
                  << static_cast<int>(s.state_layout) << ", shifted "
                  << static_cast<int>(s.shifted));
  CHECK(testing::run_against_host<Tier, Param, Grad>(s) == "");
}

testing::scenario of(std::vector<std::int64_t> const& extents, layout how = layout::row_major) {
  testing::scenario s;
  s.extents = extents;
  s.param_layout = s.grad_layout = s.state_layout = how;
  s.hyper = {.lr = 0.1, .eps = -1, .weight_decay = 0.1};
  s.steps = 2;
  s.seed = 20261129;
  return s;
}

/// Every buffer in turn starts one element late; widths for the vector path and for ragged ends.
template <class Tier, class Param, class Grad>
void shift_each() {
  for (auto const& extents :
       std::vector<std::vector<std::int64_t>>{{3, 20, 512}, {2, 17, 1288}, {3, 9, 257}, {2048}}) {
    for (int p = 0; p < testing::n_parts; ++p) {
      auto s = of(extents);
      s.shifted = static_cast<testing::part>(p);
      s.active = Tier::step_scope == tieropt::scope::tensor ? 0 : 2;
      run<Tier, Param, Grad>(s);
    }
  }
}

template <class Tier, class Param, class Grad>
void take_odd_widths() {
  for (std::int64_t const n : {1, 7, 31, 33, 255, 257, 1023, 1025, 2047, 3000}) {
    for (auto const how : {layout::row_major, layout::pitched, layout::padded, layout::column_major,
                           layout::strided}) {
      run<Tier, Param, Grad>(of({5, n}, how));
      run<Tier, Param, Grad>(of({1, n}, how));
      run<Tier, Param, Grad>(of({n, 1}, how));
      run<Tier, Param, Grad>(of({n}, how));
    }
  }
}

/// A layout of one buffer beside dense ones: every operand has a path of its own.
template <class Tier, class Param, class Grad>
void mix_layouts() {
  for (int how = 0; how < testing::n_layouts; ++how) {
    auto const other = static_cast<layout>(how);
    auto s = of({2, 19, 1296});
    s.param_layout = other;
    run<Tier, Param, Grad>(s);
    s = of({2, 19, 1296});
    s.grad_layout = other;
    run<Tier, Param, Grad>(s);
    s = of({2, 19, 1296});
    s.state_layout = other;
    run<Tier, Param, Grad>(s);
  }
}

}  // namespace

TEST_CASE("a factored tier takes views off alignment, with gaps, of odd widths", "[views]") {
  shift_each<backbone, bf16, bf16>();
  take_odd_widths<backbone, bf16, bf16>();
  mix_layouts<backbone, bf16, bf16>();
}

TEST_CASE("a tensor-wide tier takes views off alignment, with gaps, of odd widths", "[views]") {
  shift_each<published, bf16, bf16>();
  mix_layouts<published, bf16, bf16>();
}

TEST_CASE("an exact tier takes views off alignment, with gaps, of odd widths", "[views]") {
  shift_each<adamw, bf16, float>();
  take_odd_widths<adamw, bf16, float>();
  mix_layouts<adamw, bf16, float>();
}

TEST_CASE("rows of a vocabulary's width have the host's bits", "[views]") {
  auto s = of({128, 50257});
  s.steps = 1;
  run<backbone, bf16, bf16>(s);
}
