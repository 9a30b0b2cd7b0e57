// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The index of a folder of golden vectors: which cases there are, and how close is close.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "procedural.hpp"
#include "safetensors.hpp"

namespace golden {

/// |x - reference| <= atol + rtol |reference|, element by element; or, where `fro` is not 0,
/// ||x - reference|| <= fro ||reference|| of the tensor as a whole.
struct tolerance {
  double rtol = 0;
  double atol = 0;
  double fro = 0;

  tolerance scaled(double factor) const { return {rtol * factor, atol * factor, fro * factor}; }
  tolerance widened(double by) const { return {rtol, atol + by, fro}; }
};

/// How far a run in less than double is from the float64 values, by kind of tensor.
struct run_accuracy {
  std::map<std::string, tolerance> tol;    // what another implementation is allowed
  std::map<std::string, double> measured;  // largest difference of the reference itself
};

struct param_info {
  std::string name;
  std::vector<std::int64_t> shape;  // rank 0 to 3
  std::string dtype;                // F32 or BF16
  int group = 0;
  std::vector<int> no_grad_steps;

  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::int64_t const extent : shape) n *= extent;
    return n;
  }
  bool has_gradient(int step) const {
    return std::find(no_grad_steps.begin(), no_grad_steps.end(), step) == no_grad_steps.end();
  }
};

/// The hyperparameters of one group by name: a number or a list of them, 0 and 1 for booleans.
using hyper_group = std::map<std::string, std::vector<double>>;

/// One case: a run of a public optimizer from given inputs.
struct golden_case {
  std::string name;
  std::string file;
  std::string optimizer;
  std::vector<std::string> tags;
  int steps = 0;
  std::vector<int> snapshots;
  std::vector<param_info> params;
  std::vector<hyper_group> groups;
  std::map<std::string, run_accuracy> runs;            // f32, and ref of what is published in bf16
  std::map<std::string, procedural_input> procedural;  // by parameter

  bool is_snapshot(int step) const {
    return std::find(snapshots.begin(), snapshots.end(), step) != snapshots.end();
  }
  bool has_tag(std::string const& tag) const {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  }
};

/// Reads `folder/index.json`.
std::vector<golden_case> read_index(std::string const& folder);

}  // namespace golden
