// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the update to the weight: clip, scale of the learning rate, decay. Layer: functor.
///
/// A clip that measures sums something up over all elements of the update before it is applied:
/// - `spans`: whether over a matrix or over the whole tensor;
/// - `take(sum, u)`: adds an element of a row;
/// - `take_row(sum, row, gain)`: adds a row whose elements still lack the factor `gain`;
/// - `level(sum, count, gain)`: what update_rms reports, for elements that lack the factor `gain`;
/// - `factor(level, gain, s)`: what the elements are multiplied by, `gain` included.
///
/// Sums are formed in the compute type: in float they overflow for updates, and for parameters that
/// scale the rate, beyond 1e19.
#pragma once

#include <tieropt/functor/step_scalars.hpp>

#include <cuda/std/concepts>

namespace tieropt {
inline namespace v0_1 {

/// The update is applied as it is.
struct no_clip {
  static constexpr bool measures = false;        ///< no measuring pass
  static constexpr scope spans = scope::matrix;  ///< of no effect
};

/// What clips by a norm sum up: squares.
struct squared_norm {
  static constexpr bool measures = true;  ///< a pass measures the update's norm

  /// Adds an element. @tparam T compute type @param[in] sum so far @param[in] u element
  /// @return sum + u^2
  template <class T>
  TIEROPT_HOST_DEVICE static T take(T sum, T u) {
    return fma(u, u, sum);
  }
  /// Adds a row. @tparam T compute type @param[in] sum so far @param[in] row its sum
  /// @param[in] gain factor of its elements @return sum + gain^2 row
  template <class T>
  TIEROPT_HOST_DEVICE static T take_row(T sum, T row, T gain) {
    return fma(mul(row, gain), gain, sum);  // gain^2 alone may overflow
  }
};

/// U <- U / max(1, rms(U) / d), d = hyper::clip (Adafactor, arXiv 1804.04235, sec. 6).
/// @tparam Scope whether the RMS is a matrix's or the whole tensor's
template <scope Scope = scope::matrix>
struct rms_clip : squared_norm {
  static constexpr scope spans = Scope;  ///< what the RMS is taken over

  /// RMS of the update. @tparam T compute type @param[in] sum of squares @param[in] count of
  /// elements @param[in] gain their common factor @return root mean square
  template <class T>
  TIEROPT_HOST_DEVICE static T level(T sum, T count, T gain) {
    return mul(gain, sqrt(div(sum, count)));
  }
  /// Factor of the update. @tparam T compute type @param[in] rms from level()
  /// @param[in] gain common factor @param[in] s scalars @return gain / max(1, rms / clip)
  template <class T>
  TIEROPT_HOST_DEVICE static T factor(T rms, T gain, step_scalars<T> const& s) {
    return div(gain, max(T(1), div(rms, s.clip)));
  }
};

/// U <- U / (|U| + 1e-7), |U| the Frobenius norm of a matrix: what Newton-Schulz iterations start
/// from (K. Jordan's Muon), or a normalised step.
struct unit_norm : squared_norm {
  static constexpr scope spans = scope::matrix;  ///< each matrix has its own

  /// Norm of the update. @tparam T compute type @param[in] sum of squares
  /// @param[in] gain common factor of the elements @return Frobenius norm
  template <class T>
  TIEROPT_HOST_DEVICE static T level(T sum, T, T gain) {
    return mul(gain, sqrt(sum));
  }
  /// Factor of the update. @tparam T compute type @param[in] norm from level()
  /// @param[in] gain common factor @return gain / (norm + 1e-7)
  template <class T>
  TIEROPT_HOST_DEVICE static T factor(T norm, T gain, step_scalars<T> const&) {
    return div(gain, add(norm, T(1e-7)));
  }
};

/// U <- U / max(share, 1e-3), where share is the part of U that is not 0: a masked update keeps the
/// length that the whole one had (cautious optimizers, arXiv 2411.16085, as implemented).
/// @tparam Scope whether the share is a matrix's or the whole tensor's
template <scope Scope = scope::matrix>
struct cautious_scale {
  static constexpr bool measures = true;  ///< a pass counts
  static constexpr scope spans = Scope;   ///< what the share is taken over

  /// Counts an element. @tparam T compute type @param[in] sum so far @param[in] u element
  /// @return sum + 1, or sum if u is 0
  template <class T>
  TIEROPT_HOST_DEVICE static T take(T sum, T u) {
    return is_zero(u) ? sum : add(sum, T(1));
  }
  /// Adds a row. @tparam T compute type @param[in] sum so far @param[in] row its count
  /// @return sum + row
  template <class T>
  TIEROPT_HOST_DEVICE static T take_row(T sum, T row, T) {
    return add(sum, row);
  }
  /// Share that is not 0. @tparam T compute type @param[in] sum of counts @param[in] count of
  /// elements @return sum / count
  template <class T>
  TIEROPT_HOST_DEVICE static T level(T sum, T count, T) {
    return div(sum, count);
  }
  /// Factor of the update. @tparam T compute type @param[in] share from level()
  /// @param[in] gain common factor @return gain / max(share, 1e-3)
  template <class T>
  TIEROPT_HOST_DEVICE static T factor(T share, T gain, step_scalars<T> const&) {
    return div(gain, max(share, T(1e-3)));
  }
};

/// The learning rate is what it is. A scale of a user's own measures the parameter like
/// param_rms_scale, and its `factor(rms, s)` is what the learning rate is multiplied by.
struct no_scale {
  static constexpr bool measures = false;        ///< no pass over the parameter
  static constexpr scope spans = scope::matrix;  ///< of no effect
};

/// The learning rate is multiplied by max(eps2, rms(p)) of the parameter before the step
/// (Adafactor, arXiv 1804.04235, sec. 8).
/// @tparam Scope whether the RMS is a matrix's or the whole tensor's
template <scope Scope = scope::tensor>
struct param_rms_scale {
  static constexpr bool measures = true;  ///< a pass measures the parameter
  static constexpr scope spans = Scope;   ///< what the RMS is taken over

  /// Factor of the learning rate. @tparam T compute type @param[in] rms of the parameter
  /// @param[in] s scalars @return max(eps2, rms)
  template <class T>
  TIEROPT_HOST_DEVICE static T factor(T rms, step_scalars<T> const& s) {
    return max(s.eps2, rms);
  }
};

/// Decoupled decay inside the one expression before the rounding (AdamW, arXiv 1711.05101, alg. 2).
struct fused_decay {
  static constexpr bool of_param = true;          ///< p (1 - lr wd)
  static constexpr bool of_grad = false;          ///< the gradient knows nothing of it
  static constexpr bool rounds_to_param = false;  ///< stays in the compute type
};

/// The decayed parameter is first rounded (nearest even) to the parameter's type, as published.
struct rounded_decay {
  static constexpr bool of_param = true;         ///< p (1 - lr wd)
  static constexpr bool of_grad = false;         ///< the gradient knows nothing of it
  static constexpr bool rounds_to_param = true;  ///< a bf16 decay of 3e-4 * 0.05 vanishes here
};

/// The loss has a term wd p^2 / 2: the gradient is g + wd p before anything sees it (L2
/// regularisation, as in Adam and SGD).
struct l2_decay {
  static constexpr bool of_param = false;         ///< moments see it instead
  static constexpr bool of_grad = true;           ///< g + wd p
  static constexpr bool rounds_to_param = false;  ///< of no effect
};

/// No decay, whatever weight_decay says.
struct no_decay {
  static constexpr bool of_param = false;         ///< p as it is
  static constexpr bool of_grad = false;          ///< g as it is
  static constexpr bool rounds_to_param = false;  ///< of no effect
};

/// A clip that measures: see the head of this file.
template <class Part, class T = float>
concept measuring_clip = requires(T x, step_scalars<T> const& s) {
  { Part::take(x, x) } -> cuda::std::same_as<T>;
  { Part::take_row(x, x, x) } -> cuda::std::same_as<T>;
  { Part::level(x, x, x) } -> cuda::std::same_as<T>;
  { Part::factor(x, x, s) } -> cuda::std::same_as<T>;
};

/// A scale that measures: it has factor(rms, s).
template <class Part, class T = float>
concept measuring_scale = requires(T x, step_scalars<T> const& s) {
  { Part::factor(x, s) } -> cuda::std::same_as<T>;
};

/// What a part measures, if anything, and what that spans.
template <class Part>
concept measuring_policy = requires {
  { Part::measures } -> cuda::std::convertible_to<bool>;
  { Part::spans } -> cuda::std::convertible_to<scope>;
};

/// A clip part.
template <class Part, class T = float>
concept clip_policy = measuring_policy<Part> &&(!Part::measures || measuring_clip<Part, T>);

/// A scale part.
template <class Part, class T = float>
concept scale_policy = measuring_policy<Part> &&(!Part::measures || measuring_scale<Part, T>);

/// A decay part.
template <class Part>
concept decay_policy = requires {
  { Part::of_param } -> cuda::std::convertible_to<bool>;
  { Part::of_grad } -> cuda::std::convertible_to<bool>;
  { Part::rounds_to_param } -> cuda::std::convertible_to<bool>;
};

}  // namespace v0_1
}  // namespace tieropt
