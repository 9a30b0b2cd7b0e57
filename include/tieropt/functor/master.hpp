// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the exact weight lives: in the parameter, beside it, or in two halves. Layer: functor.
///
/// With a master, the parameter is the master rounded to nearest, written in the same pass, and the
/// tier's rounding has no effect. Whatever reads the weight reads the master.
#pragma once

#include <tieropt/functor/state.hpp>

#include <cuda/std/concepts>

namespace tieropt {
inline namespace v0_1 {

/// The parameter is all there is.
struct no_master {
  using element = none;                    ///< no buffer
  static constexpr bool splits = false;    ///< no halves
  static constexpr bool carries = false;   ///< no carries
  static constexpr char const* name = "";  ///< none
};

/// A wider buffer holds the weight; the parameter is a copy of any type, written and never read.
/// @tparam Element float or double
template <class Element = float>
struct master_weights {
  using element = Element;                        ///< one per weight
  static constexpr bool splits = false;           ///< whole
  static constexpr bool carries = false;          ///< no carries
  static constexpr char const* name = "weights";  ///< what it is
};

/// A bf16 parameter is the upper half of an fp32 weight, rounded to nearest with ties away from
/// zero; its lower 16 bits lie beside it. Nothing of the weight is lost but the payload of a NaN.
struct remainder_master {
  using element = uint16_t;                         ///< the lower half of each weight
  static constexpr bool splits = true;              ///< two halves
  static constexpr bool carries = false;            ///< the lower half tells
  static constexpr char const* name = "remainder";  ///< what it is
};

/// The same with ties to even: whether the upper half was rounded up is one more bit, bit c % 8 of
/// byte c / 8 of its row.
struct carry_master {
  using element = uint16_t;                     ///< the lower half of each weight
  static constexpr bool splits = true;          ///< two halves
  static constexpr bool carries = true;         ///< ceil(C / 8) bytes a row
  static constexpr char const* name = "carry";  ///< what it is
};

/// Columns that share a byte of carries.
inline constexpr int carry_group = 8;

/// Whether a type is one of the masters above.
template <class Part>
inline constexpr bool is_master =
    cuda::std::is_same_v<Part, no_master> || cuda::std::is_same_v<Part, remainder_master> ||
    cuda::std::is_same_v<Part, carry_master>;
/// Whole masters are.
template <class Element>
inline constexpr bool is_master<master_weights<Element>> = true;

/// A master part; there are no others.
template <class Part>
concept master_policy = is_master<Part>;

/// Whether a master part stores anything.
template <class Part>
inline constexpr bool keeps_master = !cuda::std::is_same_v<typename Part::element, none>;

}  // namespace v0_1
}  // namespace tieropt
