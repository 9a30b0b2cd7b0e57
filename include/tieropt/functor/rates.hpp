// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a step's betas, its learning rate and its bias corrections come from. Layer: functor.
///
/// Parts of a user's own have the same static members; all of them are formed once for each matrix,
/// in double, from the hyperparameters and the number k of the matrix's own step, from 1.
#pragma once

#include <tieropt/functor/hyper.hpp>
#include <tieropt/precision/arithmetic.hpp>
#include <tieropt/precision/power.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Betas as given.
struct constant_betas {
  /// Decay of the momentum. @param[in] h hyperparameters @return beta1
  TIEROPT_HOST_DEVICE static double beta1(hyper const& h, int64_t) { return h.beta1; }
  /// What is left of the momentum's start. @param[in] h hyperparameters @param[in] k step
  /// @return beta1^k
  TIEROPT_HOST_DEVICE static double beta1_power(hyper const& h, int64_t k) {
    return power(h.beta1, k);
  }
  /// Decay of the second moment. @param[in] h hyperparameters @return beta2
  TIEROPT_HOST_DEVICE static double beta2(hyper const& h, int64_t) { return h.beta2; }
  /// What is left of the second moment's start. @param[in] h hyperparameters @param[in] k step
  /// @return beta2^k
  TIEROPT_HOST_DEVICE static double beta2_power(hyper const& h, int64_t k) {
    return power(h.beta2, k);
  }
};

/// beta2 = 1 - k^-beta2_decay, 0 in the first step (Adafactor, arXiv 1804.04235, sec. 7.2): nothing
/// is left of the start, so that there is nothing to correct.
struct rising_beta2 : constant_betas {
  /// Decay of the second moment. @param[in] h hyperparameters @param[in] k step
  /// @return 1 - k^-beta2_decay
  TIEROPT_HOST_DEVICE static double beta2(hyper const& h, int64_t k) {
    return add(1.0, -real_power(static_cast<double>(k), -h.beta2_decay));
  }
  /// What is left of the second moment's start. @return 0
  TIEROPT_HOST_DEVICE static double beta2_power(hyper const&, int64_t) { return 0.0; }
};

/// The learning rate as given: its schedule is the caller's.
struct given_rate {
  /// Learning rate. @param[in] h hyperparameters @return lr
  TIEROPT_HOST_DEVICE static double lr(hyper const& h, int64_t) { return h.lr; }
};

/// min(1e-2, 1 / sqrt(k)), Adafactor's relative step (arXiv 1804.04235, alg. 5); lr is not used.
struct relative_rate {
  /// Learning rate. @param[in] k step @return min(1e-2, 1 / sqrt(k))
  TIEROPT_HOST_DEVICE static double lr(hyper const&, int64_t k) {
    double const slow = div(1.0, sqrt(static_cast<double>(k)));
    return slow < 1e-2 ? slow : 1e-2;
  }
};

/// min(1e-6 k, 1 / sqrt(k)), the same with a warm-up; lr is not used.
struct relative_rate_warmup {
  /// Learning rate. @param[in] k step @return min(1e-6 k, 1 / sqrt(k))
  TIEROPT_HOST_DEVICE static double lr(hyper const&, int64_t k) {
    double const slow = div(1.0, sqrt(static_cast<double>(k)));
    double const warm = mul(1e-6, static_cast<double>(k));
    return slow < warm ? slow : warm;
  }
};

/// Both moments count as if their past were as long as their memory (Adam, arXiv 1412.6980, sec.
/// 3).
struct correct_both {
  static constexpr bool first = true;   ///< 1 / (1 - beta1^k)
  static constexpr bool second = true;  ///< 1 / (1 - beta2^k)
};

/// The second moment alone is corrected.
struct correct_second {
  static constexpr bool first = false;  ///< 1
  static constexpr bool second = true;  ///< 1 / (1 - beta2^k)
};

/// Moments as they are, small at first.
struct correct_none {
  static constexpr bool first = false;   ///< 1
  static constexpr bool second = false;  ///< 1
};

/// A beta schedule.
template <class Part>
concept betas_policy = requires(hyper const& h, int64_t k) {
  { Part::beta1(h, k) } -> cuda::std::same_as<double>;
  { Part::beta1_power(h, k) } -> cuda::std::same_as<double>;
  { Part::beta2(h, k) } -> cuda::std::same_as<double>;
  { Part::beta2_power(h, k) } -> cuda::std::same_as<double>;
};

/// A source of the learning rate.
template <class Part>
concept rate_policy = requires(hyper const& h, int64_t k) {
  { Part::lr(h, k) } -> cuda::std::same_as<double>;
};

/// A bias correction.
template <class Part>
concept bias_correction_policy = requires {
  { Part::first } -> cuda::std::convertible_to<bool>;
  { Part::second } -> cuda::std::convertible_to<bool>;
};

}  // namespace v0_1
}  // namespace tieropt
