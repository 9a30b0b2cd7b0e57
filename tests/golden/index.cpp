// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "index.hpp"

#include "read_json.hpp"

namespace golden {
namespace {

param_info parse_param(nlohmann::json const& j) {
  return {.name = j.at("name"),
          .shape = j.at("shape"),
          .dtype = j.at("dtype"),
          .group = j.at("group"),
          .no_grad_steps = j.at("no_grad_steps")};
}

run_accuracy parse_accuracy(nlohmann::json const& tol, nlohmann::json const& err) {
  run_accuracy run;
  for (auto const& [tensor, t] : tol.items()) {
    run.tol[tensor] = t.contains("fro") ? tolerance{.fro = t.at("fro")}
                                        : tolerance{.rtol = t.at("rtol"), .atol = t.at("atol")};
  }
  for (auto const& [tensor, e] : err.items()) run.measured[tensor] = e.at("abs");
  return run;
}

procedural_input parse_procedural(nlohmann::json const& j) {
  return {.key = j.at("key_init"),
          .shift_init = j.at("shift_init"),
          .shift_grad = j.at("shift_grad"),
          .row_mod = j.at("row_mod"),
          .col_mod = j.at("col_mod"),
          .grad_bf16 = j.at("grad_bf16")};
}

hyper_group parse_group(nlohmann::json const& j) {
  hyper_group group;
  for (auto const& [name, value] : j.items()) {
    if (value.is_array())
      group[name] = value.get<std::vector<double>>();
    else if (value.is_boolean())
      group[name] = {value.get<bool>() ? 1.0 : 0.0};
    else
      group[name] = {value.get<double>()};
  }
  return group;
}

golden_case parse_case(nlohmann::json const& j) {
  golden_case c{.name = j.at("name"),
                .file = j.at("file"),
                .optimizer = j.at("optimizer"),
                .tags = j.at("tags"),
                .steps = j.at("steps"),
                .snapshots = j.at("snapshots"),
                .params = {},
                .groups = {},
                .runs = {},
                .procedural = {}};
  for (auto const& p : j.at("params")) c.params.push_back(parse_param(p));
  for (auto const& g : j.at("groups")) c.groups.push_back(parse_group(g));
  for (auto const& p : c.params) {
    if (p.shape.size() > 3 || p.group < 0 || p.group >= static_cast<int>(c.groups.size())) {
      throw input_error("case " + c.name + ": parameter " + p.name + " has a bad rank or group");
    }
  }
  for (auto const& [run, tol] : j.at("tol").items()) {
    c.runs[run] = parse_accuracy(tol, j.at("err").at(run));
  }
  if (j.contains("procedural")) {
    for (auto const& [param, p] : j.at("procedural").items()) {
      c.procedural[param] = parse_procedural(p);
    }
  }
  return c;
}

}  // namespace

std::vector<golden_case> read_index(std::string const& folder) {
  std::string const path = folder + "/index.json";
  auto const json = parse_json(read_file(path), path);
  std::vector<golden_case> cases;
  try {
    if (json.at("format") != 1) throw input_error(path + ": is of a format other than 1");
    for (auto const& c : json.at("cases")) cases.push_back(parse_case(c));
  } catch (nlohmann::json::exception const& e) {
    throw input_error(path + ": is not an index of golden vectors: " + e.what());
  }
  if (cases.empty()) throw input_error(path + ": lists no case");
  return cases;
}

}  // namespace golden
