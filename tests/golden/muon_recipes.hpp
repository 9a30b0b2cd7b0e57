// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Muon, and what its gemm sees: the input of the orthogonalisation and its result.
#pragma once

#include <cstdint>
#include <utility>

#include "recipes.hpp"
#include "support/plain_gemm.hpp"

namespace golden {

/// What went into the first product of a step and came out of the last.
template <class Element, class Side>
struct product_log {
  typename Side::template vector<Element> first;
  typename Side::template vector<Element> last;
  std::int64_t expected = 0;  // products of a step
  std::int64_t seen = 0;      // in this step
};

/// plain_gemm that keeps a log. The log outlives it.
template <class Element, class Executor, class Side>
struct logging_gemm {
  Executor executor;
  product_log<Element, Side>* log;

  tieropt::status operator()(tieropt::matrix_product<Element> const& p) const {
    ++log->seen;
    tieropt::status s;
    if (log->seen == 1) s = keep(p.a, p.batch * p.m * p.k, log->first);
    if (s) s = testing::plain_gemm<Executor>{executor}(p);
    if (s && log->seen == log->expected) s = keep(p.d, p.batch * p.m * p.n, log->last);
    return s;
  }

 private:
  /// A copy in the order of the launches: the product that adds nothing to `from`.
  template <class To>
  tieropt::status keep(Element const* from, std::int64_t count, To& to) const {
    if (static_cast<std::int64_t>(to.size()) != count) return {tieropt::errc::shape};
    tieropt::matrix_product<Element> copy{};
    copy.batch = 1, copy.m = 1, copy.n = count, copy.k = 0;
    copy.alpha = 0, copy.beta = 1;
    copy.c = from, copy.d = to.data();
    return testing::plain_gemm<Executor>{executor}(copy);
  }
};

/// @tparam Element of the products
template <class Compute, class Element>
struct muon_with : recipe<Compute> {
  using tiers = std::tuple<tieropt::muon::matrix_as<Compute, Element>>;
  static constexpr state_names names{.momentum = "momentum_buffer"};
  static constexpr bool multiplies = true;
  static constexpr bool missing_is_zero = true;

  template <class Executor, class Side>
  struct equipment {
    using gemm = logging_gemm<Element, Executor, Side>;
    product_log<Element, Side> products;
    decltype(tieropt::with_gemm(std::declval<Executor>(), std::declval<gemm>())) executor;

    explicit equipment(Executor const& x) : executor(tieropt::with_gemm(x, gemm{x, &products})) {}
    equipment(equipment const&) = delete;
    equipment& operator=(equipment const&) = delete;
  };

  static tieropt::hyper hyper_of(hyper_group const& group, double lr) {
    return {.lr = lr,
            .beta1 = number(group, "momentum"),
            .weight_decay = number(group, "weight_decay")};
  }
};

template <class Compute>
struct muon : muon_with<Compute, Compute> {};

/// The iteration in bf16, as published.
template <class Compute>
struct muon_in_bf16 : muon_with<Compute, tieropt::bf16> {};

}  // namespace golden
