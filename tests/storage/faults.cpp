// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What rests because of a gradient rests bit for bit: by magnitude, by policy, across ranges.

#include "support/catch.hpp"
#include "support/storage_engine.hpp"

#include <cmath>
#include <limits>

namespace {

using namespace testing::stored;
using namespace testing::stored::names;

constexpr row exact_row(fault_kind f) { return {f32, f32, f32, v32, own, pass1, rn, rn, f}; }
constexpr row factored_row(fault_kind f) { return {f32, f32, soft, rc32, own, clip, rn, rn, f}; }

constexpr std::int64_t E = 3, R = 5, C = 41, size = E * R * C;
constexpr std::int64_t place_of_it = R * C + 9;  // in the second matrix

double ordinary(std::int64_t i, int step) {
  return 1e-2 * bell(21 + static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(i));
}

/// A scenario of one tensor with two steps before the one that matters.
scenario seasoned(row_case const& c, std::function<double(std::int64_t, int)> gradient) {
  scenario s = make_scenario(c, 2, 77);
  s.tensors.clear(), s.dense.clear();
  s.fault_step = s.found_inf_step = -1;
  s.in = {}, s.where = place::serial, s.how = {};
  s.hyper = {.lr = 0.01,
             .beta1 = 0.9,
             .beta2 = 0.99,
             .eps = c.what.inside_eps() ? 1e-30 : 1e-8,
             .clip = 1,
             .weight_decay = 0.1};
  add_tensor(c.what, s, shape::of({E, R, C}), 31);
  s.gradient = [gradient](std::size_t, std::int64_t i, int step) { return gradient(i, step); };
  return s;
}

struct outcome {
  std::vector<bool> moved;  // by matrix, in the third step
  counts faults;
};

/// What becomes of one odd gradient in the third step.
outcome with_odd(row_case const& c, double odd) {
  outcome o;
  std::vector<std::uint64_t> before;
  scenario s = seasoned(c, [odd](std::int64_t i, int step) {
    return step == 2 && i == place_of_it ? odd : ordinary(i, step);
  });
  s.before_step = [&](scenario& now, int step) {
    if (step == 2) before = now.tensors[0].param.bits();
  };
  report r;
  INFO("fault policy " << static_cast<int>(c.what.fault) << ", gradient " << odd);
  CHECK(run_scenario(c, s, r) == "");
  auto const after = s.tensors[0].param.bits();
  for (std::int64_t e = 0; e < E; ++e) {
    bool moved = false;
    for (std::int64_t i = e * R * C; i < (e + 1) * R * C; ++i) {
      if (i == place_of_it) continue;
      moved = moved || before[static_cast<std::size_t>(i)] != after[static_cast<std::size_t>(i)];
    }
    o.moved.push_back(moved);
  }
  o.faults = r.faults;
  return o;
}

template <row Row>
row_case single() {
  static constexpr row what = Row;
  return {what, &make_runner<Row, false>, false};
}

double const inf = std::numeric_limits<double>::infinity();
double const faulty[] = {std::nan(""), inf, -inf, 0x1p64, -0x1p64, 0x1p100};
double const sound[] = {0x1p63, -0x1p63, 0x1.fffffep63, 1, 0x1p-63, 0x1p-70, 0x1p-149, 0};

template <row Row>
void check_policy() {
  auto const c = single<Row>();
  for (double const x : sound) {
    auto const o = with_odd(c, x);
    INFO("gradient " << x);
    CHECK(o.moved == std::vector<bool>{true, true, true});
    CHECK(o.faults == counts{});
  }
  for (double const x : faulty) {
    auto const o = with_odd(c, x);
    INFO("gradient " << x);
    CHECK(o.moved[0] == (Row.fault != fault_kind::step));
    CHECK(o.moved[1] == (Row.fault <= fault_kind::element));
    CHECK(o.faults == counts{Row.fault == fault_kind::counted || Row.fault == fault_kind::element,
                             Row.fault == fault_kind::matrix, Row.fault == fault_kind::step});
  }
}

}  // namespace

TEST_CASE("a faulty gradient rests what its policy says, and nothing else does", "[faults]") {
  check_policy<exact_row(cntd)>();
  check_policy<exact_row(elem)>();
  check_policy<exact_row(matr)>();
  check_policy<exact_row(stp)>();
}

TEST_CASE("a faulty gradient in a factored, clipped tier too", "[faults]") {
  check_policy<factored_row(elem)>();
  check_policy<factored_row(matr)>();
  check_policy<factored_row(stp)>();
}

TEST_CASE("gradients from 2^-70 to 2^63 are no faults, side by side", "[faults]") {
  auto const all = [](std::int64_t i, int step) {
    return std::ldexp(i % 2 == 0 ? 1.0 : -1.0, static_cast<int>((i * 37 + step) % 134) - 70);
  };
  report r;
  for (auto const& c :
       {single<exact_row(elem)>(), single<exact_row(matr)>(), single<exact_row(stp)>()}) {
    scenario s = seasoned(c, all);
    s.hyper.eps = 1e-30;
    INFO("fault policy " << static_cast<int>(c.what.fault));
    CHECK(run_scenario(c, s, r) == "");
  }
}

TEST_CASE("sums of squares that overflow rest the matrix, not the element", "[faults]") {
  auto const many = [](std::int64_t i, int step) {
    return step == 2 && i >= R * C && i < R * C + 8 ? 0x1p63 : ordinary(i, step);
  };
  report element, matrix, whole;
  auto const a = single<exact_row(elem)>(), b = single<exact_row(matr)>(),
             c = single<exact_row(stp)>();
  scenario s = seasoned(a, many), t = seasoned(b, many), u = seasoned(c, many);
  CHECK(run_scenario(a, s, element) == "");
  CHECK(run_scenario(b, t, matrix) == "");
  CHECK(run_scenario(c, u, whole) == "");
  CHECK(element.faults == counts{});
  CHECK(matrix.faults == counts{0, 1, 0});
  CHECK(whole.faults == counts{0, 0, 1});
}

TEST_CASE("skip_step of one range rests all ranges of the plan, bit for bit", "[faults]") {
  static constexpr row first = exact_row(stp);
  static constexpr row second{bf16, bf16, soft, root, cry, clip, sr, sr, prop};
  static constexpr row third{bf16, f32, m0, rc16, rem, glob, sr, sr, matr};
  using tiers = tieropt::tier_policy<row_tier<first>, row_tier<second>, row_tier<third>>;
  for (auto const how : {tieropt::streaming(), tieropt::cache_resident(1 << 12)}) {
    scenario s;
    for (row const* r : {&first, &second, &third}) add_tensor(*r, s, shape::of({E, R, C}), 41);
    auto& all = s.tensors;
    std::vector a{bind<row_tier<first>, float, float>(all[0])};
    std::vector b{bind<row_tier<second>, tieropt::bf16, tieropt::bf16>(all[1])};
    std::vector c{bind<row_tier<third>, tieropt::bf16, float>(all[2])};
    auto const plan = tieropt::make_plan<tiers>(how, a, b, c);
    REQUIRE(plan.has_value());
    testing::scratch workspace{plan->workspace_bytes()};
    tieropt::serial_executor const x;
    REQUIRE(tieropt::prepare(x, *plan, workspace));
    kind const grads[] = {f32, bf16, f32};
    auto const step = [&](int k, int faulty_range, double limit, int found_inf) {
      for (int t = 0; t < 3; ++t) {
        for (std::int64_t i = 0; i < size; ++i) {
          bool const odd = t == faulty_range && i == place_of_it;
          all[t].grad.put(i, encode(grads[t], odd ? std::nan("") : ordinary(i, k)));
        }
      }
      tieropt::hyper const hypers[] = {{.lr = 0.01, .weight_decay = 0.1}};
      REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers,
                               {.seed = 3, .found_inf = found_inf, .max_grad_norm = limit}));
      std::vector<snapshot> bits;
      for (bundle& t : all) bits.push_back(all_bits(t));
      return bits;
    };
    auto const faults = [&](auto range) { return *tieropt::faults(*plan, workspace, range); };
    constexpr auto range = []<std::size_t I>() {
      return cuda::std::integral_constant<std::size_t, I>{};
    };
    auto const start = step(0, -1, 0, 0);
    CHECK(step(1, -1, 0, 1) == start);  // found_inf
    CHECK(step(1, 0, 0, 0) == start);   // the first range looks, and finds
    CHECK(faults(range.operator()<0>()).steps == 1);
    auto const next = step(1, 2, 0, 0);  // the third range rests one matrix of its own
    CHECK(next[0] != start[0]);
    CHECK(next[1] != start[1]);
    CHECK(next[2] != start[2]);
    CHECK(faults(range.operator()<2>()).matrices == 1);
    auto const later = step(2, 1, 0.5, 0);  // the second one does not look
    CHECK(later[0] != next[0]);
    CHECK(faults(range.operator()<0>()).steps == 1);
    double squares = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      double const g = decode(f32, all[2].grad.at(i));
      squares += g * g;
    }
    double const norm = *tieropt::grad_norm(*plan, workspace, range.operator()<2>());
    CHECK(std::fabs(norm - std::sqrt(squares)) <= 1e-5 * norm);
  }
}
