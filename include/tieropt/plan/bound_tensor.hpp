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

/// The buffers of a block-quantised state.
/// @tparam State how it is stored
template <class State>
struct quantised_views {
  tensor_view<typename State::code> codes{};  ///< (..., R, C)
  tensor_view<float> scales{};                ///< (..., R, ceil(C / 32))
};

/// The buffers of a state with an element for every weight.
/// @tparam State how it is stored
template <class State>
struct views_of_state : cuda::std::type_identity<tensor_view<State>> {};
/// Codes and scales.
template <quantised_state State>
struct views_of_state<State> : cuda::std::type_identity<quantised_views<State>> {};
/// The buffers of a state with an element for every weight: a view, or codes and scales.
template <class State>
using state_views = typename views_of_state<State>::type;

/// The buffers of a second moment; give row and col, or exact.
/// @tparam State how it is stored
template <class State>
struct variance_views {
  tensor_view<stored_element_t<State>> row{};  ///< (E, R) dense: factored tiers, rank 2 and up
  tensor_view<stored_element_t<State>> col{};  ///< (E, C) dense: factored tiers, rank 2 and up
  /// The parameter's shape: exact tiers; and dense, the vectors of factored ones.
  state_views<State> exact{};
};

/// The buffers of a master; none.
/// @tparam Master a master part
template <class Master>
struct master_views {};
/// A master beside the parameter. @tparam Element float or double
template <class Element>
struct master_views<master_weights<Element>> {
  tensor_view<Element> weights{};  ///< (..., R, C)
};
/// The lower halves.
template <>
struct master_views<remainder_master> {
  tensor_view<uint16_t> remainder{};  ///< (..., R, C)
};
/// The lower halves and the carries.
template <>
struct master_views<carry_master> {
  tensor_view<uint16_t> remainder{};  ///< (..., R, C)
  tensor_view<uint8_t> carry{};       ///< (..., R, ceil(C / 8))
};

/// Which two dimensions of a tensor are the rows and columns of its matrices.
struct matrix_dims {
  int row = -2;  ///< from 0, or from the end if negative
  int col = -1;  ///< likewise, and behind row
  /// Not row and col but the two longest dimensions; of equally long ones, later ones.
  bool largest = false;
};
/// The last two dimensions. @return the default
TIEROPT_HOST constexpr matrix_dims last_two() { return {}; }
/// The two longest dimensions, as Adafactor's implementations choose. @return such a choice
TIEROPT_HOST constexpr matrix_dims two_largest() { return {-2, -1, true}; }

/// A parameter of any rank, its gradient and its state, in buffers that the caller owns.
///
/// Two dimensions, by default the last two, are the matrix (R, C); all others, in order, make E
/// matrices; a vector (N) is one row. Strides are free, and each view has its own. (..., R, n) is
/// the parameter's shape with n in the place of C. An empty tensor is valid and rests.
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
  state_views<momentum_type> momentum{};     ///< the same shape; only where the tier has one
  variance_views<variance_type> variance{};  ///< second moment
  master_views<typename parts::master> master{};  ///< the exact weight, where the tier has one
  tensor_view<int64_t> step{};                    ///< (E) steps taken; (1) if step_scope is tensor
  tensor_view<int const> active{};                ///< (E), 0 = this matrix rests; none: all step
  /// (E), optional: steps that a matrix missed because its active entry was 0. Its next step decays
  /// its weight for those too. Only without momentum, with fused_decay, given_rate and no_scale;
  /// the rate and the decay must have been the same in the missed steps.
  tensor_view<int64_t> missed{};
  int64_t key = 0;            ///< names the tensor for the rounding bits
  int64_t first_element = 0;  ///< where this view starts in the whole tensor
  int group = 0;              ///< which hyperparameters
  matrix_dims dims{};         ///< which dimensions are R and C
};

}  // namespace v0_1
}  // namespace tieropt
