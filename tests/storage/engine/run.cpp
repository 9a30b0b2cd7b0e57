// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Steps a scenario next to its dense twin and the reference.

#include "support/storage_engine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace testing::stored {

int const* shuffled_order() {
  static std::vector<int> const order = [] {
    std::vector<int> o(256);
    std::iota(o.begin(), o.end(), 0);
    source random{7};
    for (std::size_t i = 256; i > 1; --i)
      std::swap(o[i - 1], o[static_cast<std::size_t>(random.below(static_cast<int64_t>(i)))]);
    return o;
  }();
  return order.data();
}

namespace {

/// Of what is stored: factors as they are, which the update reads.
template <class Real>
std::vector<Real> now(kind k, cells const& state) {
  std::vector<Real> all;
  for (int64_t i = 0; i < state.size(); ++i)
    all.push_back(static_cast<Real>(decode(k, state.at(i))));
  return all;
}

/// Makes up for what matrices have missed. @return what is wrong, or ""
template <class Real>
std::string caught_up(row_case const& c, scenario& s, runner& here, runner& there, report& r) {
  bool counts = false;
  for (bundle const& b : s.tensors) counts = counts || b.counts_missed;
  if (!counts) return {};
  std::vector<snapshot> before;
  std::vector<tensor<Real>> old;
  for (bundle& b : s.tensors) {
    before.push_back(all_bits(b));
    old.push_back(tensor_of<Real>(c.what, b));
  }
  std::string const failed = here.catch_up(s.hyper, s.seed) + there.catch_up(s.hyper, s.seed);
  if (!failed.empty()) return failed;
  for (std::size_t t = 0; t < old.size(); ++t) {
    bundle& b = s.tensors[t];
    tensor<Real> want = old[t];
    want.rests.assign(static_cast<std::size_t>(b.E()), 1);
    want.faulty.assign(want.size(), 0);
    for (std::size_t e = 0; e < want.missed.size(); ++e) {
      if (want.missed[e] == 0) continue;
      want.rests[e] = 0;
      auto const n = static_cast<std::size_t>(b.R() * b.C());
      for (std::size_t i = e * n; i < (e + 1) * n; ++i) {
        want.weight[i] = want.weight[i] * decay_of<Real>(s.hyper, want.missed[e]);
        ++r.caught_up;
      }
      want.missed[e] = 0;
    }
    std::string wrong = difference(b, all_bits(s.dense[t])) + touched_gap(b);
    // Second moments stay, whoever was idle.
    if (b.exact.bits() != before[t][5] || b.row.bits() != before[t][3]) wrong += "a second moment";
    want.exact = old[t].exact, want.row = old[t].row, want.col = old[t].col;
    if (wrong.empty()) wrong = compare<Real>(c.what, b, before[t], old[t], want, r);
    if (!wrong.empty()) return "catch up: " + wrong;
  }
  return {};
}

template <class Real>
std::string run_in(row_case const& c, scenario& s, report& r) {
  auto const here = c.make(s.tensors, s.how, s.where);
  auto const there = c.make(s.dense, {}, place::serial);
  if (auto const e = here->prepare() + there->prepare(); !e.empty()) return e;
  recipe const tier = c.what.recipe();
  counts total;
  for (int k = 0; k < s.steps; ++k) {
    auto const say = [&](std::string const& wrong, std::size_t t) {
      return "step " + std::to_string(k + 1) + ", tensor " + std::to_string(t) + ": " + wrong;
    };
    new_gradients(c.what, s, k);
    if (s.before_step) s.before_step(s, k);
    inputs in = s.in;
    in.found_inf = k == s.found_inf_step;
    std::vector<tensor<Real>> old, want;
    std::vector<snapshot> before;
    std::vector<std::vector<std::uint64_t>> grads;
    for (bundle& b : s.tensors) {
      old.push_back(tensor_of<Real>(c.what, b));
      before.push_back(all_bits(b));
      grads.push_back(b.grad.bits());
    }
    std::string failed = here->step(s.hyper, in, s.seed);
    if (failed.empty()) failed = there->step(s.hyper, in, s.seed);
    if (!failed.empty()) return failed;

    want = old;
    for (std::size_t t = 0; t < want.size(); ++t) {
      want[t].row_now = now<Real>(c.what.variance_as(), s.tensors[t].row);
      want[t].col_now = now<Real>(c.what.variance_as(), s.tensors[t].col);
      bool const as_column = c.what.factored() && !s.tensors[t].factored;
      if (as_column) want[t].exact_now = now<Real>(c.what.variance_as(), s.tensors[t].exact);
    }
    auto const found = step(tier, s.hyper, want, in);
    bool rested_all = true;
    for (std::size_t t = 0; t < want.size(); ++t) {
      bundle& b = s.tensors[t];
      if (auto const w = difference(b, all_bits(s.dense[t])); !w.empty()) {
        return say("other bits than the dense twin, " + w, t);
      }
      if (auto const w = touched_gap(b) + touched_gap(s.dense[t]); !w.empty()) return say(w, t);
      if (b.grad.bits() != grads[t]) return say("wrote to the gradient", t);
      if (auto const w = compare<Real>(c.what, b, before[t], old[t], want[t], r); !w.empty()) {
        return say(w, t);
      }
      bool const rested =
          std::all_of(want[t].rests.begin(), want[t].rests.end(), [](char x) { return x != 0; });
      rested_all = rested_all && rested;
      if (rested && !b.counts_missed) {
        if (auto const w = difference(b, before[t]); !w.empty())
          return say("did not rest: " + w, t);
      }
    }
    total.elements += found.elements, total.matrices += found.matrices, total.steps += found.steps;
    bool const counted = c.what.fault != fault_kind::propagate || tier.global_clip;
    if (counted && (here->faults() != total || there->faults() != total)) {
      auto const f = here->faults();
      return say("counted " + std::to_string(f.elements) + " " + std::to_string(f.matrices) + " " +
                     std::to_string(f.steps) + ", wanted " + std::to_string(total.elements) + " " +
                     std::to_string(total.matrices) + " " + std::to_string(total.steps),
                 0);
    }
    if (tier.global_clip && std::isfinite(found.norm.value) && !in.found_inf) {
      Real const got = static_cast<Real>(here->norm());
      if (!(std::fabs(got - found.norm.value) <= found.norm.error))
        return say("norm " + std::to_string(static_cast<double>(got)) + ", wanted " +
                       std::to_string(static_cast<double>(found.norm.value)),
                   0);
      if (got != static_cast<Real>(there->norm())) return say("norm differs from the twin's", 0);
    }
  }
  if (auto const w = caught_up<Real>(c, s, *here, *there, r); !w.empty()) return w;
  r.faults.elements += total.elements, r.faults.matrices += total.matrices;
  r.faults.steps += total.steps;
  auto const p = here->paths();
  r.paths.whole += p.whole, r.paths.ragged += p.ragged, r.paths.strided += p.strided;
  ++r.scenarios;
  return {};
}

}  // namespace

std::string run_scenario(row_case const& c, scenario& s, report& r) {
  return c.what.computes_double() ? run_in<long double>(c, s, r) : run_in<double>(c, s, r);
}

std::string run_row(row_case const& c, int first, int n, report& r) {
  for (int i = first; i < first + n; ++i) {
    std::uint64_t const seed = 20261130 + 1000 * static_cast<std::uint64_t>(i);
    scenario s = make_scenario(c, i, seed);
    if (auto const w = run_scenario(c, s, r); !w.empty()) {
      return "scenario " + std::to_string(i) + ", seed " + std::to_string(seed) + s.text + ": " + w;
    }
  }
  return {};
}

}  // namespace testing::stored
