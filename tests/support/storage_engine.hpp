// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a row through generated scenarios, next to a dense twin and the double reference.
#pragma once

#include "support/storage_stage.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace testing::stored {

/// All that is chosen at run time.
struct scenario {
  std::vector<bundle> tensors;
  std::vector<bundle> dense;  ///< the same, in buffers without gaps
  tieropt::schedule how;
  place where = place::here;
  reference::hyper hyper;
  inputs in;
  std::uint64_t seed = 0;
  int steps = 3;
  double magnitude = 1e-2;  ///< of gradients
  int fault_step = -1;      ///< its gradients have NaN, infinities, 2^64
  int found_inf_step = -1;
  std::string text;
  /// What gradients are instead, by tensor, element and step; no mask and no faults then.
  std::function<double(std::size_t, int64_t, int)> gradient;
  std::function<void(scenario&, int)> before_step;
};

/// Adds a tensor of row-major buffers to a scenario, its states at zero.
void add_tensor(row const& what, scenario& s, shape const& extents, std::uint64_t seed);

/// Scenario number `index` of a row, a function of the seed; listed sizes take turns.
scenario make_scenario(row_case const& c, int index, std::uint64_t seed);
/// Gradients, masks, who is absent: the same in both lists of bundles.
void new_gradients(row const& what, scenario& s, int step);

/// What a run measured.
struct report {
  double worst_wide = 0;  ///< largest error of float and double elements, of its bound
  int64_t checked = 0;    ///< elements compared with the reference
  int64_t unbounded = 0;  ///< of these: the reference knows nothing
  int64_t scenarios = 0;
  int64_t moved = 0;      ///< weights that changed
  int64_t caught_up = 0;  ///< weights that made up for missed decays
  path_counts paths;
  counts faults;
};

/// What is wrong with a scenario, or "".
std::string run_scenario(row_case const& c, scenario& s, report& r);

/// What is wrong with a row in scenarios 0 to n - 1, or "".
std::string run_row(row_case const& c, int first, int n, report& r);

/// The bundle as the reference sees it.
template <class Real>
tensor<Real> tensor_of(row const& what, bundle& b);

/// Compares what is stored with the reference. before, old: all bits and values before the step.
template <class Real>
std::string compare(row const& what, bundle& b, snapshot const& before, tensor<Real> const& old,
                    tensor<Real> const& want, report& r);

}  // namespace testing::stored
