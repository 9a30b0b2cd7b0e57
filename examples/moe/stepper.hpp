// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An optimizer as the training loop sees it: what tiers it is made of is known in its own file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace moe {

class tensor_table;
template <class S>
class tensor_values;

/// Learning rates of a step, or at the end of the warm-up.
struct rates {
  double own = 0;   // of the optimizer
  double rest = 0;  // of the tensors that it leaves to another one; 0: it leaves none

  friend rates operator*(double a, rates r) { return {a * r.own, a * r.rest}; }
};

/// Owns stored weights and state, and steps them.
class stepper {
 public:
  stepper() = default;
  stepper(stepper const&) = delete;
  stepper& operator=(stepper const&) = delete;
  virtual ~stepper() = default;

  /// One step on the model's gradients, their global norm clipped at 1.
  /// @return seconds that tieropt took
  virtual double step(rates lr, double weight_decay, std::uint64_t seed) = 0;

  /// Bytes of state of each population, by number; step counters are not counted.
  virtual std::array<std::int64_t, 3> state_bytes() const = 0;
};

/// A model that a stepper steps, all by reference.
struct bound_model {
  tensor_table const& table;
  std::vector<int> const& expert_tokens;  // of the step's batch: an expert without any may rest
  tensor_values<float>& weights;          // the stepper rounds them to what it stores
  tensor_values<float>& gradients;
};
using stepper_factory = std::unique_ptr<stepper> (*)(bound_model const&);

}  // namespace moe
