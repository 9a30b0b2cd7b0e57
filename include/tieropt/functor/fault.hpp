// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What becomes of gradients that are no numbers, and of gradients that are too long. Layer:
/// functor.
///
/// An element is faulty when the square of its unscaled gradient is not finite in the compute type:
/// NaN, an infinity, or a magnitude from 2^64 on in float. A matrix is faulty when the sum of its
/// squares is not finite. What each policy makes of a gradient g:
///
/// - propagate: moments become NaN or infinite, and an infinite second moment stops its weight;
/// - skip_element: its weight and states rest, and a sum of squares that overflows stops its row;
/// - skip_matrix, skip_step: the matrix, or the step, rests; a sum that overflows is a fault, too.
///
/// Below, whatever the policy: the square of |g| < 2^-63 loses bits in float, and below 2^-75 it is
/// 0; a second moment that small is what the eps part is there for.
#pragma once

#include <tieropt/precision/arithmetic.hpp>

#include <cuda/std/concepts>

namespace tieropt {
inline namespace v0_1 {

/// What rests because of a faulty element.
enum class resting {
  nothing,  ///< the fault goes on into states and weights
  element,  ///< the weight and its states
  matrix,   ///< the matrix, or the tensor where clip, scale or step span it
  step      ///< all tensors of the plan
};

/// Faults go on, and nobody looks for them: costs nothing.
struct propagate {
  static constexpr resting rests = resting::nothing;  ///< as IEEE has it
  static constexpr bool counts = false;               ///< nothing
};
/// Faults go on, and are counted: fault_counts::elements.
struct propagate_counted {
  static constexpr resting rests = resting::nothing;  ///< as IEEE has it
  static constexpr bool counts = true;                ///< elements
};
/// A faulty element's weight and states stay as they are; it counts as 0 in every sum.
struct skip_element {
  static constexpr resting rests = resting::element;  ///< alone
  static constexpr bool counts = true;                ///< elements
};
/// A faulty matrix rests: weights, states and step stay bit for bit.
struct skip_matrix {
  static constexpr resting rests = resting::matrix;  ///< all of it
  static constexpr bool counts = true;               ///< matrices
};
/// One faulty matrix, and the whole plan rests, bit for bit.
struct skip_step {
  static constexpr resting rests = resting::step;  ///< all ranges
  static constexpr bool counts = true;             ///< steps
};

/// A fault part.
template <class Part>
concept fault_policy = requires {
  { Part::rests } -> cuda::std::convertible_to<resting>;
  { Part::counts } -> cuda::std::convertible_to<bool>;
};

/// What was faulty since prepare; each fault part counts its own.
struct fault_counts {
  int64_t elements = 0;  ///< faulty elements: propagate_counted, skip_element
  int64_t matrices = 0;  ///< matrices that rested: skip_matrix
  int64_t steps = 0;     ///< steps that rested: skip_step, or a gradient norm that was not finite
};

/// The gradients' norm is not limited.
struct no_grad_clip {
  static constexpr bool limits_norm = false;  ///< no norm
};
/// The gradients of all tensors with this part are scaled together to a norm of at most
/// step_inputs::max_grad_norm: by min(1, max_grad_norm / (norm + 1e-6)) (Pascanu et al., arXiv
/// 1211.5063, alg. 1). They rest where the norm is not finite.
struct global_norm_clip {
  static constexpr bool limits_norm = true;  ///< of unscaled gradients
};

/// A grad_clip part.
template <class Part>
concept grad_clip_policy = requires {
  { Part::limits_norm } -> cuda::std::convertible_to<bool>;
};

/// Whether a number is neither NaN nor infinite. @tparam T compute type @param[in] x value
/// @return true if finite
template <compute_type T>
TIEROPT_HOST_DEVICE bool is_finite(T x) {
  if constexpr (sizeof(T) == 4) {
    return (bits(x) & 0x7f800000u) != 0x7f800000u;
  } else {
    return (bits(x) & 0x7ff0000000000000u) != 0x7ff0000000000000u;
  }
}

/// Whether a gradient is a fault. @tparam T compute type @param[in] g unscaled gradient
/// @return true if its square is not finite
template <compute_type T>
TIEROPT_HOST_DEVICE bool is_faulty(T g) {
  return !is_finite(mul(g, g));
}

}  // namespace v0_1
}  // namespace tieropt
