// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is known of all gradients before any state changes: their norm, and what is faulty. Layer:
/// kernel.
///
/// A range that is surveyed sums its squares first: in squares_pass, or in norm_pass where the tier
/// has no such pass or its gradient decays. judge_pass adds them up for each matrix. Where the plan
/// waits, tally_body adds up the matrices of a range, and settle_body lets all matrices of the plan
/// rest, or scales their gradients. count_body counts at the end of the step.
#pragma once

#include <tieropt/kernel/begin_step.hpp>
#include <tieropt/kernel/measure.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What one range adds to the decisions of a step, and what its fault part counted.
struct range_record {
  double squared_norm = 0;  ///< of the unscaled gradients under global_norm_clip
  double grad_norm = 0;     ///< of all of them in the plan
  int64_t faulty = 0;       ///< matrices, under skip_step
  int64_t rested = 0;       ///< 1: the range had to rest in the last step
  fault_counts counts;      ///< since prepare
};

/// A block measures one tile of the gradient: its squared norm goes to grad_part.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct norm_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = T[leaves];               ///< sums of the leaves
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// Reads gradients.
  static constexpr tuning tune = tune_for<Parts>(widest<typename Parts::grad>(), 3);
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::norm_pass;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] inputs its gradient @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const& inputs, int64_t index) {
    tile_place const place = locate(tensor.shape, index);
    auto const s = tensor.scalars[place.e];
    if (!s.active) return;
    gradient_source<Parts> const g{tensor, inputs.grad, place.e, place.segment * segment};
    sum_tile(block, block.template shared<storage>(), tensor.work.grad_part + index, place,
             tensor.shape, tensor.aligned && on_16_bytes(inputs.grad), tensor.unit,
             [&](auto const& group, auto const& cut, int64_t r, T norm) {
               using group_type = cuda::std::remove_cvref_t<decltype(group)>;
               typename group_type::template fragment<T> sum;
               group.zero(sum);
               cut.for_each_strip([&](int k, auto width) {
                 g.prefetch(group, cut, r + 2, k * strip);
                 auto const x = g.load_alone(group, cut, width, r, k * strip, s);
                 group.for_each(width, [&](auto at) {
                   T const v = x(at);
                   sum(at) = fma(v, v, sum(at));
                 });
               });
               return add(norm, group.reduce(sum));
             });
  }
};

/// A block adds up the squares of one matrix, or of a tensor whose matrices step together, and lets
/// it rest where it must.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct judge_pass {
  using T = typename Parts::compute;       ///< compute type
  using need = needs<Parts>;               ///< facts about the tier
  using storage = T[1];                    ///< the sum
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// One element per lane on the device.
  static constexpr tuning tune = tune_for<Parts>(16, 2);
  /// Whether a tier needs it.
  static constexpr bool wanted = need::surveys;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_judge;

  /// Blocks of one tensor. @param[in] shape its shape @return E, or 1 where all step together
  TIEROPT_HOST_DEVICE static constexpr int64_t blocks(geometry const& shape) {
    return shape.size() == 0 ? 0 : need::together ? 1 : shape.E;
  }

  /// Runs one block. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] index which matrix
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const&, int64_t index) {
    auto* const scalars = tensor.scalars + index;
    bool const active = scalars->active;
    geometry const shape = tensor.shape;
    int64_t const spanned = need::together ? shape.E : 1;
    int64_t const parts = need::norm_pass ? shape.matrix_tiles() : shape.segments() * shape.R;
    T const* const part =
        (need::norm_pass ? tensor.work.grad_part : tensor.work.row_part) + index * parts;
    auto& sum = block.template shared<storage>();
    block.for_each(1, [&](int64_t) { sum[0] = T(0); });
    block.for_each_group([&](auto const& any_group) {
      auto const& group = any_group.ragged();
      if (group.index() != 0 || !active) return;
      T const squares = sum_vector<T>(group, part, spanned * parts);
      group.single([&] { sum[0] = squares; });
    });
    if (!active) return;
    bool const faulty = !is_finite(sum[0]);
    constexpr bool rests = Parts::fault::rests == resting::matrix;
    T const squares = rests && faulty ? T(0) : sum[0];
    block.for_each(spanned, [&](int64_t e) {
      scalars[e].squared_norm = e == 0 ? squares : T(0);
      scalars[e].faulty = faulty;
      if (rests && faulty) scalars[e].active = false;
    });
  }
};

/// Items of a block that adds up a range.
inline constexpr int tally_lanes = 256;

/// Adds up the items of a range in an order of its own: every 256th, then all of them.
/// @tparam T value type @tparam Block a block @tparam F callable @param[in] block the block
/// @param[out] kept 256 values in the block's storage @param[in] n items @param[in] f value of one
/// @return the sum, for every lane
template <class T, class Block, class F>
TIEROPT_HOST_DEVICE T tally(Block const& block, T (&kept)[tally_lanes], int64_t n, F const& f) {
  block.for_each(tally_lanes, [&](int64_t lane) {
    T sum = T(0);
    for (int64_t i = lane; i < n; i += tally_lanes) sum += f(i);
    kept[lane] = sum;
  });
  for (int distance = 1; distance < tally_lanes; distance *= 2) {
    block.for_each(tally_lanes / (2 * distance),
                   [&](int64_t i) { kept[2 * distance * i] += kept[2 * distance * i + distance]; });
  }
  return kept[0];
}

/// One block adds up the matrices of a range.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct tally_body {
  /// What is added up.
  struct storage {
    double norms[tally_lanes];    ///< squared norms
    int64_t faults[tally_lanes];  ///< faulty matrices
  };
  static constexpr tuning tune = tune_for<Parts>(16, 2);  ///< mapping
  step_scalars<typename Parts::compute> const* scalars;   ///< of the range
  int64_t n_matrices;                                     ///< of the range
  range_record* record;                                   ///< of the range

  /// Runs the block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    using need = needs<Parts>;
    auto& kept = block.template shared<storage>();
    double const norm = tally(block, kept.norms, need::clips_norm ? n_matrices : 0,
                              [&](int64_t i) { return to<double>(scalars[i].squared_norm); });
    int64_t const faulty =
        tally(block, kept.faults, need::rests_step ? n_matrices : 0,
              [&](int64_t i) { return scalars[i].faulty ? int64_t{1} : int64_t{0}; });
    block.for_each(1, [&](int64_t) {
      record->squared_norm = norm;
      record->faulty = faulty;
    });
  }
};

/// Lets the matrices of a range rest, or scales their gradients, as all ranges of the plan demand.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct settle_body {
  using T = typename Parts::compute;                      ///< compute type
  using storage = byte[16];                               ///< no use
  static constexpr tuning tune = tune_for<Parts>(16, 2);  ///< mapping
  step_scalars<T>* scalars;                               ///< of the range
  int64_t n_matrices;                                     ///< of the range
  range_record* records;                                  ///< of all ranges
  int n_ranges;                                           ///< of the plan
  int range;                                              ///< which one this is
  step_inputs const* resident_inputs;                     ///< read instead of inputs unless null
  step_inputs inputs;                                     ///< of the step

  /// Runs one block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    constexpr bool clips = needs<Parts>::clips_norm;
    double const limit = resident_inputs ? resident_inputs->max_grad_norm : inputs.max_grad_norm;
    double squares = 0;
    int64_t faulty = 0;
    for (int i = 0; i < n_ranges; ++i) {
      squares = add(squares, records[i].squared_norm);
      faulty += records[i].faulty;
    }
    double const norm = sqrt(squares);
    bool const limits = clips && limit > 0;
    bool const rests = faulty > 0 || (limits && !is_finite(norm));
    double const wanted = div(limit, add(norm, 1e-6));
    T const gain = limits && wanted < 1.0 ? to<T>(wanted) : T(1);
    int64_t const base = block.index() * matrices_per_block;
    block.for_each(clamp_count(n_matrices - base, matrices_per_block), [&](int64_t i) {
      auto& s = scalars[base + i];
      if (rests) {
        s.active = false;
        s.idle = false;
        // A matrix that all let rest does not count on its own.
        if (Parts::fault::rests == resting::matrix) s.faulty = false;
      } else if (clips) {
        s.norm_gain = gain;
        s.grad_gain = mul(s.grad_gain, gain);
      }
      if (base + i == 0) {
        records[range].grad_norm = norm;
        records[range].rested = rests ? 1 : 0;
      }
    });
  }
};

/// One block adds what was faulty in a step to the range's counts.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct count_body {
  using storage = int64_t[tally_lanes];                   ///< what is added up
  static constexpr tuning tune = tune_for<Parts>(16, 2);  ///< mapping
  step_scalars<typename Parts::compute> const* scalars;   ///< of the range
  int64_t n_matrices;                                     ///< of the range
  int const* faulty;                                      ///< elements, by leaf
  int64_t n_leaves;                                       ///< of the range
  range_record* record;                                   ///< of the range

  /// Whether a tier needs it.
  static constexpr bool wanted = Parts::fault::counts || needs<Parts>::clips_norm;

  /// Runs the block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    using need = needs<Parts>;
    constexpr bool by_matrix = Parts::fault::rests == resting::matrix;
    auto& kept = block.template shared<storage>();
    int64_t const elements = tally(block, kept, need::counts_elements ? n_leaves : 0,
                                   [&](int64_t i) { return static_cast<int64_t>(faulty[i]); });
    block.for_each(1, [&](int64_t) { record->counts.elements += elements; });
    int64_t const matrices = tally(block, kept, by_matrix ? n_matrices : 0, [&](int64_t i) {
      return scalars[i].faulty ? int64_t{1} : int64_t{0};
    });
    block.for_each(1, [&](int64_t) {
      record->counts.matrices += matrices;
      if (need::waits) record->counts.steps += record->rested;
    });
  }
};

}  // namespace v0_1
}  // namespace tieropt
