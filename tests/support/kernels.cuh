// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of a tier, for tests that another compiler has compiled.
#pragma once

#include "support/side.hpp"
#include "support/tier_rows.hpp"

#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/kernel/apply.hpp>
#include <tieropt/kernel/begin_step.hpp>
#include <tieropt/kernel/fold.hpp>
#include <tieropt/kernel/measure.hpp>
#include <tieropt/kernel/squares.hpp>
#include <tieropt/kernel/stage.hpp>
#include <tieropt/policy/tier.hpp>

namespace testing {

cudaStream_t stream();
tieropt::status wait();

template <tieropt::block_body Body>
tieropt::status executor::launch(tieropt::int64_t blocks, Body const& body) const {
  tieropt::status const s = tieropt::cuda_executor{stream()}.launch(blocks, body);
  return s ? wait() : s;
}

/// Emits the launch of a body.
template <class Body>
void keep_launch() {
  auto volatile launch = &executor::launch<Body>;
  (void)launch;
}

/// `template struct kernels<Tier, Param, Grad>;` emits the launches of a tier's step.
template <class Tier, class Param, class Grad = Param>
struct kernels {
  using parts = tieropt::tier_parts<Tier, Param, Grad>;
  template <template <class> class Pass>
  static void keep_pass() {
    if constexpr (Pass<parts>::wanted) keep_launch<tieropt::table_body<Pass<parts>, parts>>();
  }
  static void keep_all() {
    keep_launch<tieropt::begin_step_body<parts>>();
    keep_pass<tieropt::weigh_pass>();
    keep_pass<tieropt::squares_pass>();
    keep_pass<tieropt::fold_pass>();
    keep_pass<tieropt::measure_pass>();
    keep_pass<tieropt::find_factors_pass>();
    keep_pass<tieropt::stage_pass>();
    keep_pass<tieropt::apply_pass>();
    keep_launch<tieropt::commit_steps_body<parts>>();
  }
};

/// The same for a row of a covering array.
template <auto Row>
struct row_kernels : kernels<tier_of<Row>, element_of<Row.param>, element_of<Row.grad>> {
  static void keep_row() { row_kernels::keep_all(); }
};

}  // namespace testing
