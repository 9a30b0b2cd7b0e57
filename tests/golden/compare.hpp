// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compares values with their reference and keeps the worst, and what was compared at all.
#pragma once

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "case_data.hpp"
#include "index.hpp"

namespace golden {

/// One difference, measured in tolerances: at most 1 passes.
struct deviation {
  double ratio = 0;
  double error = 0;
  double bound = 0;
  std::string where;

  std::string text() const {
    if (where.empty()) return "nothing compared";
    char buffer[96];
    std::snprintf(buffer, sizeof buffer, "%.3f (error %.2e, tolerance %.2e, ", ratio, error, bound);
    return buffer + where + ")";
  }
};

/// |got - want| in units of `bound`; NaN equals NaN only, an infinity itself only.
inline deviation deviate(double got, double want, double bound) {
  if (std::isnan(want) || std::isnan(got)) {
    bool const same = std::isnan(want) && std::isnan(got);
    return {
        .ratio = same ? 0 : INFINITY, .error = same ? 0 : INFINITY, .bound = bound, .where = {}};
  }
  double const error = got == want ? 0 : std::fabs(got - want);
  return {.ratio = error == 0 ? 0 : error / bound, .error = error, .bound = bound, .where = {}};
}

/// The kind of a tensor by its name in the file: `f64/3/w/v_row@s` is a `v_row`.
inline std::string kind_of(std::string const& name) {
  std::string const last = name.substr(name.rfind('/') + 1);
  std::string const kind = last.substr(0, last.find('@'));
  return name.starts_with("f64/trace/") ? "trace." + kind : kind;
}

/// The results of one case in one precision.
class scoreboard {
 public:
  /// @param run of the reference whose tolerances hold: f32, or ref
  /// @param scale what they are multiplied with
  scoreboard(case_data const& data, std::string const& run, double scale)
      : data_(data), accuracy_(accuracy_of(data, run)), scale_(scale) {}

  case_data const& data() const { return data_; }
  deviation const& worst() const { return worst_; }
  std::map<std::string, deviation> const& worst_by_tensor() const { return by_tensor_; }
  std::vector<std::string> const& failures() const { return failures_; }
  bool passed() const { return failures_.empty() && worst_.ratio <= 1; }

  bool has_tol(std::string const& tensor) const { return accuracy_.tol.contains(tensor); }

  tolerance tol(std::string const& tensor) const {
    if (!has_tol(tensor)) {
      throw input_error("case " + data_.info().name + ": no tolerance for " + tensor);
    }
    return accuracy_.tol.at(tensor).scaled(scale_);
  }

  /// The largest difference of the reference's own run; 0 where it is not known.
  double measured(std::string const& tensor) const {
    auto const it = accuracy_.measured.find(tensor);
    return it == accuracy_.measured.end() ? 0 : it->second;
  }

  void fail(std::string sentence) { failures_.push_back(std::move(sentence)); }

  /// Counts a reference tensor that was checked by other means as compared.
  void mark(std::string const& name, std::string const& tensor) {
    compared_.insert(name);
    kinds_.insert(tensor);
  }

  /// Compares a whole tensor of the file, or its sample and sums, with values of all elements.
  /// @param name of the tensor in the file, `tensor` its kind in the index (`p`, `v_row`, ...)
  void compare(std::string const& name, std::string const& tensor, param_info const& p,
               std::vector<double> const& got) {
    tolerance const allowed = tol(tensor);
    if (data_.file().find(name + "@s") != nullptr) {
      auto const sample = data_.sample(p);
      std::vector<double> picked;
      for (std::int64_t const i : sample) picked.push_back(got[static_cast<std::size_t>(i)]);
      elements(name + "@s", tensor, picked, allowed);
      sums(name + "@sum", tensor, got, allowed);
    } else {
      elements(name, tensor, got, allowed);
    }
  }

  /// Compares every element of a tensor of the file, or the norm of the difference.
  void elements(std::string const& name, std::string const& tensor, std::vector<double> const& got,
                tolerance allowed) {
    if (data_.file().find(name) == nullptr) return fail(name + " is not in the file");
    auto const want = data_.file().values(name);
    mark(name, tensor);
    if (want.size() != got.size()) return fail(name + " has another number of elements");
    if (allowed.fro != 0) return norm(name, tensor, got, want, allowed.fro);
    for (std::size_t i = 0; i < want.size(); ++i) {
      double const bound = allowed.atol + allowed.rtol * std::fabs(want[i]);
      record(deviate(got[i], want[i], bound), name, i, tensor);
    }
  }

  /// Integers are equal or wrong.
  void equal(std::string const& name, std::int64_t got) {
    if (data_.file().find(name) == nullptr) return fail(name + " is not in the file");
    std::int64_t const want = data_.file().integers(name).at(0);
    mark(name, "step");
    if (got != want) {
      fail(name + " is " + std::to_string(got) + " instead of " + std::to_string(want));
    }
  }

  /// Records one difference of element `i` of a tensor.
  void record(deviation d, std::string const& name, std::size_t i, std::string const& tensor) {
    deviation& kind = by_tensor_[tensor];
    if (!(d.ratio > kind.ratio) && !kind.where.empty()) return;
    d.where = name + "[" + std::to_string(i) + "]";
    if (d.ratio > worst_.ratio || worst_.where.empty()) worst_ = d;
    kind = std::move(d);
  }

  /// Every kind of tensor that the index names for the run, and every float64 value of the file
  /// that is of no other kind, must have been compared; what was not is a failure.
  void require_all_compared() {
    auto const require_kind = [&](std::string const& tensor) {
      if (!kinds_.contains(tensor)) fail(tensor + " of the index was not compared");
    };
    for (auto const& [tensor, t] : accuracy_.tol) require_kind(tensor);
    for (auto const& [tensor, e] : accuracy_.measured) require_kind(tensor);
    for (auto const& [name, t] : data_.file().tensors()) {
      if (!name.starts_with("f64/") || compared_.contains(name)) continue;
      if (!is_of_another_run(kind_of(name))) fail(name + " was not compared");
    }
  }

 private:
  static run_accuracy const& accuracy_of(case_data const& data, std::string const& run) {
    auto const it = data.info().runs.find(run);
    if (it != data.info().runs.end()) return it->second;
    throw input_error("case " + data.info().name + ": no tolerances for the run " + run);
  }

  bool is_of_another_run(std::string const& tensor) const {
    if (has_tol(tensor)) return false;
    for (auto const& [run, accuracy] : data_.info().runs) {
      if (accuracy.tol.contains(tensor)) return true;
    }
    return false;
  }

  /// The norm of the difference, against that of the reference.
  void norm(std::string const& name, std::string const& tensor, std::vector<double> const& got,
            std::vector<double> const& want, double fro) {
    std::vector<double> difference(want.size());
    for (std::size_t i = 0; i < want.size(); ++i) difference[i] = got[i] - want[i];
    auto const length = [](std::vector<double> const& x) {
      return static_cast<double>(std::sqrt(moments(x).squares));
    };
    record(deviate(length(difference), 0, fro * length(want)), name, 0, tensor);
  }

  /// The sums over all elements: within the sum of what the elements are allowed.
  void sums(std::string const& name, std::string const& tensor, std::vector<double> const& got,
            tolerance allowed) {
    if (data_.file().find(name) == nullptr) return fail(name + " is not in the file");
    auto const want = data_.file().values(name);
    mark(name, tensor);
    if (want.size() != 2) return fail(name + " does not hold two sums");
    moments const own(got);
    if (allowed.fro != 0) {  // |sum d_i| <= sqrt(n) ||d||, and the norms differ by ||d|| at most
      double const d = allowed.fro * std::sqrt(want[1]);
      double const n = std::sqrt(static_cast<double>(got.size()));
      record(deviate(static_cast<double>(own.sum), want[0], n * d), name, 0, tensor);
      record(deviate(static_cast<double>(own.squares), want[1], d * (2 * std::sqrt(want[1]) + d)),
             name, 1, tensor);
      return;
    }
    double bound = 0;
    double bound_of_squares = 0;
    for (double const x : got) {
      double const e = (allowed.atol + allowed.rtol * std::fabs(x)) * (1 + 2 * allowed.rtol);
      bound += e;
      bound_of_squares += e * (2 * std::fabs(x) + e);
    }
    record(deviate(static_cast<double>(own.sum), want[0], bound), name, 0, tensor);
    record(deviate(static_cast<double>(own.squares), want[1], bound_of_squares), name, 1, tensor);
  }

  case_data const& data_;
  run_accuracy const& accuracy_;
  double scale_;
  deviation worst_;
  std::map<std::string, deviation> by_tensor_;
  std::set<std::string> compared_;
  std::set<std::string> kinds_;
  std::vector<std::string> failures_;
};

}  // namespace golden
