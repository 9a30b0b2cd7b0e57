// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes up for the decays that idle matrices missed. Layer: kernel.
#pragma once

#include <tieropt/kernel/apply.hpp>
#include <tieropt/kernel/begin_step.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Derives (1 - lr wd)^missed for all matrices of a range; the others rest.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct begin_catch_up_body {
  using storage = byte[16];                               ///< no use
  static constexpr tuning tune = tune_for<Parts>(16, 2);  ///< mapping
  tensor_table<Parts> table;                              ///< the tensors
  int64_t n_matrices;                                     ///< of the range
  uint64_t seed;                                          ///< of the rounding bits
  hyper hypers[max_groups];                               ///< by group

  /// Runs one block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    int64_t const base = block.index() * matrices_per_block;
    block.for_each(clamp_count(n_matrices - base, matrices_per_block), [&](int64_t i) {
      auto const& tensor = table.entries[table.find(&tensor_entry<Parts>::first_matrix, base + i)];
      int64_t const e = base + i - tensor.first_matrix;
      int64_t const step = tensor.step[Parts::step_scope == scope::tensor ? 0 : e];
      int64_t const missed = tensor.missed == nullptr ? 0 : tensor.missed[e];
      hyper const h = hypers[tensor.group];
      step_inputs in;
      in.seed = seed;
      // The decays belong to the step that was taken last.
      auto s = derive_scalars<Parts>(h, in, step < 1 ? 1 : step, tensor.key);
      s.rounding_key = role_key(s.rounding_key, draw_role::catch_up);
      s.decay = decay_of<Parts>(h, step < 1 ? 1 : step, missed);
      s.active = s.active && missed > 0;
      tensor.scalars[e] = s;
      tensor.places[e] = tensor.find(e);
    });
  }
};

/// A block decays one tile of the weights: one rounding.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct catch_up_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = byte[16];                ///< no use
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// Reads and writes weights.
  static constexpr tuning tune = tune_for<Parts>(widest<widest_weight<Parts>>(), 2);
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::can_catch_up;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const&, int64_t index) {
    tile_place const place = locate(tensor.shape, index);
    int64_t const e = place.e, c0 = place.segment * segment;
    auto const s = tensor.scalars[e];
    if (!s.active) return;
    T const decay = s.decay;
    weight_plane<Parts> const weights{tensor, e, c0};
    int const columns = clamp_count(tensor.shape.C - c0, segment);
    block.for_each_group([&](auto const& any_group) {
      with_tile(
          any_group, columns, tensor.aligned, tensor.unit, [&](auto const& group, auto const& cut) {
            weight_bits<Parts> random{s.rounding_key};
            for (int i = group.index(); i < leaves; i += Block::groups) {
              int64_t const begin = place.tile * tile_rows + i * leaf;
              int const rows = clamp_count(tensor.shape.R - begin, leaf);
              for (int64_t r = begin; r < begin + rows; ++r) {
                random.go_to(tensor.element(e, r, c0));
                cut.for_each_strip([&](int k, auto width) {
                  auto p = weights.load(group, cut, width, r, k * strip);
                  auto const next = [&](auto at) { return mul(p.template get<T>(at), decay); };
                  if constexpr (draws_weights<Parts>) {
                    auto const bits = random.draw(group, k);
                    group.for_each(width, [&](auto at) { p.put(at, next(at), bits(at)); });
                  } else {
                    group.for_each(width, [&](auto at) { p.put(at, next(at)); });
                  }
                  p.store();
                });
              }
            }
          });
    });
  }
};

/// Forgets what was made up for.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct end_catch_up_body {
  using storage = byte[16];                               ///< no use
  static constexpr tuning tune = tune_for<Parts>(16, 2);  ///< mapping
  tensor_table<Parts> table;                              ///< the tensors
  int64_t n_matrices;                                     ///< of the range

  /// Runs one block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    int64_t const base = block.index() * matrices_per_block;
    block.for_each(clamp_count(n_matrices - base, matrices_per_block), [&](int64_t i) {
      auto const& tensor = table.entries[table.find(&tensor_entry<Parts>::first_matrix, base + i)];
      int64_t const e = base + i - tensor.first_matrix;
      if (tensor.scalars[e].active) tensor.missed[e] = 0;
    });
  }
};

}  // namespace v0_1
}  // namespace tieropt
