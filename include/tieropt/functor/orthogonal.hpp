// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Muon's part: the update of a matrix is brought close to an orthogonal one. Layer: functor.
#pragma once

#include <tieropt/precision/arithmetic.hpp>
#include <tieropt/precision/storage.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// Updates stay as they are.
struct not_orthogonal {
  using element = void;                 ///< there are no matrix products
  static constexpr int iterations = 0;  ///< none
};

/// sqrt(max(1, R / C)): every update has about the norm of an orthogonal square matrix (K. Jordan's
/// Muon).
struct keller_jordan_scale {
  /// Factor of an (R, C) update. @param[in] R rows @param[in] C columns @return factor
  TIEROPT_HOST_DEVICE static double factor(int64_t R, int64_t C) {
    return R > C ? sqrt(div(static_cast<double>(R), static_cast<double>(C))) : 1.0;
  }
};

/// 0.2 sqrt(max(R, C)): the RMS of AdamW's updates, so that its learning rates serve ("Muon is
/// Scalable for LLM Training", arXiv 2502.16982, eq. 4).
struct moonlight_scale {
  /// Factor of an (R, C) update. @param[in] R rows @param[in] C columns @return factor
  TIEROPT_HOST_DEVICE static double factor(int64_t R, int64_t C) {
    return mul(0.2, sqrt(static_cast<double>(R > C ? R : C)));
  }
};

/// Coefficients of X <- a X + b (X X^T) X + c (X X^T)^2 X.
struct newton_schulz_step {
  double a;  ///< of X
  double b;  ///< of its cube
  double c;  ///< of its fifth power
};

/// Five quintic Newton-Schulz iterations that push every singular value towards 1 (K. Jordan et
/// al., "Muon: An optimizer for hidden layers in neural networks", 2024). Other coefficients or
/// another number of iterations: derive from it and hide `iterations` and `step`.
/// @tparam Element what the products read and write: bf16 (as published), fp16, float or double
/// @tparam Scale keller_jordan_scale or moonlight_scale, or a part with the same member
template <class Element = bf16, class Scale = keller_jordan_scale>
struct newton_schulz {
  using element = Element;              ///< of the products
  using scale = Scale;                  ///< of the update
  static constexpr int iterations = 5;  ///< three products each

  /// Coefficients of an iteration. @return the published ones, whichever it is
  TIEROPT_HOST static constexpr newton_schulz_step step(int) { return {3.4445, -4.7750, 2.0315}; }
};

/// Whether a part multiplies matrices.
template <class Part>
inline constexpr bool orthogonalizes = !cuda::std::is_void_v<typename Part::element>;

/// An orthogonal part.
template <class Part>
concept orthogonal_policy = requires {
  typename Part::element;
}
&&(cuda::std::is_void_v<typename Part::element> ||
   (storable<typename Part::element> && requires(int64_t n) {
     { Part::iterations } -> cuda::std::convertible_to<int>;
     { Part::step(0) } -> cuda::std::same_as<newton_schulz_step>;
     { Part::scale::factor(n, n) } -> cuda::std::same_as<double>;
   }));

}  // namespace v0_1
}  // namespace tieropt
