// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The inputs and the expected values of one case, stored or generated alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "index.hpp"
#include "procedural.hpp"
#include "safetensors.hpp"

namespace golden {

/// The sum and the sum of squares of all elements, as the format stores them for large tensors.
struct moments {
  long double sum = 0;
  long double squares = 0;

  explicit moments(std::vector<double> const& values) {
    for (double const x : values) {
      sum += x;
      squares += static_cast<long double>(x) * x;
    }
  }
};

class case_data {
 public:
  case_data(golden_case const& info, std::string const& folder)
      : info_(info), file_(folder + "/" + info.file) {
    for (param_info const& p : info_.params) check_inputs(p);
    if (file_.find("lr") != nullptr) lr_ = file_.values("lr");
  }

  golden_case const& info() const { return info_; }
  tensor_file const& file() const { return file_; }

  /// The parameter before the first step.
  std::vector<double> initial(param_info const& p) const {
    if (auto const* g = generator(p)) return g->initial().generate(p.shape);
    return stored(p, "in/" + p.name + "/p0");
  }

  /// The gradient of a step (1, 2, ...); none where the reference had none.
  std::optional<std::vector<double>> gradient(param_info const& p, int step) const {
    if (!p.has_gradient(step)) return std::nullopt;
    if (auto const* g = generator(p)) return g->gradient(step).generate(p.shape);
    return stored(p, gradient_name(p, step));
  }

  bool has_lr() const { return !lr_.empty(); }

  /// The learning rate of a step.
  double lr(int step) const {
    if (lr_.size() != static_cast<std::size_t>(info_.steps)) {
      throw input_error(file_.path() + ": holds no learning rate for each step");
    }
    return lr_[static_cast<std::size_t>(step - 1)];
  }

  /// Which elements of a large tensor are stored; empty for a tensor stored as a whole.
  std::vector<std::int64_t> sample(param_info const& p) const {
    std::string const name = "in/" + p.name + "/sample";
    if (file_.find(name) == nullptr) return {};
    auto indices = file_.integers(name);
    for (std::int64_t const i : indices) {
      if (i < 0 || i >= p.count())
        throw input_error(file_.path() + ": " + name + " is out of range");
    }
    return indices;
  }

 private:
  static std::string gradient_name(param_info const& p, int step) {
    return "in/" + p.name + "/g" + std::to_string(step);
  }

  procedural_input const* generator(param_info const& p) const {
    auto const it = info_.procedural.find(p.name);
    return it == info_.procedural.end() ? nullptr : &it->second;
  }

  std::vector<double> stored(param_info const& p, std::string const& name) const {
    if (file_.at(name).shape != p.shape) {
      throw input_error(file_.path() + ": " + name + " has another shape than the index says");
    }
    return file_.values(name);
  }

  /// The index and the file must tell the same story; generated inputs must match their check.
  void check_inputs(param_info const& p) const {
    if (generator(p) != nullptr) return check_generated(p);
    for (int t = 1; t <= info_.steps; ++t) {
      if ((file_.find(gradient_name(p, t)) != nullptr) != p.has_gradient(t)) {
        throw input_error(file_.path() + ": " + gradient_name(p, t) +
                          " and no_grad_steps disagree");
      }
    }
  }

  void check_generated(param_info const& p) const {
    std::string const in = "in/" + p.name + "/";
    auto const initial_values = initial(p);
    check_head(in + "p0@head", initial_values);
    check_sums(in + "p0@sum", file_.values(in + "p0@sum"), 0, initial_values);
    auto const sums = file_.values(in + "g@sum");
    for (int t = 1; t <= info_.steps; ++t) {
      auto const values = gradient(p, t);
      if (!values) continue;
      if (t == 1) check_head(in + "g1@head", *values);
      check_sums(in + "g@sum", sums, static_cast<std::size_t>(2 * (t - 1)), *values);
    }
  }

  void check_head(std::string const& name, std::vector<double> const& values) const {
    auto const head = file_.values(name);
    if (head.size() > values.size() || !std::equal(head.begin(), head.end(), values.begin())) {
      throw input_error(file_.path() + ": the generated values differ from " + name);
    }
  }

  void check_sums(std::string const& name, std::vector<double> const& sums, std::size_t at,
                  std::vector<double> const& values) const {
    moments const own(values);
    long double const rounding = 0x1p-40L;  // of a sum of n doubles in an unknown order
    auto const n = static_cast<long double>(values.size());
    if (at + 2 > sums.size() ||
        std::fabs(own.sum - sums[at]) > rounding * std::sqrt(n * own.squares) ||
        std::fabs(own.squares - sums[at + 1]) > rounding * own.squares) {
      throw input_error(file_.path() + ": the generated values differ from " + name);
    }
  }

  golden_case const& info_;
  tensor_file file_;
  std::vector<double> lr_;
};

}  // namespace golden
