// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A weight in two halves is the fp32 weight, bit for bit, over 1,000 steps.

#include "support/catch.hpp"
#include "support/storage_engine.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace {

using namespace testing::stored;
using namespace testing::stored::names;

// Without states, with moments and an L2 term that reads the weight, and with the weight's RMS.
constexpr row sgd{f32, f32, m0, v0, own, pass1, rn, rn, prop};
constexpr row adam{f32, f32, f32, v32, own, l2, rn, rn, prop};
constexpr row scaled{f32, f32, f32, rc32, own, scal, rn, rn, prop};

constexpr row split_of(row r, master_kind master, kind param = kind::bf16) {
  r.param = param, r.master = master;
  return r;
}

constexpr std::int64_t rows_of_it = 6, columns = 43;

float float_of(std::uint64_t u) {
  auto const low = static_cast<std::uint32_t>(u);
  float x;
  std::memcpy(&x, &low, sizeof x);
  return x;
}
std::uint32_t bits_of(float x) {
  std::uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}

/// Weights that are hard to split: ties of both kinds, the ends of the range, subnormals,
/// infinities, NaN. moderate: only those whose squares are numbers.
float first_weight(std::int64_t i, bool moderate) {
  constexpr std::uint32_t hard[] = {
      0x3f808000, 0x3f818000, 0xbf808000, 0xbf818000, 0x3f807fff, 0x3f808001, 0x7f7fffff,
      0xff7fffff, 0x7f7f8000, 0x7f7f7fff, 0x7f7e8000, 0x00000001, 0x80000001, 0x00007fff,
      0x00008000, 0x00008001, 0x00018000, 0x007fffff, 0x00800000, 0x00808000, 0x00000000,
      0x80000000, 0x3fffffff, 0x3fff8000, 0x7f800000, 0xff800000, 0x7fc00000};
  if (i < (moderate ? 6 : static_cast<std::int64_t>(std::size(hard)))) return float_of(hard[i]);
  return static_cast<float>(bell(3, static_cast<std::uint64_t>(i)));
}

/// The gradient of element i in step k, at a weight w.
float gradient(std::int64_t i, int k, float w, bool plain) {
  auto const n = static_cast<std::uint64_t>(i * 1000 + k);
  if (!plain) return static_cast<float>(bell(7, n));
  if (i % 5 == 1 && std::isfinite(w)) {  // with a rate of 1 the weight becomes a tie
    float const tie = float_of((bits_of(w) & 0xffff0000u) | 0x8000u);
    return k % 2 == 0 ? w - tie : static_cast<float>(bell(8, n)) * w * 0x1p-7f;
  }
  // Magnitudes from the subnormals up, close to what the weight is.
  int const exponent = static_cast<int>(mixed(9, n) % 24) - 20;
  float const base = i % 7 == 3 ? 0x1p-140f : w == 0 || !std::isfinite(w) ? 0x1p-130f : w;
  return std::ldexp(static_cast<float>(bell(10, n)) * base, exponent);
}

bundle tensor_for(row const& r) {
  bundle b;
  source random{1};
  b.shape = shape::of({2, rows_of_it / 2, columns});
  b.factored = r.factored();
  auto const make = [&](int bytes) { return cells{bytes, b.shape, layout_kind::dense, random}; };
  auto const plain = [&](int bytes, std::vector<std::int64_t> const& extents) {
    return cells{bytes, shape::of(extents), layout_kind::dense, random};
  };
  b.param = make(size_of(r.param)), b.grad = make(4), b.momentum = make(4), b.exact = make(4);
  b.row = plain(4, {2, b.R()}), b.col = plain(4, {2, columns}), b.step = plain(8, {2});
  if (r.master != master_kind::none) b.master = make(2);
  if (r.master == master_kind::carry) {
    b.carry = cells{1, b.shape.with_columns(b.groups(8)), layout_kind::dense, random};
  }
  return b;
}

/// Writes the halves of an fp32 weight.
void put_weight(row const& r, bundle& b, std::int64_t i, float w) {
  if (r.master == master_kind::none) return b.param.put(i, bits_of(w));
  auto const h = split(w, r.master == master_kind::remainder);
  b.param.put(i, h.high), b.master.put(i, h.low);
  if (r.master != master_kind::carry) return;
  std::int64_t const at = i / columns * b.groups(8) + i % columns / 8;
  std::uint64_t const bit = std::uint64_t{1} << (i % columns % 8);
  b.carry.put(at, (b.carry.raw(at) & ~bit) | (h.carry != 0 ? bit : 0));
}
/// Whether the halves are those of w.
bool holds(row const& r, bundle const& b, std::int64_t i, float w) {
  auto const h = split(w, r.master == master_kind::remainder);
  bool same = b.param.raw(i) == h.high && b.master.raw(i) == h.low;
  if (r.master == master_kind::carry) {
    std::int64_t const at = i / columns * b.groups(8) + i % columns / 8;
    same = same && static_cast<int>(b.carry.raw(at) >> (i % columns % 8) & 1u) == h.carry;
  }
  return same;
}

/// 1,000 steps of a weight in halves beside the whole one.
template <row Whole, master_kind Master, kind Param>
void check_halves() {
  static constexpr row split_row = split_of(Whole, Master, Param);
  std::vector<bundle> whole{tensor_for(Whole)}, halves{tensor_for(split_row)};
  std::int64_t const n = whole[0].param.size();
  for (std::int64_t i = 0; i < n; ++i) {
    float const w = first_weight(i, Whole.shape == shape_kind::scaled);
    put_weight(Whole, whole[0], i, w), put_weight(split_row, halves[0], i, w);
  }
  auto const a = make_runner<Whole, false>(whole, {}, place::serial);
  auto const b = make_runner<split_row, false>(halves, {}, place::serial);
  REQUIRE(a->prepare() + b->prepare() == "");
  bool const plain = Whole.variance == variance_storage::none;
  testing::reference::hyper const h{.lr = plain ? 1 : 1e-2,
                                    .eps = Whole.inside_eps() ? 1e-30 : 1e-8,
                                    .weight_decay = plain ? 0 : 0.1};
  inputs in;
  if (Whole.shape == shape_kind::scaled) in.max_norm = 1;
  std::int64_t changes = 0, ties = 0, subnormal = 0, large = 0;
  for (int k = 0; k < 1000; ++k) {
    std::vector<float> before;
    for (std::int64_t i = 0; i < n; ++i) {
      float const w = float_of(whole[0].param.raw(i));
      before.push_back(w);
      for (auto* t : {&whole[0], &halves[0]}) t->grad.put(i, bits_of(gradient(i, k, w, plain)));
    }
    REQUIRE(a->step(h, in, 5) + b->step(h, in, 5) == "");
    std::int64_t wrong = -1;
    for (std::int64_t i = 0; i < n; ++i) {
      std::uint64_t const u = whole[0].param.raw(i);
      float const w = float_of(u);
      if (!holds(split_row, halves[0], i, w)) wrong = i;
      if (bits_of(before[static_cast<std::size_t>(i)]) != u) ++changes;
      if ((u & 0xffffu) == 0x8000u) ++ties;
      if (std::fabs(w) < 0x1p-126f && w != 0) ++subnormal;
      if (std::fabs(w) > 0x1p126f) ++large;
    }
    INFO("step " << k + 1);
    REQUIRE(wrong == -1);
  }
  CHECK(changes > n * 700);
  if (plain) CHECK(ties > 10000);
  if (plain) CHECK(subnormal > 3000);
  if (plain) CHECK(large > 100);
}

}  // namespace

TEST_CASE("a remainder and its bf16 half are the fp32 weight over 1,000 steps", "[master]") {
  check_halves<sgd, rem, kind::bf16>();
  check_halves<adam, rem, kind::user>();
  check_halves<scaled, rem, kind::bf16>();
}

TEST_CASE("a remainder, its carry and its bf16 half are the fp32 weight over 1,000 steps",
          "[master]") {
  check_halves<sgd, cry, kind::user>();
  check_halves<adam, cry, kind::bf16>();
  check_halves<scaled, cry, kind::bf16>();
}
