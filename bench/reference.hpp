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

/// What is averaged.
enum class momentum_rule {
  none,      ///< nothing: the gradient itself is the numerator
  gradient,  ///< the gradient, by beta1
  lion,      ///< the gradient, by beta1 for the numerator and by beta2 for what is stored
  update     ///< what is subtracted, by beta1; not corrected
};

/// What the numerator is divided by.
enum class second_moment {
  none,     ///< nothing
  exact,    ///< per element
  factored  ///< rows and columns
};

/// Where weight decay goes.
enum class decay_place {
  fused,    ///< p (1 - lr wd)
  rounded,  ///< the same, rounded to the parameter's type
  gradient  ///< g + wd p
};

/// A tier, by its formulas.
struct recipe {
  momentum_rule momentum = momentum_rule::none;   ///< what is averaged
  second_moment variance = second_moment::exact;  ///< what the numerator is divided by
  eps_place eps = eps_place::inside;              ///< where eps goes
  bool corrects = true;                           ///< both moments, by 1 - beta^k
  bool rises = false;                             ///< beta2 = 1 - k^-beta2_decay, not corrected
  bool sign = false;                              ///< of the update, in its place
  bool clips = false;                             ///< by the RMS of the update
  bool scales = false;                            ///< lr by the RMS of the parameter
  bool whole_tensor = false;                      ///< both RMS span all matrices
  bool relative = false;                          ///< lr = min(1e-2, 1 / sqrt(k))
  decay_place decay = decay_place::fused;         ///< where weight decay goes
  bool operator==(recipe const&) const = default;
};

/// Hyperparameters; every matrix has taken the same number of steps.
struct numbers {
  double lr, beta1, beta2, eps, clip, weight_decay;
  double beta2_decay = 0.8, eps2 = 1e-3;
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
/// g| for a momentum that cancels (a sign may be any where it nearly cancels); states agree to
/// 2^-17.
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
