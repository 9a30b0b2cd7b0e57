// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A tier on bundles: the only code that each row of a covering array is compiled for.
#pragma once

#include "support/reference.hpp"
#include "support/storage_cells.hpp"
#include "support/storage_reference.hpp"
#include "support/storage_rows.hpp"

#include <tieropt/tieropt.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace testing::stored {

/// What a plan counted.
struct counts {
  int64_t elements = 0, matrices = 0, steps = 0;
  friend bool operator==(counts const&, counts const&) = default;
};
struct path_counts {
  int64_t whole = 0, ragged = 0, strided = 0;
};

/// A plan over some bundles, stepped on some executor.
class runner {
 public:
  virtual ~runner() = default;
  /// @return the message of what failed, or ""
  virtual std::string prepare() = 0;
  virtual std::string step(reference::hyper const& h, inputs const& in, std::uint64_t seed) = 0;
  /// weight x (1 - lr wd)^missed.
  virtual std::string catch_up(reference::hyper const& h, std::uint64_t seed) = 0;
  virtual counts faults() = 0;
  virtual double norm() = 0;
  virtual path_counts paths() = 0;
};

/// Where the blocks run.
enum class place { here, serial, parallel, shuffled };

/// A row, with its types erased.
struct row_case {
  row const& what;
  std::unique_ptr<runner> (*make)(std::vector<bundle>&, tieropt::schedule, place);
  bool all_places;  // otherwise here and serial alone
};

template <class T>
tieropt::tensor_view<T> view_of(cells& c) {
  tieropt::tensor_view<T> v;
  v.data = static_cast<T*>(c.data());
  v.rank = static_cast<int>(c.extents().size());
  for (int i = 0; i < v.rank; ++i) {
    v.extent[i] = c.extents()[static_cast<std::size_t>(i)];
    v.stride[i] = c.strides()[static_cast<std::size_t>(i)];
  }
  return v;
}

/// Binds a bundle to a tier.
template <class Tier, class Param, class Grad>
tieropt::bound_tensor<Tier, Param, Grad> bind(bundle& b) {
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  using parts = typename bound::parts;
  using master = typename Tier::master;
  bound t;
  auto const state = [](auto& to, cells& elements, cells& scales) {
    if constexpr (requires { to.codes; }) {
      using code = std::remove_pointer_t<decltype(to.codes.data)>;
      to = {.codes = view_of<code>(elements), .scales = view_of<float>(scales)};
    } else {
      to = view_of<std::remove_pointer_t<decltype(to.data)>>(elements);
    }
  };
  t.param = view_of<Param>(b.param);
  t.grad = view_of<Grad const>(b.grad);
  if constexpr (tieropt::keeps_momentum<typename parts::momentum>) {
    state(t.momentum, b.momentum, b.momentum_scale);
  }
  if constexpr (tieropt::needs<parts>::divides) {
    if (b.factored) {
      using element = std::remove_pointer_t<decltype(t.variance.row.data)>;
      t.variance.row = view_of<element>(b.row);
      t.variance.col = view_of<element>(b.col);
    } else {
      state(t.variance.exact, b.exact, b.exact_scale);
    }
  }
  if constexpr (master::splits) {
    t.master.remainder = view_of<std::uint16_t>(b.master);
    if constexpr (master::carries) t.master.carry = view_of<std::uint8_t>(b.carry);
  } else if constexpr (tieropt::keeps_master<master>) {
    t.master.weights = view_of<typename master::element>(b.master);
  }
  t.step = view_of<int64_t>(b.step);
  if (b.masked) t.active = view_of<int const>(b.active);
  if (b.counts_missed) t.missed = view_of<int64_t>(b.missed);
  t.key = b.key;
  t.first_element = b.first_element;
  if (b.dims == 1) t.dims = tieropt::two_largest();
  if (b.dims == 2) t.dims = {b.shape.row, b.shape.col};
  int const rank = static_cast<int>(b.shape.extents.size());
  if (b.dims == 3) t.dims = {b.shape.row - rank, b.shape.col - rank};
  return t;
}

inline tieropt::hyper hyper_of(reference::hyper const& h) {
  return {.lr = h.lr,
          .beta1 = h.beta1,
          .beta2 = h.beta2,
          .eps = h.eps,
          .clip = h.clip,
          .weight_decay = h.weight_decay,
          .beta2_decay = h.beta2_decay,
          .eps2 = h.eps2};
}
inline tieropt::step_inputs inputs_of(inputs const& in, std::uint64_t seed) {
  return {.seed = seed,
          .grad_scale = in.grad_scale,
          .clip_factor = in.clip_factor,
          .found_inf = in.found_inf ? 1 : 0,
          .max_grad_norm = in.max_norm};
}

template <class Tier, class Param, class Grad, class X>
class typed_runner final : public runner {
 public:
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;

  typed_runner(std::vector<bundle>& bundles, tieropt::schedule how, X const& executor)
      : bundles_{bundles},
        x_{executor},
        tensors_{all_of(bundles)},
        plan_{tieropt::make_plan<tieropt::tier_policy<Tier>>(how, tensors_)},
        workspace_{x_, plan_ ? plan_->workspace_bytes() : 0} {}

  std::string prepare() override {
    if (!plan_) {
      return "make_plan: tensor " + std::to_string(plan_.error().tensor) + ": " +
             tieropt::message(plan_.error());
    }
    return text("prepare: ", tieropt::prepare(x_, *plan_, workspace_));
  }
  std::string step(reference::hyper const& h, inputs const& in, std::uint64_t seed) override {
    std::vector<Grad const*> addresses;
    for (bundle& b : bundles_) {
      addresses.push_back(b.present ? static_cast<Grad const*>(b.grad.data()) : nullptr);
    }
    tieropt::status const bound_anew = tieropt::rebind_grads(x_, *plan_, workspace_, addresses);
    if (!bound_anew) return text("rebind_grads: ", bound_anew);
    tieropt::hyper const hypers[] = {hyper_of(h)};
    return text("enqueue: ", tieropt::enqueue(x_, *plan_, workspace_, hypers, inputs_of(in, seed)));
  }
  std::string catch_up(reference::hyper const& h, std::uint64_t seed) override {
    tieropt::hyper const hypers[] = {hyper_of(h)};
    return text("catch_up: ", tieropt::catch_up(x_, *plan_, workspace_, hypers, seed));
  }
  counts faults() override {
    if constexpr (tieropt::count_body<typename bound::parts>::wanted) {
      auto const f = read(tieropt::faults(*plan_, workspace_, first_range{}));
      return {f.elements, f.matrices, f.steps};
    } else {
      return {};
    }
  }
  double norm() override {
    if constexpr (tieropt::needs<typename bound::parts>::clips_norm) {
      return read(tieropt::grad_norm(*plan_, workspace_, first_range{}));
    } else {
      return -1;
    }
  }
  path_counts paths() override {
    auto const p = plan_->paths(0);
    return {p.whole, p.ragged, p.strided};
  }

 private:
  using first_range = cuda::std::integral_constant<std::size_t, 0>;
  static std::string text(char const* where, tieropt::status const& status) {
    return status ? "" : where + std::string{tieropt::message(status)};
  }
  static std::vector<bound> all_of(std::vector<bundle>& bundles) {
    std::vector<bound> all;
    for (bundle& b : bundles) all.push_back(bind<Tier, Param, Grad>(b));
    return all;
  }

  std::vector<bundle>& bundles_;
  X const x_;
  std::vector<bound> tensors_;
  decltype(tieropt::make_plan<tieropt::tier_policy<Tier>>(tieropt::schedule{}, tensors_)) plan_;
  scratch workspace_;
};

/// A permutation for shuffled_executor.
int const* shuffled_order();

template <row Row, bool AllPlaces>
std::unique_ptr<runner> make_runner(std::vector<bundle>& bundles, tieropt::schedule how,
                                    place where) {
  using tier = row_tier<Row>;
  using param = element_t<Row.param>;
  using grad = element_t<Row.grad>;
  if constexpr (AllPlaces && !on_device) {
    if (where == place::parallel) {
      using x = tieropt::host_executor;
      return std::make_unique<typed_runner<tier, param, grad, x>>(bundles, how, x{});
    }
    if (where == place::shuffled) {
      using x = tieropt::shuffled_executor;
      return std::make_unique<typed_runner<tier, param, grad, x>>(bundles, how,
                                                                  x{shuffled_order()});
    }
  }
  if constexpr (on_device) {
    if (where == place::here) {
      return std::make_unique<typed_runner<tier, param, grad, executor>>(bundles, how, executor{});
    }
  }
  using x = tieropt::serial_executor;
  return std::make_unique<typed_runner<tier, param, grad, x>>(bundles, how, x{});
}

/// What a row's test hands to the engine.
template <auto const& Rows, int I, bool AllPlaces = false>
row_case case_of() {
  return {Rows[I], &make_runner<Rows[I], AllPlaces>, AllPlaces};
}

}  // namespace testing::stored
