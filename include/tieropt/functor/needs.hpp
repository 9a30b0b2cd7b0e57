// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What follows from a tier's parts: passes, reads of the gradient, where states change. Layer:
/// functor.
#pragma once

#include <tieropt/functor/fault.hpp>
#include <tieropt/functor/momentum.hpp>
#include <tieropt/functor/orthogonal.hpp>
#include <tieropt/functor/rates.hpp>
#include <tieropt/functor/update.hpp>
#include <tieropt/functor/variance.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What a pass that forms the update does to momentum and exact variance.
enum class states {
  store,  ///< they take the gradient in and are stored
  dry,    ///< they take the gradient in, and what comes of it is forgotten
  recall  ///< they took it in already: the update is formed again from them
};

/// Whether a state is read back as it was formed.
template <class State>
inline constexpr bool lossless_state = cuda::std::is_same_v<State, none> || compute_type<State>;

/// Facts about a tier.
/// @tparam Parts a tier, or what kernels get of it (kernel/tensor.hpp)
template <class Parts>
struct needs {
  using momentum_part = typename Parts::momentum;      ///< part
  using variance_part = typename Parts::variance;      ///< part
  using orthogonal_part = typename Parts::orthogonal;  ///< part

  static constexpr bool factored = variance_part::factored;        ///< second moments, factored
  static constexpr bool divides = keeps_variance<variance_part>;   ///< second moments of any kind
  static constexpr bool exact = divides && !factored;              ///< second moments, per element
  static constexpr bool momentum = keeps_momentum<momentum_part>;  ///< a momentum of any kind
  /// A momentum that ends up with what is subtracted.
  static constexpr bool of_update = momentum && Parts::momentum_input::takes_update;
  static constexpr bool of_gradient = momentum && !of_update;          ///< the usual one
  static constexpr bool measures = Parts::clip::measures;              ///< the update
  static constexpr bool scales = Parts::scale::measures;               ///< by the parameter
  static constexpr bool orthogonal = orthogonalizes<orthogonal_part>;  ///< by matrix products
  static constexpr bool l2 = Parts::decay::of_grad;                    ///< the gradient decays

  /// Faulty elements rest alone.
  static constexpr bool masks = Parts::fault::rests == resting::element;
  /// Faulty elements are counted where the gradient is read last.
  static constexpr bool counts_elements =
      Parts::fault::counts && (masks || Parts::fault::rests == resting::nothing);
  static constexpr bool rests_step = Parts::fault::rests == resting::step;  ///< all together
  static constexpr bool clips_norm = Parts::grad_clip::limits_norm;         ///< of all gradients
  /// Squared norms of the gradients are known before any state changes.
  static constexpr bool surveys =
      clips_norm || rests_step || Parts::fault::rests == resting::matrix;
  /// The plan must have looked at all gradients before any state changes.
  static constexpr bool waits = clips_norm || rests_step;
  /// A pass of its own for the squared norms: the row sums of squares are those of another
  /// gradient, or there are none.
  static constexpr bool norm_pass = surveys && (!factored || l2);

  /// Whether the update can be formed again from the states, the gradient beside them if need be.
  /// States that are rounded when they are stored are not: an update never sees that rounding.
  static constexpr bool recalls =
      (!of_gradient || recallable_momentum<momentum_part>)&&!counts_elements &&
      (!of_gradient || lossless_state<typename momentum_part::state_type>)&&(
          !exact || lossless_state<typename variance_part::state_type>);
  /// What the measuring pass does.
  static constexpr states measuring = recalls ? states::store : states::dry;
  /// What the last pass does that forms the update.
  static constexpr states last = measures && recalls ? states::recall : states::store;

  /// Whether a pass reads the gradient. @param[in] mode what it does @return true if so
  TIEROPT_HOST_DEVICE static constexpr bool reads_grad(states mode) {
    return mode != states::recall || !of_gradient || Parts::transform::reads_grad;
  }
  /// How often a step reads each element of the gradient.
  static constexpr int grad_reads =
      (factored ? 1 : 0) + (norm_pass ? 1 : 0) + (measures ? 1 : 0) + (reads_grad(last) ? 1 : 0);
  /// Whether something is measured over the whole tensor, so that its matrices step together.
  static constexpr bool spans_tensor = (measures && Parts::clip::spans == scope::tensor) ||
                                       (scales && Parts::scale::spans == scope::tensor);

  /// Whether the matrices of a tensor step, or rest, together.
  static constexpr bool together = spans_tensor || Parts::step_scope == scope::tensor;
  /// Whether missed decays can be made up for: nothing else goes on while a matrix is idle.
  static constexpr bool can_catch_up = !momentum && !scales && !orthogonal &&
                                       Parts::decay::of_param && !Parts::decay::rounds_to_param &&
                                       cuda::std::is_same_v<typename Parts::rate, given_rate>;

  /// Single elements cannot rest where matrix products mix them.
  static constexpr bool masks_conflict = masks && orthogonal;
  /// A momentum of the update without a momentum.
  static constexpr bool input_without_momentum = !momentum && Parts::momentum_input::takes_update;
  /// Clip and scale that span different things.
  static constexpr bool scopes_differ =
      measures && scales && Parts::clip::spans != Parts::scale::spans;
  /// Parts that have no place beside matrix products.
  static constexpr bool orthogonal_conflict =
      orthogonal &&
      (divides || scales || of_update || !cuda::std::is_same_v<typename Parts::clip, unit_norm>);
};

/// How often a step reads each element of the gradient.
/// @tparam Tier a population
template <class Tier>
inline constexpr int grad_reads = needs<Tier>::grad_reads;

}  // namespace v0_1
}  // namespace tieropt
