// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is measured before the update is applied: the update itself, and the parameter. Layer:
/// kernel.
#pragma once

#include <tieropt/kernel/strip_update.hpp>
#include <tieropt/kernel/sums.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// Sums up a tile: the rows of a leaf in order, then the tree of the leaves.
/// @tparam T compute type @tparam Block a block @tparam F callable
/// @param[in] block the block @param[out] kept a sum for each leaf, in the block's storage
/// @param[out] to the tile's sum @param[in] place of the tile @param[in] shape of the tensor
/// @param[in] aligned see with_tile @param[in] unit see with_tile
/// @param[in] f (group, tile, row, sum so far) gives the sum with that row
template <class T, class Block, class F>
TIEROPT_HOST_DEVICE void sum_tile(Block const& block, T (&kept)[leaves], T* to,
                                  tile_place const& place, geometry const& shape, bool aligned,
                                  bool unit, F const& f) {
  int const columns = clamp_count(shape.C - place.segment * segment, segment);
  block.for_each_group([&](auto const& any_group) {
    with_tile(any_group, columns, aligned, unit, [&](auto const& group, auto const& cut) {
      for (int i = group.index(); i < leaves; i += Block::groups) {
        int64_t const begin = place.tile * tile_rows + i * leaf;
        int const rows = clamp_count(shape.R - begin, leaf);
        T sum = T(0);
        for (int r = 0; r < rows; ++r) sum = f(group, cut, begin + r, sum);
        group.single([&] { kept[i] = sum; });
      }
    });
  });
  block.for_each(1, [&](int64_t) { *to = tree8(kept, 1); });
}

/// A block measures one tile of the update: what its clip sums up goes to norm_part.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct measure_pass {
  using T = typename Parts::compute;       ///< compute type
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// What a block keeps.
  struct storage {
    column_storage<Parts> cols;  ///< column values
    T sums[leaves];              ///< of the leaves
  };
  /// Reads gradients and states.
  static constexpr tuning tune = update_tuning<Parts, none>();
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::measures;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] inputs its gradient @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const& inputs, int64_t index) {
    using clip = typename Parts::clip;
    tile_place const place = locate(tensor.shape, index);
    int64_t const e = place.e, c0 = place.segment * segment;
    if (!tensor.scalars[e].active) return;  // its gradient may be null
    strip_operands<Parts> const in{tensor, inputs.grad, e, c0};
    auto& kept = block.template shared<storage>();
    bool const aligned = tensor.aligned && on_16_bytes(inputs.grad);

    fill_columns(block, kept.cols, tensor, e, c0, aligned);
    sum_tile(block, kept.sums, tensor.work.norm_part + index, place, tensor.shape, aligned,
             tensor.unit, [&](auto const& group, auto const& cut, int64_t r, T norm) {
               using group_type = cuda::std::remove_cvref_t<decltype(group)>;
               T const row = row_value<Parts>(tensor, e, r);
               typename group_type::template fragment<T> sum;
               group.zero(sum);
               cut.for_each_strip([&](int k, auto width) {
                 with_update<needs<Parts>::measuring, Parts>(
                     group, cut, width, in, r, k * strip, row, kept.cols.of(group, k),
                     [&](auto const& update, auto const&) {
                       group.for_each(width,
                                      [&](auto at) { sum(at) = clip::take(sum(at), update(at)); });
                     });
               });
               T gain = row_gain<Parts>(row);
               // What the tensor shares has each matrix's own gain in it: their steps may differ.
               if constexpr (needs<Parts>::spans_tensor) {
                 gain = mul(gain, matrix_gain<Parts>(in.scalars));
               }
               return clip::take_row(norm, group.reduce(sum), gain);
             });
  }
};

/// A block measures one tile of the parameter: its squared norm goes to param_part.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct weigh_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = T[leaves];               ///< sums of the leaves
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// Reads parameters.
  static constexpr tuning tune =
      tune_for<Parts>(widest<widest_weight<Parts>>(), keeps_master<typename Parts::master> ? 2 : 3);
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::scales;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const&, int64_t index) {
    tile_place const place = locate(tensor.shape, index);
    if (!tensor.scalars[place.e].active) return;
    weight_plane<Parts> const weights{tensor, place.e, place.segment * segment};
    sum_tile(block, block.template shared<storage>(), tensor.work.param_part + index, place,
             tensor.shape, tensor.aligned, tensor.unit,
             [&](auto const& group, auto const& cut, int64_t r, T norm) {
               using group_type = cuda::std::remove_cvref_t<decltype(group)>;
               typename group_type::template fragment<T> sum;
               group.zero(sum);
               cut.for_each_strip([&](int k, auto width) {
                 auto const p = weights.load(group, cut, width, r, k * strip);
                 group.for_each(width, [&](auto at) {
                   T const x = p.template get<T>(at);
                   sum(at) = fma(x, x, sum(at));
                 });
               });
               return add(norm, group.reduce(sum));
             });
  }
};

/// A block folds what was measured of one matrix, or of one tensor, into its factors.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct find_factors_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = byte[16];                ///< no use
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// One element per lane on the device.
  static constexpr tuning tune = tune_for<Parts>(16, 2);
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::measures || needs<Parts>::scales;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_clip;

  /// Blocks of one tensor. @param[in] shape its shape @return E, or 1 for a tensor-wide clip
  TIEROPT_HOST_DEVICE static constexpr int64_t blocks(geometry const& shape) {
    return shape.size() == 0 ? 0 : needs<Parts>::spans_tensor ? 1 : shape.E;
  }

  /// Runs one block. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] index which matrix
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const&, int64_t index) {
    auto const s = tensor.scalars[index];
    if (!s.active) return;
    geometry const shape = tensor.shape;
    int64_t const spanned = needs<Parts>::spans_tensor ? shape.E : 1;
    int64_t const n = spanned * shape.matrix_tiles(), begin = index * shape.matrix_tiles();
    T const count = static_cast<T>(spanned * shape.R * shape.C);
    block.for_each_group([&](auto const& any_group) {
      auto const& group = any_group.ragged();
      if (group.index() != 0) return;
      if constexpr (needs<Parts>::measures) {
        using clip = typename Parts::clip;
        T const sum = sum_vector<T>(group, tensor.work.norm_part + begin, n);
        group.single([&] {
          T const gain = needs<Parts>::spans_tensor ? T(1) : matrix_gain<Parts>(s);
          T const level = clip::level(sum, count, gain);
          tensor.work.rms[index] = level;
          tensor.work.factor[index] = clip::factor(level, gain, s);
        });
      }
      if constexpr (needs<Parts>::scales) {
        T const sum = sum_vector<T>(group, tensor.work.param_part + begin, n);
        group.single([&] { tensor.work.param_rms[index] = sqrt(div(sum, count)); });
      }
    });
  }
};

/// Which entry of rms, factor and param_rms is a matrix's.
/// @tparam Parts see kernel/tensor.hpp @param[in] e matrix @return e, or 0 for one that all share
template <class Parts>
TIEROPT_HOST_DEVICE int64_t measured_entry(int64_t e) {
  return needs<Parts>::spans_tensor ? 0 : e;
}

}  // namespace v0_1
}  // namespace tieropt
