// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Three steps as one would write them by hand for bf16: what the library is to be compared with.
///
/// They know nothing of strides, other types, resting matrices or a fixed order of sums, and
/// nearest rounding ignores NaN; what they compute is validated like every variant.
#pragma once

#include "reference.hpp"

#include <cstdint>
#include <vector>

namespace bench {

/// Buffers of one bf16 tensor; unused states are null.
struct hand_tensor {
  std::int64_t E, R, C;       ///< shape
  std::uint16_t* param;       ///< (E, R, C)
  std::uint16_t const* grad;  ///< (E, R, C)
  std::int64_t* step;         ///< (E)
  float* momentum = nullptr;  ///< (E, R, C), AdamW and Lion
  float* exact = nullptr;     ///< (E, R, C), AdamW
  float* row = nullptr;       ///< (E, R), experts
  float* col = nullptr;       ///< (E, C), experts
};

/// Some rows of one matrix: what a thread takes at a time.
struct hand_job {
  hand_tensor const* tensor;   ///< which tensor
  std::int64_t e, begin, end;  ///< which matrix and rows
  std::int64_t matrix;         ///< counted over all tensors
};

/// Three passes of the corrected expert tier: squares, norm of the update, apply.
class hand_experts {
 public:
  static constexpr recipe formulas{.variance = second_moment::factored,
                                   .clips = true};  ///< what it computes
  /// @param[in] tensors all of them
  explicit hand_experts(std::vector<hand_tensor> tensors);
  hand_experts(hand_experts const&) = delete;
  /// One step. @param[in] h hyperparameters @param[in] seed of the rounding bits
  /// @param[in] stochastic rounding, else nearest
  void step(numbers const& h, std::uint64_t seed, bool stochastic);

 private:
  std::vector<hand_tensor> tensors_;
  std::vector<hand_job> jobs_;
  std::vector<std::int64_t> first_job_;                  // (matrices + 1)
  std::vector<std::int64_t> row_at_, col_at_, part_at_;  // where a matrix's (a job's) values start
  std::vector<float> rows_, cols_, parts_, norms_;
};

/// A tier of one pass.
class hand_one_pass {
 public:
  hand_one_pass(hand_one_pass const&) = delete;
  /// One step. @param[in] h hyperparameters @param[in] seed of the rounding bits
  /// @param[in] stochastic rounding, else nearest
  void step(numbers const& h, std::uint64_t seed, bool stochastic);

 protected:
  using rows = void (*)(hand_job const&, numbers const&, std::uint64_t key);  ///< does a job
  /// @param[in] tensors all of them @param[in] nearest @param[in] stochastic by rounding
  hand_one_pass(std::vector<hand_tensor> tensors, rows nearest, rows stochastic);

 private:
  std::vector<hand_tensor> tensors_;
  std::vector<hand_job> jobs_;
  rows rows_[2];
};

/// AdamW.
class hand_adamw : public hand_one_pass {
 public:
  static constexpr recipe formulas{.momentum = momentum_rule::gradient,
                                   .eps = eps_place::added};  ///< what it computes
  /// @param[in] tensors all of them
  explicit hand_adamw(std::vector<hand_tensor> tensors);
};

/// Lion.
class hand_lion : public hand_one_pass {
 public:
  static constexpr recipe formulas{.momentum = momentum_rule::lion,
                                   .variance = second_moment::none,
                                   .sign = true};  ///< what it computes
  /// @param[in] tensors all of them
  explicit hand_lion(std::vector<hand_tensor> tensors);
};

}  // namespace bench
