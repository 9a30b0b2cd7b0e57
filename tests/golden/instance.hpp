// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// All parameters of one case in one plan: buffers, ranges by tier, and the step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "case_data.hpp"
#include "recipes.hpp"
#include "side.hpp"

namespace golden {

inline void check(tieropt::status const& s, char const* call) {
  if (s) return;
  throw library_error(std::string(call) + " refused: " + tieropt::message(s));
}

/// Converts values that the target holds exactly; anything else is rounded to nearest.
template <class To>
std::vector<To> converted(std::vector<double> const& values) {
  std::vector<To> out;
  out.reserve(values.size());
  for (double const x : values) out.push_back(tieropt::storage<To>::nearest(x));
  return out;
}

/// Converts to double, exactly.
template <class Vector>
std::vector<double> widened(Vector const& values) {
  using codec = tieropt::storage<typename Vector::value_type>;
  std::vector<double> out;
  out.reserve(values.size());
  for (auto const& x : values) out.push_back(codec::template decode<double>(x));
  return out;
}

/// Whether two vectors hold the same bits.
template <class A, class B>
bool same_bits(A const& a, B const& b) {
  static_assert(std::is_same_v<typename A::value_type, typename B::value_type>);
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

/// The buffers of one parameter; states that its tier lacks stay empty.
template <class Side, class Param, class State>
struct buffers {
  template <class T>
  using vector = typename Side::template vector<T>;

  vector<Param> param;
  vector<Param> grad;
  vector<State> momentum;
  vector<State> exact;
  vector<State> row;
  vector<State> col;
  vector<std::int64_t> step;
  bool has_gradient = false;

  /// Calls f(name, vector) for each state that there is.
  template <class Self, class F>
  static void for_each_state(Self& self, state_names const& names, F f) {
    if (!self.momentum.empty()) f(names.momentum, self.momentum);
    if (!self.exact.empty()) f(names.exact, self.exact);
    if (!self.row.empty()) f(names.row, self.row);
    if (!self.col.empty()) f(names.col, self.col);
  }

  /// Whether a bit of anything but the gradient differs.
  template <class Other>
  bool differs_from(buffers<Other, Param, State> const& other) const {
    return !(same_bits(param, other.param) && same_bits(momentum, other.momentum) &&
             same_bits(exact, other.exact) && same_bits(row, other.row) &&
             same_bits(col, other.col) && same_bits(step, other.step));
  }
};

/// One case, bound: gradients have the type of the parameters, states the compute type.
template <class Recipe, class Param, class Side = side>
class instance {
 public:
  using state = typename Recipe::compute;
  using buffers_type = buffers<Side, Param, state>;

  /// @pre `data` outlives the instance
  explicit instance(case_data const& data)
      : data_(data),
        with_{side_.template make_executor<Param>()},
        held_(data.info().params.size()) {
    for (std::size_t i = 0; i < held_.size(); ++i) place(i, tier_indices{});
    auto const plan = std::apply(make_plan, ranges_);
    if (!plan) check(plan.error(), "make_plan");
    plan_.emplace(*plan);
    workspace_ = side_.make_workspace(plan_->workspace_bytes());
    check(tieropt::prepare(with_.executor, *plan_, workspace_), "prepare");
    if constexpr (Recipe::multiplies) {
      std::size_t count = 0;
      for (buffers_type const& b : held_) count += b.param.size();
      with_.products.first.resize(count);
      with_.products.last.resize(count);
      with_.products.expected = plan_->products();
    }
  }
  instance(instance const&) = delete;
  instance& operator=(instance const&) = delete;

  case_data const& data() const { return data_; }
  std::size_t size() const { return held_.size(); }
  param_info const& info(std::size_t i) const { return data_.info().params[i]; }
  buffers_type& operator[](std::size_t i) { return held_[i]; }
  buffers_type const& operator[](std::size_t i) const { return held_[i]; }

  /// The gradient of step `t`; none if the parameter rests then.
  std::optional<std::vector<double>> gradient(std::size_t i, int t) const {
    auto g = data_.gradient(info(i), t);
    if (Recipe::missing_is_zero && !g) g.emplace(static_cast<std::size_t>(info(i).count()));
    return g;
  }
  /// How many steps of the first `t` the parameter did not rest in.
  std::int64_t steps_taken(std::size_t i, int t) const {
    if (Recipe::missing_is_zero) return t;
    auto const& rests = info(i).no_grad_steps;
    return t - std::count_if(rests.begin(), rests.end(), [t](int s) { return s <= t; });
  }

  /// Calls f(name, vector) for each state of parameter `i`.
  template <class F>
  void for_each_state(std::size_t i, F f) {
    buffers_type::for_each_state(held_[i], Recipe::names, f);
  }

  /// Writes the gradients of a step and rests the parameters that have none.
  void load_gradients(int t) {
    for (std::size_t i = 0; i < size(); ++i) {
      auto const g = gradient(i, t);
      held_[i].has_gradient = g.has_value();
      if (g) copy(converted<Param>(*g), held_[i].grad);
    }
    rebind(tier_indices{});
  }

  /// Takes one step of every parameter that has a gradient, and waits for it.
  void step(std::vector<tieropt::hyper> const& hypers, std::uint64_t seed) {
    tieropt::step_inputs const inputs{.seed = seed};
    if constexpr (Recipe::multiplies) with_.products.seen = 0;
    check(tieropt::enqueue(with_.executor, *plan_, workspace_, hypers, inputs), "enqueue");
    side_.wait();
  }

  /// A copy of all buffers as they are now.
  std::vector<buffers_type> saved() const { return held_; }

  /// Writes parameters, states and step counts back; gradients stay as they are.
  void restore(std::vector<buffers_type> const& from) {
    for (std::size_t i = 0; i < size(); ++i) {
      copy(from[i].param, held_[i].param);
      copy(from[i].momentum, held_[i].momentum);
      copy(from[i].exact, held_[i].exact);
      copy(from[i].row, held_[i].row);
      copy(from[i].col, held_[i].col);
      copy(from[i].step, held_[i].step);
    }
  }

  /// Calls f(tier, range) for the tier of parameter `i`.
  template <class F>
  void with_tier(std::size_t i, F f) {
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      ((places_[i].tier == Is
            ? f(std::tuple_element_t<Is, tiers>{}, cuda::std::integral_constant<std::size_t, Is>{})
            : void()),
       ...);
    }
    (tier_indices{});
  }
  /// What the clip measured in the last step: the first `n` values, of the tensor or its matrices.
  std::vector<double> measured(std::size_t i, std::size_t n = 1) {
    std::vector<double> out;
    with_tier(i, [&](auto tier, auto range) {
      if constexpr (decltype(tier)::clip::measures) {
        auto const* const at = tieropt::update_rms(*plan_, workspace_, range, places_[i].slot);
        for (std::size_t e = 0; e < n; ++e) out.push_back(side_.read(at + e));
      }
    });
    return out;
  }
  /// The RMS of the parameter that scaled the last step's learning rate; none if nothing did.
  std::optional<double> param_rms(std::size_t i) {
    std::optional<double> rms;
    with_tier(i, [&](auto tier, auto range) {
      if constexpr (!std::is_same_v<typename decltype(tier)::scale, tieropt::no_scale>) {
        rms = side_.read(tieropt::param_rms(*plan_, workspace_, range, places_[i].slot));
      }
    });
    return rms;
  }
  /// What the last step multiplied. @pre the recipe does, and there is one parameter
  auto const& products() const { return with_.products; }

  /// Copies without moving the destination, since the plan knows its address.
  template <class From, class To>
  static void copy(From const& from, To& to) {
    if (from.size() != to.size()) throw library_error("a state has an unexpected shape");
    std::copy(from.begin(), from.end(), to.begin());
  }

 private:
  template <class Tiers>
  struct bound;
  template <class... Tiers>
  struct bound<std::tuple<Tiers...>> {
    using policy = tieropt::tier_policy<Tiers...>;
    using ranges = std::tuple<std::vector<tieropt::bound_tensor<Tiers, Param>>...>;
  };
  using tiers = typename Recipe::tiers;
  using policy = typename bound<tiers>::policy;
  using tier_indices = std::make_index_sequence<std::tuple_size_v<tiers>>;

  static constexpr auto make_plan = [](auto&... ranges) {
    return tieropt::make_plan<policy>(ranges...);
  };
  using ranges_type = typename bound<tiers>::ranges;
  using plan_type =
      typename decltype(std::apply(make_plan, std::declval<ranges_type&>()))::value_type;

  template <std::size_t... Is>
  void place(std::size_t i, std::index_sequence<Is...>) {
    std::size_t const tier = Recipe::tier_of(data_.info().groups.at(info(i).group));
    if (tier >= sizeof...(Is)) throw library_error("no tier has this combination of options");
    ((tier == Is ? bind<std::tuple_element_t<Is, tiers>>(i, std::get<Is>(ranges_)) : void()), ...);
    places_.push_back({tier, static_cast<std::int64_t>(members_[tier].size())});
    members_[tier].push_back(i);
  }

  template <class Tier>
  void bind(std::size_t i, std::vector<tieropt::bound_tensor<Tier, Param>>& range) {
    auto const& shape = info(i).shape;
    auto const count = static_cast<std::size_t>(info(i).count());
    buffers_type& b = held_[i];
    b.param.resize(count);
    copy(converted<Param>(data_.initial(info(i))), b.param);
    b.grad.resize(count);
    std::size_t const matrices = shape.size() == 3 ? static_cast<std::size_t>(shape[0]) : 1;
    b.step.resize(Tier::step_scope == tieropt::scope::tensor ? 1 : matrices);
    tieropt::bound_tensor<Tier, Param> bound{};
    bound.param = shaped(b.param.data(), shape);
    bound.grad = shaped<Param const>(b.grad.data(), shape);
    bound.step = tieropt::view(b.step.data(), b.step.size());
    if constexpr (!std::is_same_v<typename Tier::momentum, tieropt::no_momentum>) {
      b.momentum.resize(count);
      bound.momentum = shaped(b.momentum.data(), shape);
    }
    if constexpr (Tier::variance::factored) {
      if (shape.size() >= 2) {
        auto rows = shape;
        rows.pop_back();
        auto cols = shape;
        cols.erase(cols.end() - 2);
        b.row.resize(count / static_cast<std::size_t>(shape.back()));
        b.col.resize(matrices * static_cast<std::size_t>(shape.back()));
        bound.variance.row = shaped(b.row.data(), rows);
        bound.variance.col = shaped(b.col.data(), cols);
      }
    }
    if constexpr (!std::is_same_v<typename Tier::variance::state_type, tieropt::none>) {
      if (b.row.empty()) {
        b.exact.resize(count);
        bound.variance.exact = shaped(b.exact.data(), shape);
      }
    }
    bound.key = static_cast<std::int64_t>(i);
    bound.group = info(i).group;
    range.push_back(bound);
  }

  /// The row-major view of a buffer, of rank 0 to 3.
  template <class T>
  static tieropt::tensor_view<T> shaped(T* data, std::vector<std::int64_t> const& s) {
    switch (s.size()) {
      case 0: return tieropt::view(data);
      case 1: return tieropt::view(data, s[0]);
      case 2: return tieropt::view(data, s[0], s[1]);
      default: return tieropt::view(data, s[0], s[1], s[2]);
    }
  }

  template <std::size_t... Is>
  void rebind(std::index_sequence<Is...>) {
    std::vector<Param const*> lists[sizeof...(Is)];
    for (std::size_t tier = 0; tier < sizeof...(Is); ++tier) {
      for (std::size_t const i : members_[tier]) {
        lists[tier].push_back(held_[i].has_gradient ? held_[i].grad.data() : nullptr);
      }
    }
    check(tieropt::rebind_grads(with_.executor, *plan_, workspace_, lists[Is]...), "rebind_grads");
  }

  struct place_in_plan {
    std::size_t tier;
    std::int64_t slot;
  };

  case_data const& data_;
  Side side_;
  typename Recipe::template equipment<typename Side::template executor<Param>, Side> with_;
  std::vector<buffers_type> held_;
  std::vector<place_in_plan> places_;
  std::vector<std::size_t> members_[std::tuple_size_v<tiers>];
  ranges_type ranges_;
  std::optional<plan_type> plan_;
  std::span<std::byte> workspace_;
};

}  // namespace golden
