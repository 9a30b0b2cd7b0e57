// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What runs bodies: it alone knows where memory lives. Layer: executor.
#pragma once

#include <tieropt/block/thread_block.hpp>
#include <tieropt/status.hpp>

namespace tieropt {
inline namespace v0_1 {

/// A body that does nothing: what the executor concept is checked with.
struct empty_body {
  using storage = float[1];        ///< no use
  static constexpr tuning tune{};  ///< defaults
  /// Does nothing. @tparam Block any block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const&) const {}
};

/// Runs bodies in the order of the calls and copies tables to where they can read them.
///
/// - `upload(to, from, bytes)`: copies from the caller's memory, which may change on return.
/// - `launch(blocks, body)`: calls the body once per block, after all earlier calls; 0 is a no-op.
/// - `static constexpr int64_t max_blocks`, if there is a bound on the blocks of a launch.
template <class X>
concept executor = requires(X const& x, void* to, void const* from, size_t bytes) {
  { x.upload(to, from, bytes) } -> cuda::std::same_as<status>;
  { x.launch(int64_t{}, empty_body{}) } -> cuda::std::same_as<status>;
};

/// Blocks that a launch may have. @tparam X an executor @return its max_blocks, or no bound
template <executor X>
consteval int64_t max_blocks_of() {
  if constexpr (requires { X::max_blocks; }) {
    return X::max_blocks;
  } else {
    return INT64_MAX;
  }
}

}  // namespace v0_1
}  // namespace tieropt
