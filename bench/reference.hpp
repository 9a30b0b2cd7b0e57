// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step as simple loops in double, from the formulas; includes nothing of the library.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// How a parameter and its gradient are stored.
enum class number_format { fp32, bf16, fp16 };

/// Where eps goes.
enum class eps_place {
  inside,   ///< S = g^2 + eps (Adafactor)
  added,    ///< sqrt(v) + eps (Adam)
  floored,  ///< max(., eps) under the root, of moments that are not corrected (published SkewAdam)
};

/// A tier, by its formulas.
struct recipe {
  bool momentum;      ///< an EMA, else the gradient itself
  bool factored;      ///< rows and columns, else exact
  eps_place eps;      ///< where eps goes
  bool clips;         ///< by the RMS of the update
  bool whole_tensor;  ///< the clip spans all matrices
  bool decays_first;  ///< and rounds the decayed parameter to its type
};

/// Hyperparameters; every matrix has taken the same number of steps.
struct numbers {
  double lr, beta1, beta2, eps, clip, weight_decay;
};

/// Buffers of one tensor; unused ones are null.
struct buffers {
  void const* param = nullptr;      ///< (E, R, C)
  float const* momentum = nullptr;  ///< (E, R, C)
  float const* row = nullptr;       ///< (E, R)
  float const* col = nullptr;       ///< (E, C)
  float const* exact = nullptr;     ///< (E, R, C)
};

/// One step of one tensor.
struct step_record {
  std::int64_t E, R, C;   ///< shape
  number_format format;   ///< of parameter and gradient
  bool stochastic;        ///< rounding
  std::int64_t step;      ///< number of this step, from 1
  void const* grad;       ///< (E, R, C)
  buffers before, after;  ///< the step
};

/// Elements that were rounded to the farther neighbour, over many tensors.
struct rounding_count {
  double farther = 0;   ///< how many there were
  double expected = 0;  ///< sum of the probabilities
  double variance = 0;  ///< sum of p (1 - p)
};

/// Repeats a step in double and compares.
///
/// A parameter must be the nearest value (nearest) or one of the two neighbours (stochastic) of a
/// number within 2^-16 lr |U| + 2^-22 |p| of the double result, |U| with |beta1 M| + |(1 - beta1)
/// g| for a momentum that cancels; states agree to 2^-17.
/// @param[in] r formulas @param[in] h hyperparameters @param[in] s the step
/// @param[in,out] count of a stochastic step's roundings
/// @return empty, or what is wrong
std::string check_step(recipe const& r, numbers const& h, step_record const& s,
                       rounding_count& count);

/// Whether the farther neighbour was taken as often as exact stochastic rounding takes it (5
/// sigma).
/// @param[in] count over all tensors @return empty, or what is wrong
std::string check_rounding(rounding_count const& count);

}  // namespace bench
