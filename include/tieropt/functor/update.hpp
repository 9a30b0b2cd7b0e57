// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the update to the weight: clip, decay, step. Layer: functor.
#pragma once

#include <tieropt/functor/step_scalars.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The update is applied as it is.
struct no_clip {
  static constexpr bool measures = false;        ///< no measuring pass
  static constexpr scope spans = scope::matrix;  ///< of no effect
};

/// U <- U / max(1, rms(U) / d), d = hyper::clip (Adafactor, arXiv 1804.04235, sec. 6).
/// @tparam Scope whether the RMS is a matrix's or the whole tensor's
template <scope Scope = scope::matrix>
struct rms_clip {
  static constexpr bool measures = true;  ///< a pass measures the update's norm
  static constexpr scope spans = Scope;   ///< what the RMS is taken over

  /// RMS of the update before clipping. @tparam T compute type
  /// @param[in] sum of the squared elements before update_gain @param[in] count of elements
  /// @param[in] s scalars @return root mean square
  template <class T>
  TIEROPT_HOST_DEVICE static T rms(T sum, T count, step_scalars<T> const& s) {
    return mul(s.update_gain, sqrt(div(sum, count)));
  }
  /// Factor of the raw update. @tparam T compute type @param[in] rms from rms()
  /// @param[in] s scalars @return update_gain / max(1, rms / clip)
  template <class T>
  TIEROPT_HOST_DEVICE static T factor(T rms, step_scalars<T> const& s) {
    return div(s.update_gain, max(T(1), div(rms, s.clip)));
  }
};

/// Decoupled decay inside the one expression before the rounding (AdamW, arXiv 1711.05101, alg. 2).
struct fused_decay {
  static constexpr bool rounds_to_param = false;  ///< stays in the compute type
};

/// The decayed parameter is first rounded (nearest even) to the parameter's type, as published.
struct rounded_decay {
  static constexpr bool rounds_to_param = true;  ///< a bf16 decay of 3e-4 * 0.05 vanishes here
};

/// A clip part.
template <class Part>
concept clip_policy = requires {
  { Part::measures } -> cuda::std::convertible_to<bool>;
  { Part::spans } -> cuda::std::convertible_to<scope>;
};

/// A decay part.
template <class Part>
concept decay_policy = requires {
  { Part::rounds_to_param } -> cuda::std::convertible_to<bool>;
};

}  // namespace v0_1
}  // namespace tieropt
