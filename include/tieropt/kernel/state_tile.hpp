// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Strips of states: decoded, and rounded as the tier says when they are stored. Layer: kernel.
#pragma once

#include <tieropt/kernel/operand.hpp>
#include <tieropt/precision/random.hpp>
#include <tieropt/precision/storage.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Random bits of a strip for a codec: 16 from the draws that pairs share, or 32 of each element.
/// @tparam Bits 16 or 32 @tparam Group a group @param[in] group the group
/// @param[in] key of the matrix, the step and the role @param[in] first global index of slot 0
/// @return bits by slot
template <int Bits, class Group>
TIEROPT_HOST_DEVICE auto draw_strip(Group const& group, uint64_t key, uint64_t first) {
  if constexpr (Bits == 32) {
    return wide_element_bits{key, first}.draw(group, 0);
  } else {
    element_bits const random{key, first};
    if (random.share_keys(strip / 2)) {
      return group.draw(random.parity(), [&](uint32_t j) { return random.nearby(j); });
    } else {
      uint64_t const next = random.next_keys();
      return group.draw(random.parity(), [&](uint32_t j) { return random.nearby(j, next); });
    }
  }
}

/// Where the random bits of a strip come from.
struct strip_random {
  uint64_t key;    ///< of the matrix and the step
  uint64_t first;  ///< global index of the strip's first element
};

/// A strip whose elements are rounded stochastically when they are put.
/// @tparam Tile a tile @tparam Bits fragment of random bits
template <class Tile, class Bits>
struct drawing_tile {
  Tile tile;  ///< elements
  Bits bits;  ///< by slot

  /// Decodes. @tparam T compute type @tparam At a slot @param[in] at slot @return value
  template <class T, class At>
  TIEROPT_HOST_DEVICE T get(At at) const {
    return tile.template get<T>(at);
  }
  /// Rounds. @tparam T compute type @tparam At a slot @param[in] at slot @param[in] x value
  template <class T, class At>
  TIEROPT_HOST_DEVICE void put(At at, T x) {
    tile.put(at, x, bits(at));
  }
  /// Writes the strip back.
  TIEROPT_HOST_DEVICE void store() { tile.store(); }
};

/// A strip of a block-quantised state: what is put is coded once all of it is known.
/// @tparam State how it is stored @tparam Draws whether codes are rounded stochastically
/// @tparam Group a group @tparam Width width type @tparam Codes tile of the codes
/// @tparam Scales by slot
template <class State, bool Draws, class Group, class Width, class Codes, class Scales>
struct quantised_tile {
  Group const& group;                               ///< that the strip belongs to
  Width width;                                      ///< columns
  Codes codes;                                      ///< as they were
  Scales scales;                                    ///< as they were
  float* to;                                        ///< scale of slot 0
  int64_t between;                                  ///< elements between scales
  strip_random random;                              ///< of its elements
  typename Group::template fragment<float> values;  ///< what was put

  /// Decodes. @tparam T compute type @tparam At a slot @param[in] at slot @return value
  template <class T, class At>
  TIEROPT_HOST_DEVICE T get(At at) const {
    return tieropt::to<T>(State::decode(codes.element(at), scales(at)));
  }
  /// Keeps a value until store(). @tparam T compute type @tparam At a slot @param[in] at slot
  /// @param[in] x value
  template <class T, class At>
  TIEROPT_HOST_DEVICE void put(At at, T x) {
    values(at) = tieropt::to<float>(x);
  }
  /// Finds the scales and writes scales and codes.
  TIEROPT_HOST_DEVICE void store() {
    auto const largest = group.template largest_in_groups<float>(
        width, [&](auto at) { return State::magnitude(values(at)); });
    typename Group::template fragment<float> scale;
    group.zero(scale);
    group.for_each(width, [&](auto at) { scale(at) = State::scale(largest(at)); });
    if constexpr (Draws) {
      auto const drawn = draw_strip<32>(group, random.key, random.first);
      group.for_each(width, [&](auto at) {
        float const inverse = State::inverse(scale(at));
        codes.put_element(at, State::stochastic(values(at), inverse, drawn(at)));
      });
    } else {
      group.for_each(width, [&](auto at) {
        codes.put_element(at, State::nearest(values(at), State::inverse(scale(at))));
      });
    }
    codes.store();
    group.write_groups(to, width, between, scale);
  }
};

/// Loads a strip of a state; what is put into it is rounded as Rounding says where the state is
/// not float or double.
/// @tparam Rounding stochastic_rounding or nearest_rounding @tparam Role whose random bits
/// @tparam State how it is stored @tparam Group a group @tparam Cut a tile @tparam Width width type
/// @param[in] group the group @param[in] cut the tile @param[in] width columns of the strip
/// @param[in] state the matrix @param[in] r row @param[in] c first column of the strip
/// @param[in] random of the strip; used where something is drawn
/// @return a tile with get, put and store; none for no state
template <class Rounding, draw_role Role, class State, class Group, class Cut, class Width>
TIEROPT_HOST_DEVICE auto load_state(Group const& group, Cut const& cut, Width width,
                                    state_plane<State> const& state, int64_t r, int c,
                                    strip_random const& random) {
  if constexpr (cuda::std::is_same_v<State, none>) {
    return none{};
  } else {
    auto const stride = cut.stride(state.elements.col);
    auto* const data = state.elements.at(r, c, stride);
    group.prefetch(data + 2 * state.elements.row);
    auto tile = group.load(data, width, stride);
    if constexpr (quantised_state<State>) {
      int64_t const between = state.scales.col;
      float* const to = state.scales.at(r, c / scale_group, between);
      auto const scales = group.read_groups(to, width, between);
      return quantised_tile<State, Rounding::stochastic, Group, Width, decltype(tile),
                            cuda::std::remove_const_t<decltype(scales)>>{
          group, width, tile, scales, to, between, {role_key(random.key, Role), random.first}, {}};
    } else if constexpr (Rounding::stochastic && storage<State>::draws) {
      auto const drawn =
          draw_strip<draw_bits_of<storage<State>>>(group, role_key(random.key, Role), random.first);
      return drawing_tile<decltype(tile), cuda::std::remove_const_t<decltype(drawn)>>{tile, drawn};
    } else {
      return tile;
    }
  }
}

}  // namespace v0_1
}  // namespace tieropt
