// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A model with its data, as the training loop sees it.
#pragma once

#include "moe/job.hpp"
#include "moe/layers.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace moe {

/// The metric on held-out data.
struct evaluation {
  double metric, balance;
};

class task {
 public:
  task() = default;
  task(task const&) = delete;
  task& operator=(task const&) = delete;
  virtual ~task() = default;

  virtual tensor_table const& table() const = 0;
  /// Tokens of each expert in the last batch; the same vector for ever.
  virtual std::vector<int> const& expert_tokens() const = 0;
  /// Losses of the next batch, and their gradients.
  virtual losses train_batch(tensor_values<float> const& weights,
                             tensor_values<float>& gradients) = 0;
  virtual evaluation evaluate(tensor_values<float> const& weights) = 0;
  /// The metric of a guess that does not look at the input.
  virtual double baseline() const = 0;
  virtual std::int64_t batch_size() const = 0;  // tokens or examples
  virtual std::int64_t held_out() const = 0;    // tokens or examples
};

std::unique_ptr<task> open_text(job const& j);
std::unique_ptr<task> open_teachers(job const& j);

}  // namespace moe
