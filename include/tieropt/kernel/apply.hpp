// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The last pass: decay, clip, learning rate, one rounding. Layer: kernel.
#pragma once

#include <tieropt/kernel/strip_update.hpp>
#include <tieropt/precision/random.hpp>

namespace tieropt {
inline namespace v0_1 {

/// A block applies the update to one tile: p <- round(p (1 - lr wd) - lr U), one fma before the one
/// rounding. An unclipped tier has no pass before it that updates states, and updates them here.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct apply_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = byte[16];                ///< no use
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  /// Whether a tier needs it.
  static constexpr bool wanted = true;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] grad its gradient @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      typename Parts::grad const* grad, int64_t index) {
    constexpr bool fresh = !Parts::clip::measures;
    using codec = tieropt::storage<typename Parts::param>;
    tile_place const place = locate(tensor.shape, index);
    int64_t const e = place.e, c0 = place.segment * segment;
    strip_operands<Parts> const in{tensor, grad, e};
    if (!in.scalars.active) return;
    int const columns = clamp_count(tensor.shape.C - c0, segment);
    auto const param = tensor.param;
    T const decay = in.scalars.decay;
    T const step = -mul(in.scalars.lr, update_factor(tensor, in.scalars, e));
    bool const aligned = tensor.aligned && (!reads_grad<Parts, fresh> || on_16_bytes(grad));

    block.for_each_group([&](auto const& any_group) {
      with_tile(any_group, columns, aligned, tensor.unit, [&](auto const& group, auto const& cut) {
        auto const col = [&](int k) {
          return col_values<Parts>(group, tensor, e, c0 + k * strip, cut.width(k));
        };
        decltype(col(0)) const cols[strips] = {col(0), col(1), col(2), col(3)};
        for (int i = group.index(); i < leaves; i += Block::groups) {
          int64_t const begin = place.tile * tile_rows + i * leaf;
          int const rows = clamp_count(tensor.shape.R - begin, leaf);
          for (int row_in_leaf = 0; row_in_leaf < rows; ++row_in_leaf) {
            int64_t const r = begin + row_in_leaf;
            T const row = row_value<Parts>(tensor, e, r);
            T const q = mul(step, row_gain<Parts>(row));
            element_bits const random{
                in.scalars.rounding_key,
                tensor.first_element +
                    static_cast<uint64_t>((e * tensor.shape.R + r) * tensor.shape.C + c0)};
            TIEROPT_UNROLL
            for (int k = 0; k < strips; ++k) {
              auto const width = cut.width(k);
              if (width == 0) break;
              auto* const data = param.at(e, r, c0 + k * strip, cut.stride(param.col));
              group.prefetch(data + 2 * param.row);
              auto p = group.load(data, width, cut.stride(param.col));
              with_update<fresh, Parts>(
                  group, cut, width, in, e, r, c0 + k * strip, row, cols[k],
                  [&](auto const& update) {
                    auto const next = [&](auto at) {
                      T decayed = mul(p.template get<T>(at), decay);
                      if constexpr (Parts::decay::rounds_to_param) {
                        decayed = codec::template decode<T>(codec::nearest(decayed));
                      }
                      return fma(q, update(at), decayed);
                    };
                    if constexpr (Parts::rounding::stochastic && codec::draws) {
                      auto const bits = group.draw(random.parity(), [&](uint32_t j) {
                        return random(static_cast<uint32_t>(k * (strip / 2)) + j);
                      });
                      group.for_each(width, [&](auto at) { p.put(at, next(at), bits(at)); });
                    } else {
                      group.for_each(width, [&](auto at) { p.put(at, next(at)); });
                    }
                  });
              p.store();
            }
          }
        }
      });
    });
  }

 private:
  TIEROPT_HOST_DEVICE static T update_factor(entry_type const& tensor, step_scalars<T> const& s,
                                             int64_t e) {
    if constexpr (Parts::clip::measures) {
      return tensor.work.factor[Parts::clip::spans == scope::tensor ? 0 : e];
    } else {
      return s.update_gain;
    }
  }
};

}  // namespace v0_1
}  // namespace tieropt
