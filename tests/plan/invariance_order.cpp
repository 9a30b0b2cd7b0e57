// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same bits for any number of threads and any order of blocks, groups and slots.

#include "support/catch.hpp"
#include "support/model.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <array>
#include <utility>

namespace {

using shapes = std::vector<std::vector<int64_t>>;

/// Whole tiles, ragged tiles, several matrices, vectors; enough blocks for seven threads.
shapes const& mixed() {
  static shapes const all{{128, 1024}, {3, 130, 261}, {1030}, {257, 129}, {5, 1}, {64, 2048}, {}};
  return all;
}

std::array<int, 256> shuffled(std::uint64_t seed) {
  std::array<int, 256> order{};
  for (int i = 0; i < 256; ++i) order[static_cast<std::size_t>(i)] = i;
  for (std::size_t i = 255; i > 0; --i) {
    std::swap(order[i], order[testing::scramble(seed, i) % (i + 1)]);
  }
  return order;
}

/// Sets the number of OpenMP threads for a while; without OpenMP there is one anyway.
struct threads {
#if defined(_OPENMP)
  int before = omp_get_max_threads();
  explicit threads(int n) { omp_set_num_threads(n); }
  ~threads() { omp_set_num_threads(before); }
#else
  explicit threads(int) {}
#endif
  threads(threads const&) = delete;
};

/// Runs one tier serially and in all other ways.
template <class Tier, class Param, class Grad>
void check_orders() {
  using model = testing::model<Tier, Param, Grad>;
  model serial{mixed()};
  REQUIRE(serial.run(tieropt::serial_executor{}, 3) == "");
  for (int const n : {1, 2, 7}) {
    threads const set{n};
    model parallel{mixed()};
    REQUIRE(parallel.run(tieropt::host_executor{}, 3) == "");
    INFO(n << " threads");
    CHECK(serial.difference(parallel) == "");
  }
  for (std::uint64_t const seed : {1u, 2u}) {
    auto const order = shuffled(seed);
    model other{mixed()};
    REQUIRE(other.run(tieropt::shuffled_executor{order.data()}, 3) == "");
    INFO("slots shuffled with seed " << seed);
    CHECK(serial.difference(other) == "");
  }
}

}  // namespace

TEST_CASE("a factored tier with momentum gives the same bits in any order", "[invariance]") {
  check_orders<tieropt::skewadam::corrected::backbone, tieropt::bf16, tieropt::bf16>();
}

TEST_CASE("a tensor-wide tier gives the same bits in any order", "[invariance]") {
  check_orders<tieropt::skewadam::published::experts, tieropt::fp16, float>();
}

TEST_CASE("an exact tier gives the same bits in any order", "[invariance]") {
  check_orders<tieropt::skewadam::corrected::router, float, float>();
}

TEST_CASE("a one-pass tier gives the same bits in any order", "[invariance]") {
  check_orders<tieropt::adamw::tensor, tieropt::bf16, float>();
}

TEST_CASE("two seeds give different weights", "[invariance]") {
  using model = testing::model<tieropt::adamw::tensor, tieropt::bf16, float>;
  model a{{{64, 64}}}, b{{{64, 64}}};
  b.seed = a.seed + 1;
  REQUIRE(a.run(tieropt::serial_executor{}, 1) == "");
  REQUIRE(b.run(tieropt::serial_executor{}, 1) == "");
  CHECK(a.difference(b) == "param of tensor 0");
}
