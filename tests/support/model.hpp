// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handful of tensors of one tier with their state, stepped whole, one by one, or matrix by
/// matrix.
#pragma once

#include "support/buffers.hpp"

#include <tieropt/tieropt.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing {

/// One tensor of a tier with all its buffers.
template <class Tier, class Param, class Grad>
struct owned_tensor {
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  using momentum_type = std::conditional_t<tieropt::keeps_momentum<typename Tier::momentum>,
                                           typename bound::momentum_type, float>;
  using variance_type = std::conditional_t<tieropt::keeps_variance<typename Tier::variance>,
                                           typename bound::variance_type, float>;
  static constexpr bool divides = tieropt::keeps_variance<typename Tier::variance>;
  static constexpr bool keeps = tieropt::keeps_momentum<typename Tier::momentum>;
  static constexpr bool tensor_step = Tier::step_scope == tieropt::scope::tensor;

  std::vector<int64_t> extents;
  buffer<Param> param;
  buffer<Grad> grad;
  buffer<momentum_type> momentum;
  buffer<variance_type> row, col, exact;
  vector<int64_t> step;
  int64_t key;

  owned_tensor(std::vector<int64_t> const& shape, int64_t name, layout how = layout::row_major)
      : extents{shape}, param{shape, how}, grad{shape, how}, key{name} {
    if (keeps) momentum = buffer<momentum_type>{shape, how};
    if (factored()) {
      row = buffer<variance_type>{{param.E(), param.R()}};
      col = buffer<variance_type>{{param.E(), param.C()}};
    } else if (divides) {
      exact = buffer<variance_type>{shape, Tier::variance::factored ? layout::row_major : how};
    }
    step.assign(static_cast<std::size_t>(tensor_step ? 1 : param.E()), 0);
    param.fill([&](int64_t i) { return 0.1 * normal(static_cast<std::uint64_t>(key), i); });
  }

  bool factored() const { return Tier::variance::factored && extents.size() >= 2; }
  void new_gradient(int k) {
    std::uint64_t const seed =
        1000 + 31 * static_cast<std::uint64_t>(key) + static_cast<std::uint64_t>(k);
    grad.fill([&](int64_t i) { return 1e-2 * normal(seed, i); });
  }
  bound whole() {
    bound t;
    t.param = param.view();
    t.grad = std::as_const(grad).view();
    if constexpr (keeps) t.momentum = momentum.view();
    if constexpr (divides) {
      if (factored()) {
        t.variance = {.row = row.view(), .col = col.view()};
      } else {
        t.variance = {.exact = exact.view()};
      }
    }
    t.step = tieropt::view(step.data(), static_cast<int64_t>(step.size()));
    t.key = key;
    return t;
  }
  /// Rows [first, last) of matrix e alone, under the same key; row-major, and exact tiers if the
  /// rows are not all of them.
  bound part(int64_t e, int64_t first, int64_t last) {
    int64_t const R = param.R(), C = param.C(), at = (e * R + first) * C, rows = last - first;
    bound t;
    t.param = tieropt::view(param.data() + at, rows, C);
    t.grad = tieropt::view(std::as_const(grad).data() + at, rows, C);
    if constexpr (keeps) t.momentum = tieropt::view(momentum.data() + at, rows, C);
    if constexpr (divides) {
      if (factored()) {
        t.variance = {.row = tieropt::view(row.data() + e * R, R),
                      .col = tieropt::view(col.data() + e * C, C)};
      } else {
        t.variance = {.exact = tieropt::view(exact.data() + at, rows, C)};
      }
    }
    t.step = tieropt::view(step.data() + e, 1);
    t.key = key;
    t.first_element = at;
    return t;
  }
  /// The first buffer that differs from that of a tensor of any tier, or "".
  template <class Other>
  std::string difference(Other const& o) const {
    if (step != o.step) return "step";
    if (!(row == o.row)) return "row";
    if (!(col == o.col)) return "col";
    if (!(exact == o.exact)) return "exact";
    if (!(momentum == o.momentum)) return "momentum";
    if (!(param == o.param)) return "param";
    return "";
  }
};

/// Runs one step of a range on an executor. @return the message of what failed, or ""
template <class Tier, class X, class Bound>
std::string step_of(X const& x, std::vector<Bound>& tensors, tieropt::hyper const& h,
                    tieropt::step_inputs const& inputs, tieropt::schedule how = {}) {
  auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(how, tensors);
  if (!plan) return tieropt::message(plan.error());
  scratch workspace{x, plan->workspace_bytes()};
  if (auto const s = tieropt::prepare(x, *plan, workspace); !s) return tieropt::message(s);
  tieropt::hyper const hypers[] = {h};
  if (auto const s = tieropt::enqueue(x, *plan, workspace, hypers, inputs); !s) {
    return tieropt::message(s);
  }
  return "";
}

/// Tensors of one tier.
template <class Tier, class Param, class Grad = Param>
struct model {
  using tensor = owned_tensor<Tier, Param, Grad>;
  std::vector<tensor> tensors;
  tieropt::hyper hyper{.lr = 3e-3, .weight_decay = 0.1};
  std::uint64_t seed = 9;

  explicit model(std::vector<std::vector<int64_t>> const& shapes, layout how = layout::row_major) {
    int64_t key = 1;
    for (auto const& shape : shapes) tensors.emplace_back(shape, key++, how);
  }
  /// All tensors in one plan.
  template <class X>
  std::string run(X const& x, int steps, tieropt::schedule how = {}) {
    for (int k = 0; k < steps; ++k) {
      std::vector<typename tensor::bound> all;
      for (auto& t : tensors) t.new_gradient(k), all.push_back(t.whole());
      if (auto const e = step_of<Tier>(x, all, hyper, {.seed = seed}, how); !e.empty()) return e;
    }
    return "";
  }
  /// The first tensor and buffer that differ, or "".
  template <class Other>
  std::string difference(Other const& o) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      std::string const what = tensors[i].difference(o.tensors[i]);
      if (!what.empty()) return what + " of tensor " + std::to_string(i);
    }
    return "";
  }
};

}  // namespace testing
