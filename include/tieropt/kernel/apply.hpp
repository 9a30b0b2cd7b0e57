// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The last pass: decay, clip, learning rate, one rounding. Layer: kernel.
#pragma once

#include <tieropt/kernel/measure.hpp>
#include <tieropt/kernel/stage.hpp>
#include <tieropt/precision/random.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The random bits that weights are rounded with, row by row; nothing where none are drawn.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
class weight_bits {
  static constexpr bool draws = draws_weights<Parts>;
  static constexpr bool wide = draws && draw_bits_of<storage<typename Parts::param>> == 32;

 public:
  /// Of a matrix. @param[in] key of its tensor and step
  TIEROPT_HOST_DEVICE explicit weight_bits(uint64_t key)
      : random_{wide ? role_key(key, draw_role::param) : key, 0} {}

  /// Goes to a row. @param[in] first global index of its first element in the tile
  TIEROPT_HOST_DEVICE void go_to(uint64_t first) {
    if constexpr (draws) random_.go_to(first);
  }
  /// The bits of a strip. @tparam Group a group @param[in] group the group @param[in] k which strip
  /// @return bits by slot
  template <class Group>
  TIEROPT_HOST_DEVICE auto draw(Group const& group, int k) const {
    if constexpr (wide) {
      return random_.draw(group, static_cast<uint32_t>(k * strip));
    } else {
      auto const first = static_cast<uint32_t>(k * (strip / 2));
      if (random_.share_keys(segment / 2)) {
        return group.draw(random_.parity(), [&](uint32_t j) { return random_.nearby(first + j); });
      } else {
        uint64_t const next = random_.next_keys();
        return group.draw(random_.parity(),
                          [&](uint32_t j) { return random_.nearby(first + j, next); });
      }
    }
  }

 private:
  cuda::std::conditional_t<wide, wide_element_bits, element_bits> random_;
};

/// A block applies the update to one tile: p <- round(p (1 - lr wd) - lr U), one fma before the one
/// rounding. A tier that measures nothing has no pass before it that updates states, and updates
/// them here; so does a momentum of the update.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct apply_pass {
  using T = typename Parts::compute;       ///< compute type
  using storage = column_storage<Parts>;   ///< column values
  using entry_type = tensor_entry<Parts>;  ///< one tensor
  using need = needs<Parts>;               ///< facts about the tier
  /// Reads and writes parameters, reads gradients or states, or staged updates.
  static constexpr tuning tune =
      need::orthogonal ? tune_for<Parts>(widest<widest_weight<Parts>, stage_element<Parts>>(), 2)
                       : update_tuning<Parts, widest_weight<Parts>>();
  /// Whether a tier needs it.
  static constexpr bool wanted = true;
  /// Where its blocks start.
  static constexpr auto first = &entry_type::first_tile;

  /// Runs one tile. @tparam Block a block @param[in] block the block @param[in] tensor the tensor
  /// @param[in] inputs its gradient, or its staged update @param[in] index which tile
  template <class Block>
  TIEROPT_HOST_DEVICE static void run(Block const& block, entry_type const& tensor,
                                      tensor_inputs<Parts> const& inputs, int64_t index) {
    tile_place const place = locate(tensor.shape, index);
    int64_t const e = place.e, c0 = place.segment * segment;
    // An orthogonal tier's faults were counted where its gradient was read.
    fault_tally<Parts> const faults{tensor, index};
    if (!tensor.scalars[e].active) {  // its gradient may be null
      if constexpr (!need::orthogonal) faults.clear(block);
      return;
    }
    strip_operands<Parts> const in{tensor, inputs.grad, e, c0};
    int const columns = clamp_count(tensor.shape.C - c0, segment);
    weight_plane<Parts> const weights{tensor, e, c0};
    auto const staged = [&] {
      if constexpr (need::orthogonal) {
        return staged_update(tensor, inputs, e, c0);
      } else {
        return none{};
      }
    }();
    T const lr = learning_rate(tensor, in.scalars, e);
    T const decay = need::scales ? fma(neg(lr), in.scalars.weight_decay, T(1)) : in.scalars.decay;
    T const step = mul(neg(lr), update_factor(tensor, in.scalars, e));
    T const outer = in.scalars.outer_gain;
    bool const aligned = tensor.aligned && (need::orthogonal ? stage_is_aligned(tensor)
                                                             : !need::reads_grad(need::last) ||
                                                                   on_16_bytes(inputs.grad));

    auto& cols = block.template shared<storage>();
    fill_columns(block, cols, tensor, e, c0, aligned);
    block.for_each_group([&](auto const& any_group) {
      with_tile(any_group, columns, aligned, tensor.unit, [&](auto const& group, auto const& cut) {
        weight_bits<Parts> random{in.scalars.rounding_key};
        for (int i = group.index(); i < leaves; i += Block::groups) {
          int64_t const begin = place.tile * tile_rows + i * leaf;
          int const rows = clamp_count(tensor.shape.R - begin, leaf);
          auto found = faults.leaf(group);
          for (int row_in_leaf = 0; row_in_leaf < rows; ++row_in_leaf) {
            int64_t const r = begin + row_in_leaf;
            T const row = row_value<Parts>(tensor, e, r);
            T const q = mul(step, row_gain<Parts>(row));
            random.go_to(tensor.element(e, r, c0));
            cut.for_each_strip([&](int k, auto width) {
              auto const apply = [&](auto const& update, auto const& faulty) {
                auto p = weights.load(group, cut, width, r, k * strip);
                auto m = momentum_of_update(group, cut, width, in, r, k * strip);
                auto const next = [&](auto at) {
                  T const weight = p.template get<T>(at);
                  T decayed = weight;
                  if constexpr (Parts::decay::of_param) decayed = mul(decayed, decay);
                  if constexpr (Parts::decay::rounds_to_param) {
                    decayed = rounded_weight<Parts>(decayed);
                  }
                  bool const fault = faulty(at);
                  found.take(at, fault);
                  if constexpr (need::of_update) {
                    T const before = m.template get<T>(at);
                    T state = before;
                    T const taken =
                        typename Parts::momentum{}(state, mul(neg(q), update(at)), in.scalars);
                    m.put(at, need::masks && fault ? before : state);
                    T const moved = fma(neg(outer), taken, decayed);
                    return need::masks && fault ? weight : moved;
                  } else {
                    T const moved = fma(q, update(at), decayed);
                    return need::masks && fault ? weight : moved;
                  }
                };
                if constexpr (draws_weights<Parts>) {
                  auto const bits = random.draw(group, k);
                  group.for_each(width, [&](auto at) { p.put(at, next(at), bits(at)); });
                } else {
                  group.for_each(width, [&](auto at) { p.put(at, next(at)); });
                }
                p.store();
                if constexpr (need::of_update) m.store();
              };
              if constexpr (need::orthogonal) {
                auto const stride = cut.stride(staged.col);
                auto const x = group.load(staged.at(r, k * strip, stride), width, stride);
                apply([&](auto at) { return x.template get<T>(at); }, [](auto) { return false; });
              } else {
                with_update<need::last, Parts>(group, cut, width, in, r, k * strip, row,
                                               cols.of(group, k), apply);
              }
            });
          }
          if constexpr (!need::orthogonal) faults.write(group, i, found);
        }
      });
    });
  }

 private:
  /// The momentum of a strip that takes the update in, or none.
  template <class Group, class Cut, class Width>
  TIEROPT_HOST_DEVICE static auto momentum_of_update(Group const& group, Cut const& cut,
                                                     Width width, strip_operands<Parts> const& in,
                                                     int64_t r, int c) {
    if constexpr (need::of_update) {
      return load_state<typename Parts::state_rounding, draw_role::momentum>(
          group, cut, width, in.momentum, r, c, in.random(r, c));
    } else {
      return none{};
    }
  }
  /// The learning rate, scaled by the parameter where the tier asks for it.
  TIEROPT_HOST_DEVICE static T learning_rate(entry_type const& tensor, step_scalars<T> const& s,
                                             int64_t e) {
    if constexpr (need::scales) {
      return mul(s.lr, Parts::scale::factor(tensor.work.param_rms[measured_entry<Parts>(e)], s));
    } else {
      return s.lr;
    }
  }
  /// The factor of all elements of the update.
  TIEROPT_HOST_DEVICE static T update_factor(entry_type const& tensor, step_scalars<T> const& s,
                                             int64_t e) {
    if constexpr (need::orthogonal) {
      return s.outer_gain;
    } else if constexpr (need::measures) {
      T const factor = tensor.work.factor[measured_entry<Parts>(e)];
      return need::spans_tensor ? mul(factor, matrix_gain<Parts>(s)) : factor;
    } else {
      return matrix_gain<Parts>(s);
    }
  }
};

}  // namespace v0_1
}  // namespace tieropt
