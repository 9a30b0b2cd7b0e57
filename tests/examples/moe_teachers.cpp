// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The example's generated data.

#include "moe/teachers.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

moe::teacher_configuration small() {
  moe::teacher_configuration t;
  t.clusters = 4;
  t.inputs = 6;
  t.classes = 3;
  t.train = 3000;
  t.held_out = 1000;
  return t;
}

bool same(moe::labelled const& a, moe::labelled const& b) {
  return a.inputs == b.inputs && a.targets == b.targets;
}

}  // namespace

TEST_CASE("generated data are a function of the seed") {
  moe::teacher_data const a(small(), 3), b(small(), 3), other(small(), 4);
  REQUIRE(same(a.train, b.train));
  REQUIRE(same(a.held_out, b.held_out));
  REQUIRE(!same(a.train, other.train));
  REQUIRE(a.train.inputs.rows() == 3000);
  REQUIRE(a.held_out.inputs.rows() == 1000);
}

TEST_CASE("no held-out input is a training input") {
  moe::teacher_data const d(small(), 5);
  for (int i = 0; i < d.held_out.inputs.rows(); ++i) {
    auto const distance =
        (d.train.inputs.rowwise() - d.held_out.inputs.row(i)).rowwise().squaredNorm();
    REQUIRE(distance.minCoeff() > 0);
  }
}

TEST_CASE("the cluster chooses the teacher") {
  // The recipe once more, from the same numbers: centres, teachers, then cluster, z, label.
  auto const t = small();
  moe::teacher_data const d(t, 6);
  moe::normal_numbers normal(6);
  std::vector<double> centres, teachers;
  for (int i = 0; i < t.clusters * t.inputs; ++i) centres.push_back(2 * normal());
  for (int i = 0; i < t.clusters * t.classes * t.inputs; ++i) teachers.push_back(normal());
  std::vector<int> of_cluster(4);
  for (int i = 0; i < t.train; ++i) {
    auto const k = normal.below(4);
    ++of_cluster[k];
    std::vector<double> z, votes(3);
    for (int c = 0; c < t.inputs; ++c) {
      z.push_back(normal());
      auto const centre = centres[k * 6 + static_cast<std::size_t>(c)];
      REQUIRE(d.train.inputs(i, c) == static_cast<float>(centre + z.back()));
    }
    for (std::size_t v = 0; v < 3; ++v) {
      for (std::size_t c = 0; c < 6; ++c) votes[v] += teachers[(k * 3 + v) * 6 + c] * z[c];
    }
    auto const best = std::max_element(votes.begin(), votes.end()) - votes.begin();
    REQUIRE(d.train.targets[static_cast<std::size_t>(i)] == best);
  }
  // Binomial, n = 3000 and p = 1/4: deviation 24. Allow five.
  for (int const n : of_cluster) REQUIRE(std::abs(n - 750) < 120);
}

TEST_CASE("normal numbers have the moments of a normal distribution") {
  moe::normal_numbers normal(7);
  int const n = 100'000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    double const x = normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  // Deviations of the means: 1, sqrt(2), sqrt(96), each over sqrt(n). Allow five.
  double const unit = 5 / std::sqrt(n);
  REQUIRE(std::abs(sum / n) < unit);
  REQUIRE(std::abs(squares / n - 1) < std::sqrt(2) * unit);
  REQUIRE(std::abs(fourth / n - 3) < std::sqrt(96) * unit);
}

TEST_CASE("the majority share counts the most frequent class") {
  REQUIRE(moe::majority_share({2, 0, 2, 1}, 3) == 0.5);
  REQUIRE(moe::majority_share({1, 1, 1}, 3) == 1);
  REQUIRE(moe::majority_share({0, 1, 2, 3}, 4) == 0.25);
}
