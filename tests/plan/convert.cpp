// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of one tier as state of another, next to plain loops.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <tieropt/plan/convert.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using tieropt::bf16;
using tieropt::errc;
using tieropt::int64_t;
using tieropt::view;
using int8 = tieropt::softsign_int8;
using uint8 = tieropt::root_uint8;

struct exact : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
};
struct factored : tieropt::tier {
  using momentum = tieropt::heavy_ball_momentum<double>;
  using variance = tieropt::factored_variance<double>;
  using vector_variance = tieropt::exact_variance<double>;
};
struct factored_bf16 : tieropt::tier {
  using variance = tieropt::factored_variance<bf16>;
  using vector_variance = tieropt::exact_variance<bf16>;
  using state_rounding = tieropt::nearest_rounding;
};
struct coded : tieropt::tier {
  using momentum = tieropt::ema_momentum<int8>;
  using variance = tieropt::exact_variance<uint8>;
  using state_rounding = tieropt::nearest_rounding;
};
struct coded_at_random : coded {
  using state_rounding = tieropt::stochastic_rounding;
};
struct bare : tieropt::tier {
  using variance = tieropt::no_variance;
};
struct nearest : bare {
  using rounding = tieropt::nearest_rounding;
};
template <class Master>
struct with_master : bare {
  using master = Master;
};
struct counted_once : bare {
  static constexpr tieropt::scope step_scope = tieropt::scope::tensor;
};

tieropt::serial_executor const executor;

/// A tensor with every buffer that its tier wants.
template <class Tier, class Param = float>
struct tensor {
  using bound_type = tieropt::bound_tensor<Tier, Param, float>;
  using need = tieropt::needs<typename bound_type::parts>;
  template <class State>
  using code_of = tieropt::stored_element_t<
      std::conditional_t<std::is_same_v<State, tieropt::none>, float, State>>;
  using momentum_type = typename bound_type::momentum_type;
  using variance_type = typename bound_type::variance_type;

  int64_t E, R, C;
  std::vector<Param> param;
  std::vector<code_of<momentum_type>> momentum;
  std::vector<code_of<variance_type>> exact, row, col;
  std::vector<float> momentum_scales, exact_scales, weights;
  std::vector<std::uint16_t> remainder;
  std::vector<std::uint8_t> carry;
  std::vector<int64_t> step, missed;
  bound_type bound;

  tensor(int64_t e, int64_t r, int64_t c) : E{e}, R{r}, C{c} {
    auto const size = [](int64_t n) { return static_cast<std::size_t>(n); };
    auto const matrix = [&](auto& to, int64_t columns) {
      to.resize(size(E * R * columns));
      return view(to.data(), E, R, columns);
    };
    int64_t const groups = (C + 31) / 32;
    bound.param = matrix(param, C);
    if constexpr (tieropt::quantised_state<momentum_type>) {
      bound.momentum = {matrix(momentum, C), matrix(momentum_scales, groups)};
    } else if constexpr (need::momentum) {
      bound.momentum = matrix(momentum, C);
    }
    if constexpr (need::factored) {
      row.resize(size(E * R)), col.resize(size(E * C));
      bound.variance = {.row = view(row.data(), E, R), .col = view(col.data(), E, C)};
    } else if constexpr (tieropt::quantised_state<variance_type>) {
      bound.variance.exact = {matrix(exact, C), matrix(exact_scales, groups)};
    } else if constexpr (need::exact) {
      bound.variance.exact = matrix(exact, C);
    }
    using master = typename Tier::master;
    if constexpr (master::splits) {
      bound.master.remainder = matrix(remainder, C);
      if constexpr (master::carries) bound.master.carry = matrix(carry, (C + 7) / 8);
    } else if constexpr (tieropt::keeps_master<master>) {
      bound.master.weights = matrix(weights, C);
    }
    step.resize(size(need::spans_tensor || Tier::step_scope == tieropt::scope::tensor ? 1 : E));
    bound.step = view(step.data(), static_cast<int64_t>(step.size()));
    bound.key = 3;
  }
  tensor(tensor const&) = delete;
};

template <class From, class To>
void convert(From const& from, To const& to, std::uint64_t seed = 0) {
  tieropt::status const s = tieropt::convert_state(executor, from.bound, to.bound, seed);
  INFO(tieropt::message(s));
  REQUIRE(s);
}

/// Whole numbers from 0 to 15, whose sums are exact.
double whole(std::uint64_t seed, std::size_t i) {
  return static_cast<double>(testing::scramble(seed, i) % 16);
}

}  // namespace

TEST_CASE("factors of exact second moments are the means of rows and columns", "[convert]") {
  tensor<exact> from{3, 4, 64};
  tensor<factored> to{3, 4, 64};
  for (std::size_t i = 0; i < from.exact.size(); ++i)
    from.exact[i] = static_cast<float>(whole(1, i));
  from.step = {5, 0, 7};
  convert(from, to);
  for (int64_t e = 0; e < 3; ++e) {
    auto const v = [&](int64_t r, int64_t c) {
      return static_cast<double>(from.exact[static_cast<std::size_t>((e * 4 + r) * 64 + c)]);
    };
    for (int64_t r = 0; r < 4; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < 64; ++c) sum += v(r, c);
      REQUIRE(to.row[static_cast<std::size_t>(e * 4 + r)] == sum / 64);
    }
    for (int64_t c = 0; c < 64; ++c) {
      REQUIRE(to.col[static_cast<std::size_t>(e * 64 + c)] ==
              (v(0, c) + v(1, c) + v(2, c) + v(3, c)) / 4);
    }
  }
  CHECK(to.step == from.step);
  tensor<factored_bf16> narrow{3, 4, 64};
  convert(to, narrow);
  for (std::size_t i = 0; i < narrow.col.size(); ++i) {
    REQUIRE(narrow.col[i].raw == tieropt::storage<bf16>::nearest(to.col[i]).raw);
  }
}

TEST_CASE("exact second moments of factors are row times column over the mean row", "[convert]") {
  // More than a segment of columns, and a matrix without any gradient so far.
  tensor<factored> from{2, 3, 1030};
  tensor<exact> to{2, 3, 1030};
  for (std::size_t i = 0; i < 1030; ++i) from.col[i] = whole(2, i);
  from.row = {1, 2, 3, 0, 0, 0};  // mean 2: quotients without rounding
  for (auto& v : to.exact) v = -1;
  convert(from, to);
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t c = 0; c < 1030; ++c) {
      auto const i = static_cast<std::size_t>(c);
      REQUIRE(to.exact[static_cast<std::size_t>(r * 1030) + i] ==
              static_cast<float>(static_cast<double>(r + 1) / 2 * from.col[i]));
      REQUIRE(to.exact[static_cast<std::size_t>((r + 3) * 1030) + i] == 0);
    }
  }
  tensor<factored> back{2, 3, 1030};  // of rank 1, nothing was lost
  convert(to, back);
  CHECK(back.row[0] * 2 == back.row[1]);
  for (std::size_t i = 0; i < 1030; ++i) REQUIRE(back.col[i] == from.col[i]);
}

TEST_CASE("momentum becomes codes as their groups say, and back again", "[convert]") {
  tensor<exact> from{2, 3, 70};
  tensor<coded> to{2, 3, 70};
  for (std::size_t i = 0; i < from.momentum.size(); ++i) {
    from.momentum[i] = static_cast<float>(testing::normal(3, i));
    from.exact[i] = from.momentum[i] * from.momentum[i];
  }
  from.momentum[5] = std::numeric_limits<float>::quiet_NaN();
  from.momentum[40] = std::numeric_limits<float>::infinity();
  convert(from, to);
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t group = 0; group < 3; ++group) {
      auto const first = row * 70 + group * 32, last = std::min(first + 32, row * 70 + 70);
      float largest = 0, largest_square = 0;
      for (auto i = first; i < last; ++i) {
        largest = std::max(largest, int8::magnitude(from.momentum[i]));
        largest_square = std::max(largest_square, uint8::magnitude(from.exact[i]));
      }
      float const scale = to.momentum_scales[row * 3 + group];
      REQUIRE(scale == largest);
      REQUIRE(to.exact_scales[row * 3 + group] == largest_square);
      for (auto i = first; i < last; ++i) {
        REQUIRE(to.momentum[i] == int8::nearest(from.momentum[i], int8::inverse(scale)));
      }
    }
  }
  CHECK((to.momentum[5] == -128 && to.momentum[40] == -128));

  tensor<exact> back{2, 3, 70};
  convert(to, back);
  for (std::size_t i = 0; i < 420; ++i) {
    float const value = int8::decode(to.momentum[i], to.momentum_scales[i / 70 * 3 + i % 70 / 32]);
    REQUIRE((back.momentum[i] == value || (std::isnan(back.momentum[i]) && std::isnan(value))));
  }
  tensor<coded_at_random> same{2, 3, 70};  // stored alike: copied, whatever the rounding
  convert(to, same);
  CHECK(same.momentum == to.momentum);
  CHECK(same.momentum_scales == to.momentum_scales);
  CHECK(same.exact == to.exact);
}

TEST_CASE("codes drawn at random are unbiased, and of their seed", "[convert]") {
  tensor<exact> from{1, 64, 32};
  tensor<coded_at_random> to{1, 64, 32}, again{1, 64, 32}, other{1, 64, 32};
  for (std::size_t i = 0; i < from.momentum.size(); ++i) from.momentum[i] = i % 32 == 0 ? 1 : 0.3f;
  convert(from, to, 1);
  convert(from, again, 1);
  convert(from, other, 2);
  CHECK(to.momentum == again.momentum);
  CHECK(to.momentum != other.momentum);
  double sum = 0;
  int below = 0;
  for (std::size_t i = 0; i < 2048; ++i) {
    if (i % 32 == 0) continue;
    REQUIRE((to.momentum[i] == 58 || to.momentum[i] == 59));  // 0.2959 and 0.3026
    below += to.momentum[i] == 58;
    sum += int8::decode(to.momentum[i], 1);
  }
  double const step = 59.0 / 195 - 58.0 / 196, deviation = step / 2 * std::sqrt(1984.0);
  CHECK(std::fabs(sum - 1984 * 0.3) < 4 * deviation);
  CHECK((below > 0 && below < 1984));
}

TEST_CASE("a weight keeps its bits through every kind of master", "[convert]") {
  tensor<bare> first{2, 3, 43}, last{2, 3, 43};
  tensor<with_master<tieropt::carry_master>, bf16> carried{2, 3, 43};
  tensor<with_master<tieropt::master_weights<float>>, bf16> beside{2, 3, 43};
  tensor<with_master<tieropt::remainder_master>, bf16> halved{2, 3, 43};
  for (std::size_t i = 0; i < first.param.size(); ++i) {
    first.param[i] = std::bit_cast<float>(static_cast<std::uint32_t>(testing::scramble(4, i)) &
                                          0xBFFFFFFFu);  // below 2
    if (i % 5 == 0)
      first.param[i] = std::bit_cast<float>(i % 2 == 0 ? 0x3F808000u : 0x3F818000u);  // ties
  }
  convert(first, carried);
  convert(carried, beside);
  convert(beside, halved);
  convert(halved, last);
  CHECK(last.param == first.param);
  for (std::size_t i = 0; i < first.param.size(); ++i) {
    auto const even = tieropt::storage<bf16>::nearest(first.param[i]).raw;
    REQUIRE((carried.param[i].raw == even && beside.param[i].raw == even));
    REQUIRE(beside.weights[i] == first.param[i]);
    REQUIRE(halved.param[i].raw == tieropt::split_away(first.param[i]).high);
  }
  // In one and the same parameter, as long as it lies in one way.
  carried.bound.param = halved.bound.param;
  convert(halved, carried);
  for (std::size_t i = 0; i < first.param.size(); ++i) {
    REQUIRE(halved.param[i].raw == tieropt::storage<bf16>::nearest(first.param[i]).raw);
  }
}

TEST_CASE("a weight without a master is rounded once, as its tier rounds", "[convert]") {
  tensor<bare> from{1, 1, 1000};
  for (auto& p : from.param) p = 1 + 0x1p-9f;  // a quarter of a spacing
  tensor<nearest, bf16> near{1, 1, 1000};
  tensor<bare, bf16> drawn{1, 1, 1000};
  convert(from, near);
  convert(from, drawn, 7);
  int up = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    REQUIRE(near.param[i].raw == 0x3F80);
    REQUIRE((drawn.param[i].raw == 0x3F80 || drawn.param[i].raw == 0x3F81));
    up += drawn.param[i].raw == 0x3F81;
  }
  CHECK(std::fabs(up - 250) < 4 * std::sqrt(1000 * 0.25 * 0.75));
}

TEST_CASE("what has no counterpart starts at zero, and steps stay", "[convert]") {
  tensor<bare> from{3, 2, 5};
  tensor<coded> to{3, 2, 5};
  from.step = {4, 9, 2};
  for (auto& x : to.momentum) x = 3;
  for (auto& x : to.exact) x = 3;
  for (auto& x : to.momentum_scales) x = 3;
  to.missed.assign(3, 8);
  to.bound.step = view(to.step.data(), 3);
  convert(from, to);
  CHECK(to.momentum == std::vector<std::int8_t>(30));
  CHECK(to.exact == std::vector<std::uint8_t>(30));
  CHECK(to.momentum_scales == std::vector<float>(6));
  CHECK(to.step == from.step);
  tensor<counted_once> one{3, 2, 5};
  convert(from, one);
  CHECK(one.step[0] == 9);
  tensor<bare> back{3, 2, 5};
  convert(one, back);
  CHECK(back.step == std::vector<int64_t>(3, 9));

  std::vector<int> const active(3, 1);
  from.missed = {1, 0, 2};
  from.bound.missed = view(from.missed.data(), 3);
  from.bound.active = back.bound.active = view(active.data(), 3);
  back.missed.assign(3, 8);
  back.bound.missed = view(back.missed.data(), 3);
  convert(from, back);
  CHECK(back.missed == from.missed);
  from.bound.missed = {};
  convert(from, back);
  CHECK(back.missed == std::vector<int64_t>(3));
}

TEST_CASE("layouts differ as they like, gaps stay", "[convert]") {
  tensor<exact> from{2, 3, 40};
  tensor<coded> dense{2, 3, 40}, spread{2, 3, 40};
  for (std::size_t i = 0; i < 240; ++i) {
    from.param[i] = static_cast<float>(i);
    from.momentum[i] = static_cast<float>(testing::normal(5, i));
  }
  std::vector<std::int8_t> codes(1000, 77);
  spread.bound.momentum.codes.data = codes.data() + 1;
  int64_t const strides[] = {3, 7, 22};  // matrix, row, column
  std::copy(strides, strides + 3, spread.bound.momentum.codes.stride);
  convert(from, dense);
  convert(from, spread);
  std::vector<bool> used(1000);
  for (std::size_t i = 0; i < 240; ++i) {
    auto const at = 1 + i / 120 * 3 + i / 40 % 3 * 7 + i % 40 * 22;
    used[at] = true;
    REQUIRE(codes[at] == dense.momentum[i]);
  }
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE((used[i] || codes[i] == 77));
  CHECK(spread.momentum_scales == dense.momentum_scales);
}

TEST_CASE("vectors of factored tiers have exact second moments", "[convert]") {
  std::vector<float> p(5), m(5);
  std::vector<double> v{1, 2, 3, 4, 5}, m2(5), v2(5);
  std::vector<float> v1(5);
  int64_t step = 3, step1 = 0, step2 = 0;
  tieropt::bound_tensor<factored, float> a, c;
  a.param = view(p.data(), 5), a.momentum = view(m2.data(), 5), a.step = view(&step, 1);
  a.variance.exact = view(v.data(), 5);
  tieropt::bound_tensor<exact, float> b;
  b.param = view(p.data(), 5), b.momentum = view(m.data(), 5), b.step = view(&step1, 1);
  b.variance.exact = view(v1.data(), 5);
  c = a, c.variance.exact = view(v2.data(), 5), c.step = view(&step2, 1);
  REQUIRE(tieropt::convert_state(executor, a, b));
  CHECK(v1 == std::vector<float>{1, 2, 3, 4, 5});
  REQUIRE(tieropt::convert_state(executor, b, c));
  CHECK(v2 == v);
  CHECK((step1 == 3 && step2 == 3));
}

TEST_CASE("any order of blocks and items gives the same bits", "[convert]") {
  tensor<factored> from{2, 33, 1100};
  tensor<coded_at_random, bf16> a{2, 33, 1100}, b{2, 33, 1100};
  for (std::size_t i = 0; i < from.col.size(); ++i) from.col[i] = whole(6, i);
  for (std::size_t i = 0; i < from.row.size(); ++i) from.row[i] = whole(7, i);
  for (std::size_t i = 0; i < from.momentum.size(); ++i) {
    from.momentum[i] = testing::normal(8, i);
    from.param[i] = static_cast<float>(testing::normal(9, i));
  }
  std::array<int, 256> order{};
  for (int i = 0; i < 256; ++i) order[static_cast<std::size_t>(i)] = 255 - i;
  convert(from, a);
  REQUIRE(tieropt::convert_state(tieropt::shuffled_executor{order.data()}, from.bound, b.bound));
  CHECK((a.momentum == b.momentum && a.exact == b.exact && a.exact_scales == b.exact_scales));
  for (std::size_t i = 0; i < a.param.size(); ++i) REQUIRE(a.param[i].raw == b.param[i].raw);
  b.step = {1, 1};
  CHECK(tieropt::convert_state(tieropt::host_executor{}, from.bound, b.bound));
  CHECK((a.momentum == b.momentum && a.step == b.step));
}

TEST_CASE("what cannot be converted is refused before anything is written", "[convert]") {
  tensor<exact> from{2, 3, 4};
  tensor<coded> to{2, 3, 4};
  auto const refused = [&](errc code, int64_t which) {
    to.momentum.assign(24, 9), to.step.assign(2, 9);
    tieropt::status const s = tieropt::convert_state(executor, from.bound, to.bound);
    CHECK(s.code == code);
    CHECK(s.tensor == which);
    CHECK(
        (to.momentum == std::vector<std::int8_t>(24, 9) && to.step == std::vector<int64_t>(2, 9)));
  };
  auto const sound = from.bound;
  from.bound.momentum.data = nullptr;
  refused(errc::null_buffer, 0);
  from.bound = sound;
  tensor<exact> other{2, 4, 4};
  from.bound = other.bound;
  refused(errc::shape, 1);
  from.bound = sound;
  auto const codes = to.bound;
  to.bound.momentum.scales.extent[2] = 2;
  refused(errc::shape, 1);
  to.bound = codes;
  to.bound.param = from.bound.param;
  to.bound.param.stride[0] = 13;
  refused(errc::aliasing, 1);
  tensor<bare> a{2, 3, 4}, b{2, 3, 4};
  b.bound.dims = {0, 2};
  b.step.resize(3), b.bound.step = view(b.step.data(), 3);
  CHECK(tieropt::convert_state(executor, a.bound, b.bound).code == errc::matrix_dims);
}
