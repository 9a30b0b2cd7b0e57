// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pass 2 of a factored tier: partial sums into the factors, factors into values. Layer: kernel.
#pragma once

#include <tieropt/kernel/gradient.hpp>
#include <tieropt/kernel/state_tile.hpp>
#include <tieropt/kernel/sums.hpp>
#include <tieropt/kernel/tensor.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Block 0 of a matrix folds its rows, the others a segment of its columns each.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct fold_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = T[1];                    ///< the mean of the row factors
  using eps = typename Parts::eps;         ///< makes values of factors
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// How factors are stored.
  using state_type = typename Parts::variance::state_type;
  /// One element per lane on the device.
  static constexpr tuning tune = tune_for<Parts>(16, 2);
  /// Whether a tier needs it.
  static constexpr bool wanted = needs<Parts>::factored;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_fold;

  /// Blocks of one tensor. @param[in] shape its shape @return blocks
  TIEROPT_HOST_DEVICE static constexpr int64_t blocks(geometry const& shape) {
    return shape.size() == 0 ? 0 : shape.E * (1 + shape.segments());
  }

  /// Runs one block. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] inputs its gradient, for a vector whose elements may rest
  /// @param[in] index which block
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const& inputs, int64_t index) {
    int64_t const per_matrix = 1 + tensor.shape.segments();
    int64_t const e = index / per_matrix, part = index % per_matrix;
    if (!tensor.scalars[e].active) return;
    if (part == 0) {
      fold_rows(block, tensor, e);
    } else {
      fold_columns(block, tensor, inputs, e, (part - 1) * segment);
    }
  }

 private:
  template <class Block>
  TIEROPT_HOST_DEVICE static void fold_rows(Block const& block, entry_type const& tensor,
                                            int64_t e) {
    auto const s = tensor.scalars[e];
    int64_t const R = tensor.shape.R, segments = tensor.shape.segments();
    T const count = static_cast<T>(tensor.shape.C);
    T* const value = tensor.work.row_value + e * R;
    if (tensor.is_vector) {  // one row: its ratio to the mean is 1
      block.for_each(R, [&](int64_t r) { value[r] = eps::row(T(1), T(1), s); });
      return;
    }
    T* const part = tensor.work.row_part + e * segments * R;
    state_type* const row = tensor.row + e * R;
    block.for_each_group([&](auto const& any_group) {
      auto const& group = any_group.ragged();
      for (int64_t r = group.index() * strip; r < R; r += Block::groups * strip) {
        blend<typename Parts::variance, draw_role::row>(
            group, part + r, segments, R, clamp_count(R - r, strip), count, row + r, s,
            first_of(tensor, e * R + r), [](auto) { return false; });
      }
    });
    auto& mean = block.template shared<storage>();
    block.for_each_group([&](auto const& any_group) {
      auto const& group = any_group.ragged();
      if (group.index() == 0) {
        T const sum = sum_vector<T>(group, row, R);
        group.single(
            [&] { mean[0] = max(div(sum, static_cast<T>(R)), eps::template mean_floor<T>()); });
      }
    });
    T const row_mean = mean[0];
    block.for_each(R, [&](int64_t r) {
      value[r] = eps::row(storage_of::template decode<T>(row[r]), row_mean, s);
    });
  }

  template <class Block>
  TIEROPT_HOST_DEVICE static void fold_columns(Block const& block, entry_type const& tensor,
                                               tensor_inputs<Parts> const& inputs, int64_t e,
                                               int64_t c0) {
    auto const s = tensor.scalars[e];
    int64_t const C = tensor.shape.C, row_tiles = tensor.shape.row_tiles();
    T const count = static_cast<T>(tensor.shape.R);
    int const columns = clamp_count(C - c0, segment);
    int64_t const pitch = padded_columns(C);
    T* const part = tensor.work.col_part + e * row_tiles * pitch + c0;
    T* const value = tensor.work.col_value + e * pitch + c0;
    state_type* const col = tensor.col + e * C + c0;
    bool const is_vector = tensor.is_vector;
    block.for_each_group([&](auto const& any_group) {
      auto const& group = any_group.ragged();
      for (int c = group.index() * strip; c < columns; c += Block::groups * strip) {
        int const width = clamp_count(columns - c, strip);
        if (is_vector) {
          // A vector's moments are per element: one may have to rest.
          auto const x = [&] {
            if constexpr (needs<Parts>::masks) {
              return gradient_source<Parts>{tensor, inputs.grad, 0, c0}.load_alone(
                  group, strided_tile{{columns}}, width, 0, c, s);
            } else {
              return none{};
            }
          }();
          blend<typename Parts::vector_variance, draw_role::exact>(
              group, part + c, row_tiles, pitch, width, count, col + c, s, first_of(tensor, c0 + c),
              [&](auto at) {
                if constexpr (needs<Parts>::masks) {
                  return x.faulty(at);
                } else {
                  return false;
                }
              });
        } else {
          blend<typename Parts::variance, draw_role::col>(
              group, part + c, row_tiles, pitch, width, count, col + c, s,
              first_of(tensor, e * C + c0 + c), [](auto) { return false; });
        }
      }
    });
    block.for_each(columns, [&](int64_t c) {
      value[c] = eps::col(storage_of::template decode<T>(col[c]), s);
    });
  }

  /// Sums n rows of partial sums and blends their mean into a strip of the state, but for elements
  /// that rest.
  template <class Variance, draw_role Role, class Group, class Rests>
  TIEROPT_HOST_DEVICE static void blend(Group const& group, T* part, int64_t n, int64_t pitch,
                                        int width, T count, state_type* state,
                                        step_scalars<T> const& scalars, uint64_t element,
                                        Rests const& rests) {
    step_scalars<T> const s = scalars;
    tree_rows<T>(group, part, n, pitch, width);
    auto const sum = group.load(part, width, unit_stride{});
    auto factor = load_state<typename Parts::state_rounding, Role>(
        group, ragged_tile{}, width, state_plane<state_type>{{state, 0, 1}}, 0, 0,
        {s.rounding_key, element});
    group.for_each(width, [&](auto at) {
      T const before = factor.template get<T>(at);
      T v = before;
      T square = div(sum.template get<T>(at), count);
      // The sums were taken before the norm of all gradients was known.
      if constexpr (needs<Parts>::clips_norm && !needs<Parts>::norm_pass) {
        square = mul(mul(square, s.norm_gain), s.norm_gain);
      }
      Variance{}(v, add(square, eps::square_offset(s)), s);
      factor.put(at, rests(at) ? before : v);
    });
    factor.store();
  }
  /// Names an element of a factor, or of a vector's moments, for its random bits.
  TIEROPT_HOST_DEVICE static uint64_t first_of(entry_type const& tensor, int64_t i) {
    return tensor.first_element + static_cast<uint64_t>(i);
  }

  using storage_of = tieropt::storage<state_type>;
};

}  // namespace v0_1
}  // namespace tieropt
