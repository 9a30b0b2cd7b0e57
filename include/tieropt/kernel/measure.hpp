// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pass 3 of a clipped tier: states take the gradient in, the update's norm is measured. Layer:
/// kernel.
#pragma once

#include <tieropt/kernel/strip_update.hpp>
#include <tieropt/kernel/sums.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// A block measures one tile: the squared norm of its update goes to norm_part.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct measure_pass {
  using T = typename Parts::compute;       ///< compute type
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// What a block keeps.
  struct storage {
    column_storage<Parts> cols;  ///< column values
    T norms[leaves];             ///< norms of the leaves
  };
  /// Reads gradients and states.
  static constexpr tuning tune = update_tuning<Parts, none>();
  /// Whether a tier needs it.
  static constexpr bool wanted = Parts::clip::measures;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] grad its gradient @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      typename Parts::grad const* grad, int64_t index) {
    tile_place const place = locate(tensor.shape, index);
    int64_t const e = place.e, c0 = place.segment * segment;
    strip_operands<Parts> const in{tensor, grad, e, c0};
    if (!in.scalars.active) return;
    int const columns = clamp_count(tensor.shape.C - c0, segment);
    auto& kept = block.template shared<storage>();
    bool const aligned = tensor.aligned && on_16_bytes(grad);

    if constexpr (Parts::variance::factored) {
      block.for_each_group([&](auto const& any_group) {
        with_tile(any_group, columns, aligned, tensor.unit,
                  [&](auto const& group, auto const& cut) {
                    kept.cols.fill(group, Block::groups, cut, tensor, e, c0);
                  });
      });
    }
    block.for_each_group([&](auto const& any_group) {
      with_tile(any_group, columns, aligned, tensor.unit, [&](auto const& group, auto const& cut) {
        using group_type = cuda::std::remove_cvref_t<decltype(group)>;
        for (int i = group.index(); i < leaves; i += Block::groups) {
          int64_t const begin = place.tile * tile_rows + i * leaf;
          int const rows = clamp_count(tensor.shape.R - begin, leaf);
          T norm = T(0);
          for (int r = 0; r < rows; ++r) {
            T const row = row_value<Parts>(tensor, e, begin + r);
            typename group_type::template fragment<T> sum;
            group.zero(sum);
            cut.for_each_strip([&](int k, auto width) {
              with_update<true, Parts>(group, cut, width, in, begin + r, k * strip, row,
                                       kept.cols.of(group, k), [&](auto const& update) {
                                         group.for_each(width, [&](auto at) {
                                           T const u = update(at);
                                           sum(at) = fma(u, u, sum(at));
                                         });
                                       });
            });
            T const gain = row_gain<Parts>(row);
            norm = fma(mul(group.reduce(sum), gain), gain, norm);  // gain^2 alone may overflow
          }
          group.single([&] { kept.norms[i] = norm; });
        }
      });
    });
    block.for_each(1, [&](int64_t) { tensor.work.norm_part[index] = tree8(kept.norms, 1); });
  }
};

/// A block folds the norms of one matrix, or of one tensor, into its clip factor.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct find_clip_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = byte[16];                ///< no use
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// One element per lane on the device.
  static constexpr tuning tune = tune_for<Parts>(16, 2);
  /// Whether a tier needs it.
  static constexpr bool wanted = Parts::clip::measures;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_clip;

  /// Blocks of one tensor. @param[in] shape its shape @return E, or 1 for a tensor-wide clip
  TIEROPT_HOST_DEVICE static constexpr int64_t blocks(geometry const& shape) {
    return shape.size() == 0 ? 0 : Parts::clip::spans == scope::tensor ? 1 : shape.E;
  }

  /// Runs one block. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] index which matrix
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      typename Parts::grad const*, int64_t index) {
    auto const s = tensor.scalars[index];
    if (!s.active) return;
    geometry const shape = tensor.shape;
    int64_t const spanned = Parts::clip::spans == scope::tensor ? shape.E : 1;
    int64_t const n = spanned * shape.matrix_tiles();
    T const* const part = tensor.work.norm_part + index * shape.matrix_tiles();
    block.for_each_group([&](auto const& any_group) {
      auto const& group = any_group.ragged();
      if (group.index() == 0) {
        T const sum = sum_vector<T>(group, part, n);
        group.single([&] {
          T const rms = Parts::clip::rms(sum, static_cast<T>(spanned * shape.R * shape.C), s);
          tensor.work.rms[index] = rms;
          tensor.work.factor[index] = Parts::clip::factor(rms, s);
        });
      }
    });
  }
};

}  // namespace v0_1
}  // namespace tieropt
