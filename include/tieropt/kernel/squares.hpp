// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pass 1 of a factored tier: sums of squared gradients per row and per column. Layer: kernel.
#pragma once

#include <tieropt/kernel/gradient.hpp>
#include <tieropt/kernel/sums.hpp>
#include <tieropt/kernel/tensor.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// A block sums one tile of 128 rows and 1,024 columns: row sums per segment, column sums per tile.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct squares_pass {
  using T = typename Parts::compute;              ///< compute type
  using storage = kept_strip<T>[leaves][strips];  ///< column sums of the leaves
  using entry_type = tensor_entry<Parts>;         ///< one tensor
  /// Reads gradients, and parameters where the gradient decays.
  static constexpr int bytes = widest<typename Parts::grad, grad_decay_operand<Parts>>();
  /// Wide operands, and elements that may rest, leave registers for two blocks.
  static constexpr tuning tune =
      tune_for<Parts>(bytes, bytes > 2 || needs<Parts>::l2 || needs<Parts>::masks ? 2 : 3);
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::factored;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] inputs its gradient @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const& inputs, int64_t index) {
    auto const [e, tile, seg] = locate(tensor.shape, index);
    auto const s = tensor.scalars[e];
    if (!s.active) return;
    auto const shape = tensor.shape;
    int64_t const row0 = tile * tile_rows, c0 = seg * segment;
    gradient_source<Parts> const g{tensor, inputs.grad, e, c0};
    int const columns = clamp_count(shape.C - c0, segment);
    T* const row_part = tensor.work.row_part + (e * shape.segments() + seg) * shape.R;
    T* const col_part =
        tensor.work.col_part + (e * shape.row_tiles() + tile) * padded_columns(shape.C) + c0;
    auto& leaf_sums = block.template shared<storage>();
    bool const aligned = tensor.aligned && on_16_bytes(inputs.grad);

    block.for_each_group([&](auto const& any_group) {
      with_tile(any_group, columns, aligned, tensor.unit, [&](auto const& group, auto const& cut) {
        using group_type = cuda::std::remove_cvref_t<decltype(group)>;
        for (int i = group.index(); i < leaves; i += Block::groups) {
          typename group_type::template fragment<T> col[strips];
          TIEROPT_UNROLL
          for (int k = 0; k < strips; ++k) group.zero(col[k]);
          int64_t const begin = row0 + i * leaf;
          int const rows = clamp_count(shape.R - begin, leaf);
          int r = 0;
          if constexpr (cuda::std::remove_cvref_t<decltype(cut)>::unit && !needs<Parts>::l2) {
            // Two rows share one visit of the column sums; the order of the sums stays.
            for (; r + 1 < rows; r += 2) {
              add_rows<2>(group, cut, g, s, begin + r, col, row_part);
            }
          }
          for (; r < rows; ++r) {
            add_rows<1>(group, cut, g, s, begin + r, col, row_part);
          }
          TIEROPT_UNROLL
          for (int k = 0; k < strips; ++k) group.keep(leaf_sums[i][k], col[k]);
        }
      });
    });
    block.for_each_group([&](auto const& any_group) {
      with_tile(any_group, columns, aligned, tensor.unit, [&](auto const& group, auto const& cut) {
        for (int k = group.index(); k < strips; k += Block::groups) {
          auto const width = cut.width(k);
          auto const total = sum_leaves<leaves>(group, leaf_sums, 0, k);
          auto sum = group.blank(col_part + k * strip, width, unit_stride{});
          group.for_each(width, [&](auto at) { sum.put(at, total(at)); });
          sum.store();
        }
      });
    });
  }

 private:
  /// The tree of neighbours over N leaves of a strip.
  template <int N, class Group>
  TIEROPT_HOST_DEVICE static auto sum_leaves(Group const& group, storage const& kept, int i,
                                             int k) {
    if constexpr (N == 1) {
      return group.kept(kept[i][k]);
    } else {
      auto const a = sum_leaves<N / 2>(group, kept, i, k);
      auto const b = sum_leaves<N / 2>(group, kept, i + N / 2, k);
      typename Group::template fragment<T> sum;
      group.for_each(whole_strip{}, [&](auto at) { sum(at) = add(a(at), b(at)); });
      return sum;
    }
  }
  /// Adds N consecutive rows to the column sums and writes their row sums.
  template <int N, class Group, class Cut, class Fragment>
  TIEROPT_HOST_DEVICE static void add_rows(Group const& group, Cut const& cut,
                                           gradient_source<Parts> const& g,
                                           step_scalars<T> const& s, int64_t r,
                                           Fragment (&col)[strips], T* row_part) {
    Fragment first_row, second_row;
    group.zero(first_row);
    if constexpr (N == 2) group.zero(second_row);
    TIEROPT_UNROLL
    for (int k = 0; k < strips; ++k) {
      auto const width = cut.width(k);
      if (width == 0) break;
      for (int ahead = N; ahead < 2 * N; ++ahead) g.prefetch(group, cut, r + ahead, k * strip);
      auto const x = g.load(group, cut, width, r, k * strip, s);
      if constexpr (N == 2) {
        auto const y = g.load(group, cut, width, r + 1, k * strip, s);
        group.for_each(width, [&](auto at) {
          T const v = x(at), w = y(at);
          first_row(at) = fma(v, v, first_row(at));
          second_row(at) = fma(w, w, second_row(at));
          col[k](at) = fma(w, w, fma(v, v, col[k](at)));
        });
      } else {
        group.for_each(width, [&](auto at) {
          T const v = x(at);
          first_row(at) = fma(v, v, first_row(at));
          col[k](at) = fma(v, v, col[k](at));
        });
      }
    }
    T const sum = group.reduce(first_row);
    group.single([&] { row_part[r] = sum; });
    if constexpr (N == 2) {
      T const next = group.reduce(second_row);
      group.single([&] { row_part[r + 1] = next; });
    }
  }
};

}  // namespace v0_1
}  // namespace tieropt
