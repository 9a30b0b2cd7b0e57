// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a part stores for each weight, or that it stores nothing. Layer: functor.
#pragma once

#include <tieropt/functor/step_scalars.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

/// No state.
struct none {};

/// A part with a state to store.
template <class Part>
concept has_state_type = requires {
  typename Part::state_type;
};

/// Whether a part would update a copy of its state, which nobody keeps.
/// @tparam Part momentum or variance part @tparam T compute type
template <class Part, class T>
concept updates_a_copy = !cuda::std::is_same_v<typename Part::state_type, none> &&
                         requires(Part const part, T x, step_scalars<T> const& s) {
  part(T(0), x, s);
};

/// What a part's operator gets for its state: T, or none.
template <class Part, class T>
using state_operand =
    cuda::std::conditional_t<cuda::std::is_same_v<typename Part::state_type, none>, none, T>;

}  // namespace v0_1
}  // namespace tieropt
