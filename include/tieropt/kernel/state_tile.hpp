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

/// A strip of a block-quantised state: decoded when it is loaded, coded when it is stored.
/// @tparam State how it is stored @tparam Draws whether codes are rounded stochastically
/// @tparam Group a group @tparam Width width type @tparam Stride stride type
template <class State, bool Draws, class Group, class Width, class Stride>
class quantised_tile {
  template <class T>
  using fragment = typename Group::template fragment<T>;

 public:
  /// Loads it. @param[in] group that the strip belongs to, which must outlive the tile
  /// @param[in] width columns @param[in] codes code of slot 0 @param[in] stride between codes
  /// @param[in] scales scale of slot 0 @param[in] between elements between scales
  /// @param[in] random of its elements
  TIEROPT_HOST_DEVICE quantised_tile(Group const& group, Width width, typename State::code* codes,
                                     Stride stride, float* scales, int64_t between,
                                     strip_random const& random)
      : group_{group},
        width_{width},
        codes_{codes},
        stride_{stride},
        scales_{scales},
        between_{between},
        random_{random} {
    auto const coded = group.load(codes, width, stride);
    auto const scale = group.read_groups(scales, width, between);
    if constexpr (!cuda::std::is_same_v<Width, whole_strip>) group.zero(values_);
    group.for_each(width,
                   [&](auto at) { values_(at) = State::decode(coded.element(at), scale(at)); });
  }

  /// A value. @tparam T compute type @tparam At a slot @param[in] at slot @return value
  template <class T, class At>
  TIEROPT_HOST_DEVICE T get(At at) const {
    return tieropt::to<T>(values_(at));
  }
  /// Keeps a value until store(). @tparam T compute type @tparam At a slot @param[in] at slot
  /// @param[in] x value
  template <class T, class At>
  TIEROPT_HOST_DEVICE void put(At at, T x) {
    values_(at) = tieropt::to<float>(x);
  }
  /// Finds the scales and writes scales and codes.
  TIEROPT_HOST_DEVICE void store() const {
    auto const largest = group_.template largest_in_groups<float>(
        width_, [&](auto at) { return State::magnitude(values_(at)); });
    // Inverses in a loop of their own: with the codes they would not be vectors on the host.
    fragment<float> scale, inverse;
    group_.zero(scale);
    if constexpr (!cuda::std::is_same_v<Width, whole_strip>) group_.zero(inverse);
    group_.for_each(width_, [&](auto at) { scale(at) = State::scale(largest(at)); });
    group_.for_each(width_, [&](auto at) { inverse(at) = State::inverse(scale(at)); });
    auto codes = group_.blank(codes_, width_, stride_);
    if constexpr (Draws) {
      auto const drawn = draw_strip<32>(group_, random_.key, random_.first);
      group_.for_each(width_, [&](auto at) {
        codes.put_element(at, State::stochastic(values_(at), inverse(at), drawn(at)));
      });
    } else {
      group_.for_each(width_, [&](auto at) {
        codes.put_element(at, State::nearest(values_(at), inverse(at)));
      });
    }
    codes.store();
    group_.write_groups(scales_, width_, between_, scale);
  }

 private:
  Group const& group_;
  Width width_;
  typename State::code* codes_;
  Stride stride_;
  float* scales_;
  int64_t between_;
  strip_random random_;
  fragment<float> values_;
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
    if constexpr (quantised_state<State>) {
      int64_t const between = state.scales.col;
      return quantised_tile<State, Rounding::stochastic, Group, Width,
                            cuda::std::remove_const_t<decltype(stride)>>{
          group,
          width,
          data,
          stride,
          state.scales.at(r, c / scale_group, between),
          between,
          {role_key(random.key, Role), random.first}};
    } else if constexpr (Rounding::stochastic && storage<State>::draws) {
      auto const drawn =
          draw_strip<draw_bits_of<storage<State>>>(group, role_key(random.key, Role), random.first);
      auto const tile = group.load(data, width, stride);
      return drawing_tile<cuda::std::remove_const_t<decltype(tile)>,
                          cuda::std::remove_const_t<decltype(drawn)>>{tile, drawn};
    } else {
      return group.load(data, width, stride);
    }
  }
}

}  // namespace v0_1
}  // namespace tieropt
