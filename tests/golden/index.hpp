// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The index of a folder of golden vectors: which cases there are, and how close is close.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "procedural.hpp"
#include "safetensors.hpp"

namespace golden {

/// |x - reference| <= atol + rtol |reference|, element by element.
struct tolerance {
  double rtol = 0;
  double atol = 0;

  tolerance scaled(double factor) const { return {rtol * factor, atol * factor}; }
  tolerance widened(double by) const { return {rtol, atol + by}; }
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

/// One case: a run of a public optimizer from given inputs.
struct golden_case {
  std::string name;
  std::string file;
  std::string optimizer;
  std::vector<std::string> tags;
  int steps = 0;
  std::vector<int> snapshots;
  std::vector<param_info> params;
  nlohmann::json groups;                          // hyperparameters, one object a group
  std::map<std::string, tolerance> tol;           // of a float32 run against the float64 values
  std::map<std::string, double> reference_error;  // largest |f32 - f64| of the reference itself
  std::map<std::string, procedural_input> procedural;  // by parameter

  bool is_snapshot(int step) const {
    return std::find(snapshots.begin(), snapshots.end(), step) != snapshots.end();
  }
  bool has_tag(std::string const& tag) const {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  }
};

namespace index {

inline param_info parse_param(nlohmann::json const& j) {
  return {.name = j.at("name"),
          .shape = j.at("shape"),
          .dtype = j.at("dtype"),
          .group = j.at("group"),
          .no_grad_steps = j.at("no_grad_steps")};
}

inline procedural_input parse_procedural(nlohmann::json const& j) {
  return {.key = j.at("key_init"),
          .shift_init = j.at("shift_init"),
          .shift_grad = j.at("shift_grad"),
          .row_mod = j.at("row_mod"),
          .col_mod = j.at("col_mod"),
          .grad_bf16 = j.at("grad_bf16")};
}

inline golden_case parse_case(nlohmann::json const& j) {
  golden_case c{.name = j.at("name"),
                .file = j.at("file"),
                .optimizer = j.at("optimizer"),
                .tags = j.at("tags"),
                .steps = j.at("steps"),
                .snapshots = j.at("snapshots"),
                .params = {},
                .groups = j.at("groups"),
                .tol = {},
                .reference_error = {},
                .procedural = {}};
  for (auto const& p : j.at("params")) c.params.push_back(parse_param(p));
  for (auto const& p : c.params) {
    if (p.shape.size() > 3 || p.group < 0 || p.group >= static_cast<int>(c.groups.size())) {
      throw input_error("case " + c.name + ": parameter " + p.name + " has a bad rank or group");
    }
  }
  nlohmann::json const none = nlohmann::json::object();
  auto const of_f32 = [&](char const* what) -> nlohmann::json const& {
    return j.at(what).contains("f32") ? j.at(what).at("f32") : none;
  };
  for (auto const& [tensor, t] : of_f32("tol").items()) {
    c.tol[tensor] = {.rtol = t.at("rtol"), .atol = t.at("atol")};
  }
  for (auto const& [tensor, e] : of_f32("err").items()) c.reference_error[tensor] = e.at("abs");
  if (j.contains("procedural")) {
    for (auto const& [param, p] : j.at("procedural").items()) {
      c.procedural[param] = parse_procedural(p);
    }
  }
  return c;
}

}  // namespace index

/// Reads `folder/index.json`.
inline std::vector<golden_case> read_index(std::string const& folder) {
  std::string const path = folder + "/index.json";
  auto const json = parse_json(read_file(path), path);
  std::vector<golden_case> cases;
  try {
    if (json.at("format") != 1) throw input_error(path + ": is of a format other than 1");
    for (auto const& c : json.at("cases")) cases.push_back(index::parse_case(c));
  } catch (nlohmann::json::exception const& e) {
    throw input_error(path + ": is not an index of golden vectors: " + e.what());
  }
  if (cases.empty()) throw input_error(path + ": lists no case");
  return cases;
}

}  // namespace golden
