// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The pass of an orthogonal tier that lays its updates out for matrix products. Layer: kernel.
#pragma once

#include <tieropt/kernel/measure.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The staged update of a tile; none but in orthogonal tiers.
/// @tparam Parts see kernel/tensor.hpp @param[in] tensor the tensor @param[in] inputs of the launch
/// @param[in] e matrix @param[in] c0 first column @return a dense plane that starts there
template <class Parts>
TIEROPT_HOST_DEVICE plane<stage_element<Parts>> staged_update(tensor_entry<Parts> const& tensor,
                                                              tensor_inputs<Parts> const& inputs,
                                                              int64_t e, int64_t c0) {
  int64_t const matrix = tensor.shape.R * tensor.shape.C;
  int64_t const slot = tensor.first_matrix - inputs.stage.first_matrix;
  return {inputs.stage.data + ((slot + e) * matrix + c0), tensor.shape.C, 1};
}

/// Whether the rows of staged updates start on 16 bytes.
/// @tparam Parts see kernel/tensor.hpp @param[in] tensor the tensor @return true if so
template <class Parts>
TIEROPT_HOST_DEVICE bool stage_is_aligned(tensor_entry<Parts> const& tensor) {
  return tensor.shape.C * static_cast<int64_t>(sizeof(stage_element<Parts>)) % 16 == 0;
}

/// A block writes one tile of the clipped update where matrix products read it; zeros for a matrix
/// that rests. The states take the gradient in, unless the measuring pass had them do so.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct stage_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = byte[16];                ///< no use
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// Reads gradients and states, writes staged updates.
  static constexpr tuning tune = update_tuning<Parts, stage_element<Parts>>();
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::orthogonal;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] inputs gradient and stage @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const& inputs, int64_t index) {
    tile_place const place = locate(tensor.shape, index);
    int64_t const e = place.e, c0 = place.segment * segment;
    strip_operands<Parts> const in{tensor, inputs.grad, e, c0};
    auto const staged = staged_update(tensor, inputs, e, c0);
    int const columns = clamp_count(tensor.shape.C - c0, segment);
    bool const active = in.scalars.active;
    T const factor = active ? tensor.work.factor[e] : T(0);
    fault_tally<Parts> const faults{tensor, index};
    bool const aligned = tensor.aligned && on_16_bytes(inputs.grad) && stage_is_aligned(tensor);
    block.for_each_group([&](auto const& any_group) {
      with_tile(any_group, columns, aligned, tensor.unit, [&](auto const& group, auto const& cut) {
        for (int i = group.index(); i < leaves; i += Block::groups) {
          int64_t const begin = place.tile * tile_rows + i * leaf;
          int const rows = clamp_count(tensor.shape.R - begin, leaf);
          auto found = faults.leaf(group);
          for (int r = 0; r < rows; ++r) {
            cut.for_each_strip([&](int k, auto width) {
              auto const stride = cut.stride(staged.col);
              auto x = group.blank(staged.at(begin + r, k * strip, stride), width, stride);
              if (active) {
                with_update<needs<Parts>::last, Parts>(group, cut, width, in, begin + r, k * strip,
                                                       T(1), none{},
                                                       [&](auto const& update, auto const& faulty) {
                                                         group.for_each(width, [&](auto at) {
                                                           x.put(at, mul(factor, update(at)));
                                                           found.take(at, faulty(at));
                                                         });
                                                       });
              } else {
                group.for_each(width, [&](auto at) { x.put(at, T(0)); });
              }
              x.store();
            });
          }
          faults.write(group, i, found);
        }
      });
    });
  }
};

}  // namespace v0_1
}  // namespace tieropt
