// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Generated examples to classify: the cluster of an input chooses the teacher that labels it.
#pragma once

#include "moe/tensors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace moe {

/// Sizes of the task.
struct teacher_configuration {
  int clusters = 16;
  int inputs = 32;
  int classes = 8;
  int train = 1 << 15, held_out = 1 << 13;  // examples
  double centre_spread = 2;                 // of the clusters' centres; within a cluster it is 1
};

/// Inputs as rows, and a class for each.
struct labelled {
  matrix<float> inputs;      // (N, I)
  std::vector<int> targets;  // (N)
};

/// x = centre_k + z with a random cluster k and z of normal numbers; the class is the largest entry
/// of A_k z, with one random matrix A_k for each cluster: no class can be told without the cluster,
/// and nothing is to be told from the cluster alone.
///
/// A function of the seed: training examples first, held-out ones after them.
struct teacher_data {
  labelled train, held_out;

  teacher_data(teacher_configuration const& c, std::uint64_t seed) {
    normal_numbers normal(seed);
    matrix<double> centres(c.clusters, c.inputs), teachers(c.clusters * c.classes, c.inputs);
    auto const fill = [&](auto& m) { std::generate_n(m.data(), m.size(), std::ref(normal)); };
    fill(centres);
    centres *= c.centre_spread;
    fill(teachers);
    for (auto const& [to, n] : {std::pair{&train, c.train}, std::pair{&held_out, c.held_out}}) {
      to->inputs.resize(n, c.inputs);
      to->targets.resize(static_cast<std::size_t>(n));
      Eigen::VectorXd z(c.inputs);
      for (int i = 0; i < n; ++i) {
        auto const k = static_cast<int>(normal.below(static_cast<std::uint64_t>(c.clusters)));
        fill(z);
        to->inputs.row(i) = (centres.row(k) + z.transpose()).template cast<float>();
        Eigen::VectorXd const votes = teachers.middleRows(k * c.classes, c.classes) * z;
        int best = 0;
        votes.maxCoeff(&best);
        to->targets[static_cast<std::size_t>(i)] = best;
      }
    }
  }
};

/// Share of the most frequent class: what a guess without the input gets right.
inline double majority_share(std::vector<int> const& targets, int classes) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(classes));
  for (int const t : targets) ++count[static_cast<std::size_t>(t)];
  return static_cast<double>(*std::max_element(count.begin(), count.end())) /
         static_cast<double>(targets.size());
}

}  // namespace moe
