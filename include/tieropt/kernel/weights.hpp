// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Strips of weights: the parameter, or its master with the parameter written beside it. Layer:
/// kernel.
#pragma once

#include <tieropt/kernel/tensor.hpp>
#include <tieropt/precision/master.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What holds a weight exactly: the parameter, or the master's own element type.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
using widest_weight =
    cuda::std::conditional_t<keeps_master<typename Parts::master> && !Parts::master::splits,
                             typename Parts::master::element, typename Parts::param>;

/// Bytes of a weight, carries left out.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct weight_bytes {
  using master = typename Parts::master;                       ///< part
  static constexpr int param = sizeof(typename Parts::param);  ///< of the parameter
  /// Of the master.
  static constexpr int beside =
      keeps_master<master> ? static_cast<int>(sizeof(typename master::element)) : 0;
  static constexpr int held = param + beside;  ///< written by a step
  /// Read by whatever needs the weight.
  static constexpr int read = keeps_master<master> && !master::splits ? beside : held;
};

/// Whether the rounding of a weight draws random bits.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
inline constexpr bool draws_weights =
    !keeps_master<typename Parts::master> && Parts::rounding::stochastic &&
    storage<typename Parts::param>::draws;

/// A weight as what holds it holds it. @tparam Parts see kernel/tensor.hpp @param[in] x value
/// @return the nearest value that can be stored
template <class Parts>
TIEROPT_HOST_DEVICE typename Parts::compute rounded_weight(typename Parts::compute x) {
  using T = typename Parts::compute;
  using held = cuda::std::conditional_t<Parts::master::splits, float, widest_weight<Parts>>;
  return storage<held>::template decode<T>(storage<held>::nearest(x));
}

/// A strip of masters, and of the parameters that are their copies.
/// @tparam Master tile of the masters @tparam Copy tile of the parameters
template <class Master, class Copy>
struct copied_tile {
  Master master;  ///< read and written
  Copy copy;      ///< written

  /// The master. @tparam T compute type @tparam At a slot @param[in] at slot @return value
  template <class T, class At>
  TIEROPT_HOST_DEVICE T get(At at) const {
    return master.template get<T>(at);
  }
  /// Both, to nearest: the copy of the master. @tparam T compute type @tparam At a slot
  /// @param[in] at slot @param[in] x value
  template <class T, class At>
  TIEROPT_HOST_DEVICE void put(At at, T x) {
    master.put(at, x);
    copy.put(at, master.template get<T>(at));
  }
  /// Writes both.
  TIEROPT_HOST_DEVICE void store() {
    master.store();
    copy.store();
  }
};

/// A strip of fp32 weights in two halves, the upper one rounded away from zero in ties.
/// @tparam High tile of the parameters @tparam Low tile of the lower halves
template <class High, class Low>
struct split_tile {
  High high;  ///< bf16
  Low low;    ///< 16 bits

  /// The weight. @tparam T compute type @tparam At a slot @param[in] at slot @return value
  template <class T, class At>
  TIEROPT_HOST_DEVICE T get(At at) const {
    return tieropt::to<T>(
        join_away(__builtin_bit_cast(uint16_t, high.element(at)), low.element(at)));
  }
  /// Both halves. @tparam T compute type @tparam At a slot @param[in] at slot @param[in] x value
  template <class T, class At>
  TIEROPT_HOST_DEVICE void put(At at, T x) {
    auto const halves = split_away(tieropt::to<float>(x));
    high.put_element(at, __builtin_bit_cast(decltype(high.element(at)), halves.high));
    low.put_element(at, halves.low);
  }
  /// Writes both.
  TIEROPT_HOST_DEVICE void store() {
    high.store();
    low.store();
  }
};

/// A strip of fp32 weights in two halves and a carry.
/// @tparam Group a group @tparam Width width type @tparam High tile of the parameters
/// @tparam Low tile of the lower halves @tparam Carries by slot
template <class Group, class Width, class High, class Low, class Carries>
struct carried_tile {
  Group const& group;                                ///< that the strip belongs to
  Width width;                                       ///< columns
  High high;                                         ///< bf16
  Low low;                                           ///< 16 bits
  Carries carries;                                   ///< as they were
  uint8_t* to;                                       ///< byte of slot 0
  int64_t between;                                   ///< elements between bytes
  typename Group::template fragment<uint32_t> next;  ///< carries as they will be

  /// The weight. @tparam T compute type @tparam At a slot @param[in] at slot @return value
  template <class T, class At>
  TIEROPT_HOST_DEVICE T get(At at) const {
    return tieropt::to<T>(
        join_even(__builtin_bit_cast(uint16_t, high.element(at)), low.element(at), carries(at)));
  }
  /// Both halves and the carry. @tparam T compute type @tparam At a slot @param[in] at slot
  /// @param[in] x value
  template <class T, class At>
  TIEROPT_HOST_DEVICE void put(At at, T x) {
    auto const halves = split_even(tieropt::to<float>(x));
    high.put_element(at, __builtin_bit_cast(decltype(high.element(at)), halves.high));
    low.put_element(at, halves.low);
    next(at) = halves.carry;
  }
  /// Writes all three.
  TIEROPT_HOST_DEVICE void store() {
    high.store();
    low.store();
    group.write_bits(to, width, between, next);
  }
};

/// The weights of one matrix from a column on.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
class weight_plane {
  using master = typename Parts::master;
  using carry_type = typename tensor_entry<Parts>::carry_type;

 public:
  /// Nothing.
  TIEROPT_HOST_DEVICE weight_plane() {}
  /// From a matrix and a column on. @param[in] tensor the tensor @param[in] e matrix
  /// @param[in] c0 first column, a multiple of 256
  TIEROPT_HOST_DEVICE weight_plane(tensor_entry<Parts> const& tensor, int64_t e, int64_t c0)
      : param_{tensor.param.from(tensor.places[e].param, c0)} {
    if constexpr (keeps_master<master>) weight_ = tensor.weight.from(tensor.places[e].weight, c0);
    if constexpr (master::carries)
      carry_ = tensor.carry.from(tensor.places[e].carry, c0 / carry_group);
  }

  /// A strip. @tparam Group a group @tparam Cut a tile @tparam Width width type
  /// @param[in] group the group, which must outlive the tile @param[in] cut the tile
  /// @param[in] width columns of the strip @param[in] r row
  /// @param[in] c first column of the strip, from the tile's
  /// @return a tile with get, put and store: what is put is rounded to nearest
  template <class Group, class Cut, class Width>
  TIEROPT_HOST_DEVICE auto load(Group const& group, Cut const& cut, Width width, int64_t r,
                                int c) const {
    auto const stride = cut.stride(param_.col);
    auto* const data = param_.at(r, c, stride);
    if constexpr (!keeps_master<master>) {
      group.prefetch(data + 2 * param_.row);
      return group.load(data, width, stride);
    } else {
      auto const step = cut.stride(weight_.col);
      auto* const weight = weight_.at(r, c, step);
      group.prefetch(weight + 2 * weight_.row);
      auto const exact = group.load(weight, width, step);
      using exact_tile = cuda::std::remove_const_t<decltype(exact)>;
      if constexpr (!master::splits) {
        auto const copy = group.blank(data, width, stride);
        return copied_tile<exact_tile, cuda::std::remove_const_t<decltype(copy)>>{exact, copy};
      } else {
        group.prefetch(data + 2 * param_.row);
        auto const high = group.load(data, width, stride);
        using high_tile = cuda::std::remove_const_t<decltype(high)>;
        if constexpr (!master::carries) {
          return split_tile<high_tile, exact_tile>{high, exact};
        } else {
          auto* const to = carry_.at(r, c / carry_group, carry_.col);
          auto const carries = group.read_bits(to, width, carry_.col);
          return carried_tile<Group, Width, high_tile, exact_tile,
                              cuda::std::remove_const_t<decltype(carries)>>{
              group, width, high, exact, carries, to, carry_.col, {}};
        }
      }
    }
  }

 private:
  plane<typename Parts::param> param_;
  plane_or_none<typename master::element> weight_;
  plane_or_none<carry_type> carry_;
};

}  // namespace v0_1
}  // namespace tieropt
