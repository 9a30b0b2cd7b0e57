// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Adafactor, composed (N. Shazeer and M. Stern, arXiv 1804.04235, alg. 4 and 5). Layer: policy.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace adafactor {

/// Every weight: factored second moments (exact below rank 2) whose beta2 rises with the steps,
/// eps1 inside, a clip and a step count for the whole tensor, a relative learning rate scaled by
/// the parameter. hyper::eps is eps1, eps2 the least scale, clip the threshold, beta2_decay the
/// exponent.
/// @tparam State of states, and compute
/// @tparam Momentum no_momentum, or ema_momentum<State>: the average of the scaled update
/// @tparam Rate relative_rate, relative_rate_warmup, or given_rate
/// @tparam Scale param_rms_scale<scope::tensor>, or no_scale
template <class State = float, class Momentum = no_momentum, class Rate = relative_rate,
          class Scale = param_rms_scale<scope::tensor>>
struct tensor_as : tier {
  using momentum = Momentum;  ///< none, or (E, R, C)
  /// The momentum averages what is subtracted.
  using momentum_input = cuda::std::conditional_t<keeps_momentum<Momentum>, of_update, of_gradient>;
  using variance = factored_variance<State>;          ///< (E, R) and (E, C)
  using vector_variance = exact_variance<State>;      ///< (N)
  using bias_correction = correct_none;               ///< beta2 begins with 0 instead
  using betas = rising_beta2;                         ///< 1 - k^-0.8
  using clip = rms_clip<scope::tensor>;               ///< all matrices together
  using rate = Rate;                                  ///< min(1e-2, 1 / sqrt(k))
  using scale = Scale;                                ///< max(eps2, rms(p))
  using compute = State;                              ///< compute type
  static constexpr scope step_scope = scope::tensor;  ///< one counter
};

using tensor = tensor_as<>;                                            ///< no momentum, fp32 states
using with_momentum = tensor_as<float, ema_momentum<>>;                ///< fp32 states
using given_lr = tensor_as<float, no_momentum, given_rate, no_scale>;  ///< the caller's schedule
/// The caller's schedule, scaled by the parameter.
using scaled_lr = tensor_as<float, no_momentum, given_rate>;
using policy = tier_policy<tensor>;  ///< one population

}  // namespace adafactor
}  // namespace v0_1
}  // namespace tieropt
