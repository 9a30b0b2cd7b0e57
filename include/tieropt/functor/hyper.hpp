// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hyperparameters and inputs of a step, as the caller gives them. Layer: functor.
#pragma once

#include <tieropt/config.hpp>

namespace tieropt {
inline namespace v0_1 {

/// As hyper::eps: what the tier's eps part was published with.
inline constexpr double default_eps = -1;

/// The most groups of hyperparameters of one enqueue from the host.
inline constexpr int max_groups = 32;

/// Hyperparameters of one group; double, since a float 0.999 alone shifts a variance by 1e-5.
struct hyper {
  double lr = 1e-3;          ///< learning rate of this step, finite; relative_rate ignores it
  double beta1 = 0.9;        ///< decay of the momentum, in [0, 1)
  double beta2 = 0.999;      ///< decay of the second moment, in [0, 1)
  double eps = default_eps;  ///< placed by the tier's eps part
  double clip = 1;           ///< threshold of the update's RMS, positive
  double weight_decay = 0;   ///< placed by the tier's decay part; no_decay ignores it
  double beta2_decay = 0.8;  ///< of rising_beta2, positive: beta2 = 1 - k^-beta2_decay
  double eps2 = 1e-3;        ///< of param_rms_scale, positive: the least RMS that counts
};

/// What a step gets beside hyperparameters.
///
/// The order is: unscale (one factor, clip_factor / grad_scale), global-norm clip, L2 term,
/// moments, update, transform, clip, decay, learning rate, one rounding.
struct step_inputs {
  uint64_t seed = 0;         ///< of the rounding bits
  double grad_scale = 1;     ///< what the gradients were multiplied by, positive
  double clip_factor = 1;    ///< of a norm clip of the caller's, positive
  int found_inf = 0;         ///< not 0: the whole step rests
  double max_grad_norm = 0;  ///< of global_norm_clip; 0: none
};

/// Values that lie where the executor's bodies read them, device memory for instance.
/// @tparam T hyper or step_inputs
template <class T>
struct resident {
  T const* data = nullptr;  ///< read when the step runs; of hyper, one per group
};

}  // namespace v0_1
}  // namespace tieropt
