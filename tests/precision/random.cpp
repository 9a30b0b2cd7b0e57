// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rounding bits: a pure function of (seed, tensor, step, element), and independent in each of
/// them.

#include <tieropt/precision/random.hpp>

#include "support/catch.hpp"
#include "support/statistics.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int n_draws = 1 << 20;
// 256 pairs of bits are looked at: the largest of 256 normal deviates stays below 5 with
// probability 0.9999.
constexpr double deviations = 5;

tieropt::element_bits stream(std::uint64_t seed, std::uint64_t tensor, std::uint64_t step,
                             std::uint64_t first = 0) {
  return {tieropt::rounding_key(seed, tensor, step), first};
}

void check_independent(std::string const& what, tieropt::element_bits a, std::uint32_t offset_a,
                       tieropt::element_bits b, std::uint32_t offset_b, std::uint32_t stride) {
  auto const s = testing::compare_streams(
      [&](int i) { return a.element(static_cast<std::uint32_t>(i) * stride + offset_a); },
      [&](int i) { return b.element(static_cast<std::uint32_t>(i) * stride + offset_b); }, n_draws);
  INFO(what << ": chi-square high " << s.high_cells << " low " << s.low_cells << " correlation "
            << s.correlation << " bits " << s.worst_bits << " deviations");
  CHECK(s.worst() < deviations);
}

}  // namespace

TEST_CASE("the bits of an element do not depend on where a view starts", "[random]") {
  std::uint64_t const key = tieropt::rounding_key(7, 11, 13);
  std::uint64_t const boundary = std::uint64_t{1} << 33;
  for (std::uint64_t const base : {std::uint64_t{0}, std::uint64_t{1} << 32, boundary - 64,
                                   boundary, 5 * boundary - 64, ~std::uint64_t{0} - 200}) {
    tieropt::element_bits const whole{key, base};
    for (std::uint32_t shift : {1u, 2u, 3u, 31u, 63u, 64u, 65u, 100u}) {
      tieropt::element_bits const part{key, base + shift};
      CHECK(part.parity() == ((base + shift) & 1));
      for (std::uint32_t i = 0; i < 70; ++i) {
        INFO("base " << base << " shift " << shift << " element " << i);
        REQUIRE(part.element(i) == whole.element(shift + i));
      }
    }
  }
}

TEST_CASE("the quick ways to a draw give its bits", "[random]") {
  std::uint64_t const key = tieropt::rounding_key(7, 11, 13);
  std::uint64_t const boundary = std::uint64_t{1} << 33;
  tieropt::element_bits moved{key, 12345};
  for (std::uint64_t const first :
       {boundary - 1000, boundary - 40, boundary, std::uint64_t{3}, 5 * boundary - 2}) {
    moved.go_to(first);
    tieropt::element_bits const fresh{key, first};
    INFO("first element " << first);
    CHECK(moved.parity() == fresh.parity());
    CHECK(fresh.share_keys(16) == ((first >> 33) == ((first + 32) >> 33)));
    for (std::uint32_t j = 0; j <= 70; ++j) {
      INFO("draw " << j);
      REQUIRE(moved(j) == fresh(j));
      REQUIRE(moved(j) == tieropt::pair_bits(key, (first >> 1) + j));
      REQUIRE(moved.nearby(j, moved.next_keys()) == fresh(j));
      if (moved.share_keys(j)) REQUIRE(moved.nearby(j) == fresh(j));
    }
  }
}

TEST_CASE("an element takes the low half of its draw when its global index is even", "[random]") {
  for (std::uint64_t const first : {0u, 1u, 6u, 9u}) {
    tieropt::element_bits const bits{tieropt::rounding_key(1, 2, 3), first};
    for (std::uint32_t i = 0; i < 20; ++i) {
      std::uint32_t const draw = bits((i + bits.parity()) / 2);
      bool const even = (first + i) % 2 == 0;
      CHECK(bits.element(i) == (even ? draw & 0xFFFFu : draw >> 16));
    }
  }
}

TEST_CASE("a draw of 32 bits is a function of key and element alone", "[random]") {
  std::uint64_t const key = tieropt::rounding_key(7, 11, 13);
  std::uint64_t const boundary = std::uint64_t{1} << 32;
  tieropt::wide_element_bits moved{key, 12345};
  for (std::uint64_t const first :
       {std::uint64_t{0}, boundary - 256, boundary - 255, boundary - 1, boundary, std::uint64_t{3},
        5 * boundary - 60000, ~std::uint64_t{0} - 70000}) {
    moved.go_to(first);
    tieropt::wide_element_bits const fresh{key, first};
    INFO("first element " << first);
    CHECK(fresh.share_keys(255) == ((first >> 32) == ((first + 255) >> 32)));
    for (std::uint32_t i = 0; i < tieropt::wide_element_bits::reach; i += i < 300 ? 1 : 97) {
      std::uint32_t const want = tieropt::wide_bits(key, first + i);
      INFO("element " << i);
      REQUIRE(moved(i) == want);
      REQUIRE(fresh(i) == want);
      if (fresh.share_keys(i)) REQUIRE(fresh.nearby(i) == want);
    }
  }
}

TEST_CASE("every role has a key of its own, a parameter the key itself", "[random]") {
  std::uint64_t const key = tieropt::rounding_key(7, 11, 13);
  std::set<std::uint64_t> keys;
  for (std::uint32_t role = 0; role < 6; ++role) {
    keys.insert(tieropt::role_key(key, static_cast<tieropt::draw_role>(role)));
  }
  CHECK(keys.size() == 6);
  CHECK(tieropt::role_key(key, tieropt::draw_role::param) == key);
}

TEST_CASE("seed, tensor and step are told apart", "[random]") {
  CHECK(tieropt::rounding_key(1, 2, 3) != tieropt::rounding_key(2, 1, 3));
  CHECK(tieropt::rounding_key(1, 2, 3) != tieropt::rounding_key(1, 3, 2));
  CHECK(tieropt::rounding_key(1, 2, 3) != tieropt::rounding_key(1, 2, 4));
  CHECK(tieropt::rounding_key(0, 0, 1) != tieropt::rounding_key(0, 1, 0));
  CHECK(tieropt::rounding_key(1, 2, 3) == tieropt::rounding_key(1, 2, 3));
}

TEST_CASE("elements 2^33 apart do not repeat", "[random]") {
  tieropt::element_bits const near = stream(1, 2, 3), far = stream(1, 2, 3, std::uint64_t{1} << 33);
  check_independent("2^33 apart", near, 0, far, 0, 1);
}

TEST_CASE("every 16-bit value is drawn equally often", "[random]") {
  for (std::uint64_t const seed : {1u, 2u, 3u}) {
    tieropt::element_bits const bits = stream(seed, 5, 1);
    for (std::uint32_t const half : {0u, 1u}) {
      std::vector<std::int64_t> cells(4096);
      for (std::uint32_t i = 0; i < n_draws; ++i) ++cells[bits.element(2 * i + half) >> 4];
      INFO("seed " << seed << " half " << half);
      CHECK(testing::chi_square_deviations(cells) < deviations);
    }
  }
}

TEST_CASE("the streams of two tensors are independent", "[random]") {
  check_independent("keys 0 and 1", stream(42, 0, 1), 0, stream(42, 1, 1), 0, 1);
  check_independent("keys 17 and 18", stream(42, 17, 1), 0, stream(42, 18, 1), 0, 1);
  check_independent("keys 1 and 2^63 + 1", stream(42, 1, 1), 0,
                    stream(42, (std::uint64_t{1} << 63) + 1, 1), 0, 1);
}

TEST_CASE("the streams of two steps are independent", "[random]") {
  check_independent("steps 1 and 2", stream(42, 17, 1), 0, stream(42, 17, 2), 0, 1);
  check_independent("steps 255 and 256", stream(42, 17, 255), 0, stream(42, 17, 256), 0, 1);
  check_independent("step 2 of key 17, step 1 of key 18", stream(42, 17, 2), 0, stream(42, 18, 1),
                    0, 1);
}

TEST_CASE("the streams of two seeds are independent", "[random]") {
  check_independent("seeds 0 and 1", stream(0, 17, 1), 0, stream(1, 17, 1), 0, 1);
  check_independent("seeds 1 and 2^32 + 1", stream(1, 17, 1), 0,
                    stream((std::uint64_t{1} << 32) + 1, 17, 1), 0, 1);
}

TEST_CASE("neighbouring elements are independent", "[random]") {
  tieropt::element_bits const bits = stream(42, 17, 3);
  check_independent("both halves of a draw", bits, 0, bits, 1, 2);
  check_independent("the high half and the next draw's low half", bits, 1, bits, 2, 2);
  check_independent("one draw and the next, low halves", bits, 0, bits, 2, 2);
  check_independent("one draw and the next, high halves", bits, 1, bits, 3, 2);
}

TEST_CASE("neighbouring rows are independent", "[random]") {
  tieropt::element_bits const bits = stream(42, 17, 3);
  for (std::uint32_t const columns : {7u, 256u, 1000u, 4096u, 50257u}) {
    check_independent(std::to_string(columns) + " columns", bits, 0, bits, columns, 1);
  }
}

TEST_CASE("rows far from each other are independent", "[random]") {
  // Counters that differ in their upper half only are the hard case of a multiplicative mix.
  tieropt::element_bits const bits = stream(42, 17, 3);
  for (std::uint32_t const log_distance : {17u, 18u, 20u, 22u, 24u, 26u, 28u, 30u}) {
    std::uint32_t const distance = 1u << log_distance;
    std::string const what = "2^" + std::to_string(log_distance) + " elements apart";
    check_independent(what + ", low and low half", bits, 0, bits, distance, 2);
    check_independent(what + ", low and high half", bits, 0, bits, distance + 1, 2);
    check_independent(what + ", high and high half", bits, 1, bits, distance + 1, 2);
  }
}

TEST_CASE("one element over many steps draws every value", "[random]") {
  for (std::uint32_t const element : {0u, 1u, 12345u}) {
    std::vector<std::int64_t> cells(1024);
    for (std::uint64_t step = 1; step <= n_draws / 4; ++step) {
      ++cells[stream(42, 17, step).element(element) >> 6];
    }
    INFO("element " << element);
    CHECK(testing::chi_square_deviations(cells) < deviations);
    check_independent("this step and the next", stream(42, 17, 1), element, stream(42, 17, 2),
                      element, 1);
  }
}

TEST_CASE("the streams of two roles are independent, and of the draws of 16 bits", "[random]") {
  std::uint64_t const key = tieropt::rounding_key(42, 17, 3);
  tieropt::element_bits const pairs{key, 0};
  auto const independent = [](std::string const& what, auto const& a, auto const& b) {
    auto const s = testing::compare_streams(a, b, n_draws);
    INFO(what << ": chi-square high " << s.high_cells << " low " << s.low_cells << " correlation "
              << s.correlation << " bits " << s.worst_bits << " deviations");
    CHECK(s.worst() < deviations);
  };
  auto const upper = [&](tieropt::draw_role role) {
    return [bits = tieropt::wide_element_bits{tieropt::role_key(key, role), 0}](int i) {
      auto const at = static_cast<std::uint32_t>(i);
      auto const far = tieropt::wide_element_bits::reach;
      tieropt::wide_element_bits there = bits;
      there.go_to(at / far * far);
      return there(at % far) >> 16;
    };
  };
  auto const pair = [&](int i) { return pairs.element(static_cast<std::uint32_t>(i)); };
  using enum tieropt::draw_role;
  independent("param and momentum", upper(param), upper(momentum));
  independent("momentum and exact", upper(momentum), upper(exact));
  independent("exact and row", upper(exact), upper(row));
  independent("row and col", upper(row), upper(col));
  independent("col and catch_up", upper(col), upper(catch_up));
  independent("param and its pairs", upper(param), pair);
  independent("upper and lower half", upper(momentum), [&](int i) {
    auto const k = tieropt::role_key(key, momentum);
    return tieropt::wide_bits(k, static_cast<std::uint64_t>(i)) & 0xFFFFu;
  });
  independent("an element and the next", upper(momentum), [&](int i) {
    auto const k = tieropt::role_key(key, momentum);
    return tieropt::wide_bits(k, static_cast<std::uint64_t>(i) + 1) >> 16;
  });
  independent("elements 2^32 apart", upper(momentum), [&](int i) {
    auto const k = tieropt::role_key(key, momentum);
    return tieropt::wide_bits(k, (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(i)) >> 16;
  });
}
