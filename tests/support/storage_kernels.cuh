// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of a row of storage.
#pragma once

#include "support/kernels.cuh"
#include "support/storage_rows.hpp"

#include <tieropt/kernel/catch_up.hpp>
#include <tieropt/kernel/survey.hpp>

namespace testing::stored {

/// `template struct storage_kernels<row>;` emits the launches of a step.
template <row Row>
struct storage_kernels : kernels<row_tier<Row>, element_t<Row.param>, element_t<Row.grad>> {
  using base = kernels<row_tier<Row>, element_t<Row.param>, element_t<Row.grad>>;
  using parts = typename base::parts;
  static void keep_row() {
    base::keep_all();
    base::template keep_pass<tieropt::norm_pass>();
    base::template keep_pass<tieropt::judge_pass>();
    if constexpr (tieropt::needs<parts>::waits) {
      keep_launch<tieropt::tally_body<parts>>();
      keep_launch<tieropt::settle_body<parts>>();
    }
    if constexpr (tieropt::needs<parts>::can_catch_up) {
      keep_launch<tieropt::begin_catch_up_body<parts>>();
      base::template keep_pass<tieropt::catch_up_pass>();
      keep_launch<tieropt::end_catch_up_body<parts>>();
    }
    if constexpr (tieropt::count_body<parts>::wanted) keep_launch<tieropt::count_body<parts>>();
  }
};

}  // namespace testing::stored
