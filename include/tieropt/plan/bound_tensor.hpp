// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One tensor of the caller's with its gradient and state: views only. Layer: plan.
#pragma once

#include <tieropt/kernel/tensor.hpp>
#include <tieropt/policy/tier.hpp>
#include <tieropt/view.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The buffers of a second moment; give row and col, or exact.
/// @tparam State how it is stored
template <class State>
struct variance_views {
  tensor_view<State> row{};    ///< (E, R) dense: factored tiers, rank 2 and up
  tensor_view<State> col{};    ///< (E, C) dense: factored tiers, rank 2 and up
  tensor_view<State> exact{};  ///< the parameter's shape: exact tiers, and below rank 2
};

/// A parameter of any rank, its gradient and its state, in buffers that the caller owns.
///
/// The last two dimensions are the matrix (R, C), all before them are stacked into E matrices; a
/// vector (N) is one row. Strides are free as long as the stacked dimensions collapse into one.
/// An empty tensor is valid and rests.
/// @tparam Population the tier it belongs to
/// @tparam Param element type of the parameter
/// @tparam Grad element type of the gradient
template <class Population, class Param, class Grad = Param>
struct bound_tensor {
  using population = Population;                               ///< its tier
  using param_type = Param;                                    ///< of the parameter
  using grad_type = Grad;                                      ///< of the gradient
  using parts = tier_parts<Population, Param, Grad>;           ///< what kernels need
  using momentum_type = typename parts::momentum::state_type;  ///< of the momentum, or none
  using variance_type = typename parts::variance::state_type;  ///< of the second moment

  tensor_view<Param> param{};                ///< (..., R, C), read and written
  tensor_view<Grad const> grad{};            ///< the same shape, read; absent: the tensor rests
  tensor_view<momentum_type> momentum{};     ///< the same shape; only where the tier has one
  variance_views<variance_type> variance{};  ///< second moment
  tensor_view<int64_t> step{};               ///< (E) steps taken; (1) if step_scope is tensor
  tensor_view<int const> active{};           ///< (E), 0 = this matrix rests; none: all step
  int64_t key = 0;                           ///< names the tensor for the rounding bits
  int64_t first_element = 0;                 ///< where this view starts in the whole tensor
  int group = 0;                             ///< which hyperparameters
};

}  // namespace v0_1
}  // namespace tieropt
