// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Muon, composed (K. Jordan et al., 2024): orthogonalised momentum for hidden matrices. Layer:
/// policy.
#pragma once

#include <tieropt/policy/tier_policy.hpp>

namespace tieropt {
inline namespace v0_1 {
namespace muon {

/// Matrices: Nesterov momentum, five Newton-Schulz iterations, decoupled decay. Its products come
/// from the caller: enqueue with with_gemm(executor, gemm). The state is the momentum alone; its
/// decay is hyper::beta1 (0.95 as published). Tensors below rank 2 are refused, and embeddings and
/// heads belong into another tier, say its authors.
/// @tparam State of states, and compute
/// @tparam Element what products read and write: bf16 as published, fp16, float or double
/// @tparam Scale keller_jordan_scale or moonlight_scale
template <class State = float, class Element = bf16, class Scale = keller_jordan_scale>
struct matrix_as : tier {
  using momentum = nesterov<ema_momentum<State>>;    ///< (E, R, C)
  using variance = no_variance;                      ///< singular values take its place
  using bias_correction = correct_none;              ///< of no effect: the norm is 1 anyway
  using orthogonal = newton_schulz<Element, Scale>;  ///< every singular value near 1
  using clip = unit_norm;                            ///< what the iteration starts from
  using compute = State;                             ///< compute type
};

using matrix = matrix_as<>;                                 ///< fp32 momentum, bf16 products
using moonlight = matrix_as<float, bf16, moonlight_scale>;  ///< the RMS of AdamW's updates
using policy = tier_policy<matrix>;                         ///< one population

}  // namespace muon
}  // namespace v0_1
}  // namespace tieropt
