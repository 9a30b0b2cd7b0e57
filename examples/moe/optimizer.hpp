// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The model's tensors under tieropt: storage, state, and one plan over all populations.
#pragma once

#include "moe/parallel.hpp"
#include "moe/stepper.hpp"
#include "moe/tensors.hpp"

#include <tieropt/tieropt.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moe {

/// Which tier each part of the model gets; the same one may serve several.
/// @tparam Hidden matrices of the backbone between hidden layers
/// @tparam Outer the backbone's other tensors: embeddings, output head, norms
template <class Hidden, class Outer, class Experts, class Router>
struct recipe {
  using hidden = Hidden;
  using outer = Outer;
  using experts = Experts;
  using router = Router;
  using policy = tieropt::tier_policy<Hidden, Outer, Experts, Router>;
};
/// One tier for everything.
template <class Tier>
using uniform_recipe = recipe<Tier, Tier, Tier, Tier>;

/// Parts of the model, each a group of hyperparameters.
enum class part { hidden, outer, experts, router };
inline constexpr int n_parts = 4;

inline part part_of(tensor const& t) {
  if (t.tier == population::backbone) return t.hidden ? part::hidden : part::outer;
  return t.tier == population::experts ? part::experts : part::router;
}

/// What a part is stepped with: everything but numbers of the learning rate and the decay.
struct part_settings {
  tieropt::hyper hyper{};
  bool rest = false;   // rates::rest is the learning rate
  bool decays = true;  // by the job's weight decay
};
using settings = std::array<part_settings, n_parts>;

/// The same for every part; the router has no decay, and the others may have none.
inline settings same_settings(tieropt::hyper const& h = {}, bool decays = true) {
  settings all;
  for (auto& one : all) one = {.hyper = h, .decays = decays};
  all[static_cast<std::size_t>(part::router)].decays = false;
  return all;
}

/// Elements of one task over a flat array.
inline constexpr std::int64_t element_panel = 1 << 16;

/// Elements of a tensor.
inline std::size_t size_of(std::vector<std::int64_t> const& extents) {
  std::size_t n = 1;
  for (auto const extent : extents) n *= static_cast<std::size_t>(extent);
  return n;
}

/// A view of run-time rank 1, 2 or 3.
template <class T>
tieropt::tensor_view<T> view_of(T* data, std::vector<std::int64_t> const& n) {
  switch (n.size()) {
    case 1: return tieropt::view(data, n[0]);
    case 2: return tieropt::view(data, n[0], n[1]);
    default: return tieropt::view(data, n[0], n[1], n[2]);
  }
}

/// A state with an element for every weight, and its view. @tparam State how it is stored
template <class State>
struct element_state {
  std::vector<State> elements;

  tieropt::tensor_view<State> bind(std::vector<std::int64_t> const& extents) {
    elements.resize(size_of(extents));
    return view_of(elements.data(), extents);
  }
};
/// Codes, and scales of groups of columns.
template <tieropt::quantised_state State>
struct element_state<State> {
  std::vector<typename State::code> codes;
  std::vector<float> scales;

  tieropt::quantised_views<State> bind(std::vector<std::int64_t> extents) {
    codes.resize(size_of(extents));
    auto const view_of_codes = view_of(codes.data(), extents);
    extents.back() = tieropt::ceil_div(extents.back(), std::int64_t{tieropt::scale_group});
    scales.resize(size_of(extents));
    return {view_of_codes, view_of(scales.data(), extents)};
  }
};

/// The tensors of one part and one element type, as tieropt sees them.
///
/// bf16 weights and their gradients live here: the model works on float copies of the weights and
/// leaves float gradients. fp32 tensors are bound where the model has them.
template <class Tier, class Element>
class bound_range {
 public:
  using bound_type = tieropt::bound_tensor<Tier, Element>;

  bound_range(bound_model const& m, part of) : weights_{m.weights}, gradients_{m.gradients} {
    for (int id = 0; id < m.table.count(); ++id) {
      if (part_of(m.table[id]) != of || m.table[id].storage != storage) continue;
      ids_.push_back(id);
      buffers_.emplace_back();
      bind(m.table[id], id, m.expert_tokens);
    }
  }

  std::vector<bound_type> const& bound() const { return bound_; }

  /// Stored weights from the model's, to nearest.
  void store_weights() {
    for_each_copied([&](int id, buffers& b, std::int64_t i) {
      b.weight[static_cast<std::size_t>(i)] = codec::nearest(weights_.elements(id)[i]);
    });
  }
  /// The model's weights from the stored ones.
  void load_weights() {
    for_each_copied([&](int id, buffers& b, std::int64_t i) {
      weights_.elements(id)[i] =
          codec::template decode<float>(b.weight[static_cast<std::size_t>(i)]);
    });
  }
  /// Stored gradients from the model's, to nearest.
  void store_gradients() {
    for_each_copied([&](int id, buffers& b, std::int64_t i) {
      b.gradient[static_cast<std::size_t>(i)] = codec::nearest(gradients_.elements(id)[i]);
    });
  }

 private:
  using codec = tieropt::storage<Element>;
  using momentum_type = typename bound_type::momentum_type;
  using variance_type = typename bound_type::variance_type;
  using factor_type = tieropt::stored_element_t<variance_type>;
  static constexpr bool copied = !std::is_same_v<Element, float>;
  static constexpr element storage = copied ? element::bf16 : element::fp32;
  static constexpr bool steps_as_tensor = Tier::step_scope == tieropt::scope::tensor;
  static constexpr bool clips_as_tensor =
      Tier::clip::measures && Tier::clip::spans == tieropt::scope::tensor;

  struct buffers {
    std::vector<Element> weight, gradient;  // of copied elements
    element_state<momentum_type> momentum;  // state: as much as the tier asks for
    element_state<variance_type> exact;
    std::vector<factor_type> row, col;
    std::vector<std::int64_t> step;
  };
  struct piece {
    std::size_t tensor;  // of this range
    std::int64_t first, count;
  };

  void bind(tensor const& t, int id, std::vector<int> const& expert_tokens) {
    buffers& own = buffers_.back();
    bound_type b{.key = id, .group = static_cast<int>(part_of(t))};
    if constexpr (copied) {
      own.weight.resize(static_cast<std::size_t>(t.size()));
      own.gradient.resize(own.weight.size());
      for (std::int64_t first = 0; first < t.size(); first += element_panel) {
        pieces_.push_back({ids_.size() - 1, first, std::min(element_panel, t.size() - first)});
      }
      b.param = view_of(own.weight.data(), t.extents);
      b.grad = view_of<Element const>(own.gradient.data(), t.extents);
    } else {
      b.param = view_of(weights_.elements(id), t.extents);
      b.grad = view_of<Element const>(gradients_.elements(id), t.extents);
    }

    if constexpr (!std::is_same_v<momentum_type, tieropt::none>) {
      b.momentum = own.momentum.bind(t.extents);
    }
    if constexpr (!std::is_same_v<variance_type, tieropt::none>) {
      if (tieropt::state_bytes<Tier>(t.extents).exact > 0) {
        b.variance.exact = own.exact.bind(t.extents);
      } else {
        own.row.resize(static_cast<std::size_t>(t.matrices() * t.rows()));
        own.col.resize(static_cast<std::size_t>(t.matrices() * t.cols()));
        b.variance.row = tieropt::view(own.row.data(), t.matrices(), t.rows());
        b.variance.col = tieropt::view(own.col.data(), t.matrices(), t.cols());
      }
    }

    own.step.resize(steps_as_tensor ? 1 : static_cast<std::size_t>(t.matrices()));
    b.step = tieropt::view(own.step.data(), own.step.size());
    if constexpr (!steps_as_tensor && !clips_as_tensor) {  // an expert that saw no token rests
      auto const* const tokens = expert_tokens.data();
      if (t.tier == population::experts) b.active = tieropt::view(tokens, t.matrices());
    }
    bound_.push_back(b);
  }

  /// Calls f(tensor, its buffers, element) for all elements that are copied.
  template <class F>
  void for_each_copied(F const& f) {
    for_each_task(static_cast<std::int64_t>(pieces_.size()), [&](auto p) {
      auto const& [k, first, n] = pieces_[static_cast<std::size_t>(p)];
      for (auto i = first; i < first + n; ++i) f(ids_[k], buffers_[k], i);
    });
  }

  tensor_values<float>& weights_;
  tensor_values<float>& gradients_;
  std::vector<int> ids_;
  std::vector<buffers> buffers_;
  std::vector<piece> pieces_;  // the tasks of for_each_copied
  std::vector<bound_type> bound_;
};

/// The optimizer of a recipe over the whole model, stepped by one plan.
template <class Recipe, class Executor = tieropt::host_executor>
class optimizer final : public stepper {
 public:
  optimizer(settings const& parts, bound_model const& m, Executor executor)
      : parts_{parts},
        executor_{std::move(executor)},
        gradients_{m.gradients},
        hidden_{m, part::hidden},
        tables_{m, part::outer},
        norms_{m, part::outer},
        experts_{m, part::experts},
        router_{m, part::router},
        plan_{plan_of(hidden_.bound(), tables_.bound(), norms_.bound(), experts_.bound(),
                      router_.bound())},
        workspace_(plan_.workspace_bytes()) {
    for_each_range([](auto& range) { range.store_weights(); });
    for_each_range([](auto& range) { range.load_weights(); });
    require(tieropt::prepare(executor_, plan_, workspace_));
  }

  double step(rates lr, double weight_decay, std::uint64_t seed) override {
    double const norm = gradient_norm();
    bool const finite = std::isfinite(norm);
    for_each_range([](auto& range) { range.store_gradients(); });

    std::array<tieropt::hyper, n_parts> hypers;
    for (std::size_t i = 0; i < n_parts; ++i) {
      hypers[i] = parts_[i].hyper;
      hypers[i].lr = parts_[i].rest ? lr.rest : lr.own;
      hypers[i].weight_decay = parts_[i].decays ? weight_decay : 0;
    }
    tieropt::step_inputs const inputs{.seed = seed,
                                      .clip_factor = finite ? 1 / std::max(1.0, norm) : 1,
                                      .found_inf = finite ? 0 : 1};
    auto const start = std::chrono::steady_clock::now();
    require(tieropt::enqueue(executor_, plan_, workspace_, hypers, inputs));
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;

    for_each_range([](auto& range) { range.load_weights(); });
    return took.count();
  }

  std::array<std::int64_t, n_populations> state_bytes() const override {
    auto const range = [&](int i) { return plan_.size(i).state.total(); };
    return {range(0) + range(1) + range(2), range(3), range(4)};
  }

 private:
  static void require(tieropt::status const& s) {
    if (!s) throw std::runtime_error(std::string("tieropt: ") + message(s));
  }

  template <class... Ranges>
  static auto plan_of(Ranges const&... ranges) {
    auto const plan = tieropt::make_plan<typename Recipe::policy>(ranges...);
    if (!plan) require(plan.error());
    return *plan;
  }

  template <class F>
  void for_each_range(F const& f) {
    f(hidden_), f(tables_), f(norms_), f(experts_), f(router_);
  }

  /// Panels in float, their sum in double: the same for any number of threads.
  double gradient_norm() const {
    auto const& g = gradients_.all();
    std::vector<double> squares(
        static_cast<std::size_t>((g.size() + element_panel - 1) / element_panel));
    for_each_panel(g.size(), element_panel, [&](auto first, auto n) {
      squares[static_cast<std::size_t>(first / element_panel)] = g.segment(first, n).squaredNorm();
    });
    double sum = 0;
    for (double const square : squares) sum += square;
    return std::sqrt(sum);
  }

  using bf16 = tieropt::bf16;
  template <class Tier, class Element>
  using bound = tieropt::bound_tensor<Tier, Element>;
  using plan_type =
      tieropt::plan<typename Recipe::policy, bound<typename Recipe::hidden, bf16>,
                    bound<typename Recipe::outer, bf16>, bound<typename Recipe::outer, float>,
                    bound<typename Recipe::experts, bf16>, bound<typename Recipe::router, float>>;

  settings parts_;
  Executor executor_;
  tensor_values<float> const& gradients_;
  bound_range<typename Recipe::hidden, bf16> hidden_;
  bound_range<typename Recipe::outer, bf16> tables_;
  bound_range<typename Recipe::outer, float> norms_;
  bound_range<typename Recipe::experts, bf16> experts_;
  bound_range<typename Recipe::router, float> router_;
  plan_type plan_;  // refers to the ranges
  std::vector<std::byte> workspace_;
};

/// An optimizer of a recipe on the host.
template <class Recipe, class Executor = tieropt::host_executor>
std::unique_ptr<stepper> make_stepper(bound_model const& m, settings const& parts,
                                      Executor executor = {}) {
  return std::make_unique<optimizer<Recipe, Executor>>(parts, m, std::move(executor));
}

}  // namespace moe
