// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Idle matrices make up for the decays that they missed, and nothing else of them changes.

#include "support/catch.hpp"
#include "support/storage_engine.hpp"

#include <cmath>

namespace {

using namespace testing::stored;
using namespace testing::stored::names;

constexpr row plain{f32, f32, m0, rc32, own, pass1, rn, rn, prop};
constexpr row drawn{bf16, f32, m0, v32, own, clip, sr, rn, prop};
constexpr row split_row{bf16, bf16, m0, v32, cry, pass1, sr, rn, matr};

constexpr std::int64_t R = 4, C = 37, per_matrix = R * C;
constexpr testing::reference::hyper h{.lr = 0.02, .eps = 1e-8, .weight_decay = 0.1};

/// A tensor of three matrices; the second is idle for some steps, then all are.
template <row Row>
struct idle {
  static constexpr row what = Row;
  row_case const c{what, &make_runner<Row, false>, false};
  scenario s;
  std::unique_ptr<runner> run;

  explicit idle(int steps) {
    s.hyper = h;
    add_tensor(what, s, shape::of({3, R, C}), 51);
    tensor().masked = tensor().counts_missed = true;
    run = c.make(s.tensors, {}, place::serial);
    REQUIRE(run->prepare() == "");
    step(0, true, 1e-2);
    for (int k = 1; k <= steps; ++k) step(k, false, 1e-2);
  }
  bundle& tensor() { return s.tensors[0]; }
  void step(int k, bool all, double magnitude) {
    bundle& b = tensor();
    for (std::int64_t i = 0; i < b.grad.size(); ++i) {
      double const x =
          magnitude * bell(61 + static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(i));
      b.grad.put(i, encode(what.grad, x));
    }
    for (std::int64_t e = 0; e < 3; ++e) b.active.put(e, all || e != 1);
    REQUIRE(run->step(h, {}, 9) == "");
  }
  std::vector<double> weights() {
    std::vector<double> all;
    for (auto const& w : tensor_of<double>(what, tensor()).weight) all.push_back(w.value);
    return all;
  }
  /// Whether the second matrix went from `before` to before x (1 - lr wd)^n, rounded once.
  void check(std::vector<double> const& before, int n) {
    auto const after = weights();
    bool const nearest = what.nearest || what.master != master_kind::none;
    kind const k = what.master == master_kind::none ? what.param : f32;
    double const factor = std::pow(1 - h.lr * h.weight_decay, n);
    std::int64_t wrong = 0, moved = 0;
    for (std::size_t i = per_matrix; i < 2 * per_matrix; ++i) {
      double const want = before[i] * factor, slack = std::fabs(want) * 0x1p-23;
      wrong += may_hold(k, after[i], want - slack, want + slack, nearest) ? 0 : 1;
      moved += after[i] != before[i] ? 1 : 0;
    }
    INFO(n << " decays");
    CHECK(wrong == 0);
    CHECK(moved > 0);
    CHECK(tensor().missed.raw(1) == 0);
  }
};

template <row Row>
void check_catch_up() {
  for (int const n : {1, 7, 200}) {
    idle<Row> t{n};
    auto const before = t.weights();
    snapshot const bits = all_bits(t.tensor());
    CHECK(t.tensor().missed.raw(1) == static_cast<std::uint64_t>(n));
    CHECK(t.tensor().step.raw(1) == 1);
    CHECK(t.tensor().step.raw(0) == static_cast<std::uint64_t>(n + 1));
    SECTION("by catch_up, after " + std::to_string(n)) {
      REQUIRE(t.run->catch_up(h, 9) == "");
      t.check(before, n);
      auto const after = t.weights();
      for (std::size_t i = 0; i < after.size(); ++i) {
        if (i / per_matrix != 1) REQUIRE(after[i] == before[i]);
      }
      CHECK(t.tensor().exact.bits() == bits[5]);
      CHECK(t.tensor().row.bits() == bits[3]);
      CHECK(t.tensor().step.bits() == bits[9]);
      auto const done = all_bits(t.tensor());
      REQUIRE(t.run->catch_up(h, 9) == "");
      CHECK(difference(t.tensor(), done) == "");  // nothing is left to make up for
    }
    SECTION("by the next step, after " + std::to_string(n)) {
      t.step(n + 1, true, 0);  // a gradient of zeros moves nothing
      t.check(before, n + 1);
      CHECK(t.tensor().step.raw(1) == 2);
    }
  }
}

}  // namespace

TEST_CASE("an idle matrix makes up for missed decays", "[catch_up]") { check_catch_up<plain>(); }
TEST_CASE("an idle matrix makes up for missed decays with one random rounding", "[catch_up]") {
  check_catch_up<drawn>();
}
TEST_CASE("an idle matrix of split weights makes up for missed decays", "[catch_up]") {
  check_catch_up<split_row>();
}
