// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What one step of one matrix needs to know, as plain numbers. Layer: functor.
#pragma once

#include <tieropt/precision/arithmetic.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What a clip or a step counter spans.
enum class scope {
  matrix,  ///< each of the E matrices of a tensor has its own
  tensor   ///< one for the whole tensor
};

/// The scalars of one matrix in one step: formed in double, then rounded once to T.
/// @tparam T compute type
template <class T>
struct step_scalars {
  T beta1;                ///< decay of the momentum
  T one_minus_beta1;      ///< 1 - beta1, formed in double
  T beta2;                ///< decay of the second moment
  T one_minus_beta2;      ///< 1 - beta2, formed in double
  T correction2;          ///< 1 / (1 - beta2^k)
  T root_correction2;     ///< 1 / sqrt(1 - beta2^k)
  T update_gain;          ///< factor of every update: bias corrections outside the root
  T eps;                  ///< placed by the tier's eps part
  T clip;                 ///< threshold of the update's RMS
  T lr;                   ///< learning rate
  T decay;                ///< 1 - lr weight_decay, formed in double
  T grad_gain;            ///< clip_factor / grad_scale, negative where the tier maximises
  T outer_gain;           ///< factor of what is subtracted: of an orthogonal update, or of a
                          ///< momentum of the update
  T weight_decay;         ///< alone: of a gradient with decay, or a scaled learning rate
  T eps2;                 ///< least RMS of a parameter
  T norm_gain;            ///< of global_norm_clip; grad_gain has it too, once it is known
  T unscaling;            ///< grad_gain without norm_gain: what faults are judged with
  T squared_norm;         ///< of the gradient, where a tier surveys it
  uint64_t rounding_key;  ///< of this matrix's tensor and step
  int64_t next_step;      ///< k, the number of this step, from 1
  bool active;            ///< false: this matrix rests
  bool idle;              ///< its active entry, and nothing else, lets it rest
  bool faulty;            ///< its gradient's squares do not add up to a finite number
};

}  // namespace v0_1
}  // namespace tieropt
