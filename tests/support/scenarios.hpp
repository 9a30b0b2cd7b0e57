// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The run-time axes of the covering arrays: shapes, layouts, hyperparameters, steps, masks.
#pragma once

#include "support/against_reference.hpp"
#include "support/pairwise.hpp"
#include "support/tier_rows.hpp"

#include <iterator>
#include <string>
#include <vector>

namespace testing::scenarios {

/// Sizes 0, 1, 31, 32, 33, around a tile of 128 x 1,024 and a strip of 256, odd primes, several E.
inline std::vector<std::vector<int64_t>> const& shapes() {
  static std::vector<std::vector<int64_t>> const all{
      {},           {1},           {33},      {1025},    {0},         {5, 0},      {0, 3, 4},
      {1, 1},       {3, 5},        {31, 32},  {33, 31},  {127, 1023}, {128, 1024}, {129, 1025},
      {3, 33, 257}, {2, 3, 17, 7}, {7, 1, 1}, {1, 2049}, {523, 3}};
  return all;
}

inline std::vector<reference::hyper> const& hypers() {
  // A learning rate of 1 shows the update's error next to the parameter's own rounding.
  static std::vector<reference::hyper> const all{
      {.lr = 1, .eps = -1},
      {.lr = 3e-4, .eps = -1, .weight_decay = 0.05, .beta2_decay = 1.5},
      {.lr = -1, .beta1 = 0, .beta2 = 0.9, .eps = -1, .clip = 0.05, .weight_decay = 0.1, .eps2 = 1},
      {.lr = 1, .beta1 = 0.9, .beta2 = 0, .eps = 1e-4, .clip = 1e6, .beta2_decay = 0.1},
      {.lr = 0.5, .beta1 = 0.95, .beta2 = 0.98, .eps = 1e-2, .clip = 0.5, .weight_decay = 0.2}};
  return all;
}

inline std::vector<tieropt::schedule> const& schedules() {
  static std::vector<tieropt::schedule> const all{
      tieropt::streaming(), tieropt::cache_resident(0), tieropt::cache_resident(1 << 13),
      tieropt::cache_resident(int64_t{1} << 40), tieropt::automatic(1 << 16)};
  return all;
}

enum axis {
  tier,
  shape,
  param_layout,
  grad_layout,
  state_layout,
  shifted,
  hyper,
  first_step,
  active,
  absent,
  grad_kind,
  scale,
  schedule,
  n_axes
};

/// Tensor-wide tiers have no mask.
template <auto const& Rows>
bool allowed(int a, int x, int b, int y) {
  if (a != tier || b != active) return true;
  return y == 0 || !Rows[x].tensor_wide();
}

template <auto const& Rows>
pairwise::space space() {
  std::vector<int> levels(n_axes);
  levels[tier] = static_cast<int>(std::size(Rows));
  levels[shape] = static_cast<int>(shapes().size());
  levels[param_layout] = levels[grad_layout] = levels[state_layout] = n_layouts;
  levels[shifted] = n_parts;
  levels[hyper] = static_cast<int>(hypers().size());
  levels[first_step] = 4;
  levels[active] = 4;
  levels[absent] = 3;
  levels[grad_kind] = 5;
  levels[scale] = 2;
  levels[schedule] = static_cast<int>(schedules().size());
  return {levels, &allowed<Rows>};
}

/// The rows of the covering array over a tier list and the run-time axes.
template <auto const& Rows>
std::vector<pairwise::row> const& all() {
  static std::vector<pairwise::row> const rows = pairwise::generate(space<Rows>(), 1);
  return rows;
}

inline scenario of(pairwise::row const& r, std::uint64_t seed) {
  scenario s;
  s.extents = shapes()[static_cast<std::size_t>(r[shape])];
  s.param_layout = static_cast<layout>(r[param_layout]);
  s.grad_layout = static_cast<layout>(r[grad_layout]);
  s.state_layout = static_cast<layout>(r[state_layout]);
  s.shifted = static_cast<part>(r[shifted]);
  s.hyper = hypers()[static_cast<std::size_t>(r[hyper])];
  int64_t const steps[] = {0, 4, 999, 29999};  // 1 / sqrt(k) is the relative rate above 10^4
  s.first_step = steps[r[first_step]];
  s.active = r[active];
  s.absent = r[absent] - 1;
  s.grad_kind = r[grad_kind] < 4 ? r[grad_kind] : 7;
  if (r[scale] == 1) s.grad_scale = 768, s.clip_factor = 0.3;
  s.how = schedules()[static_cast<std::size_t>(r[schedule])];
  s.seed = seed;
  return s;
}

inline std::string describe(pairwise::row const& r) {
  static char const* const names[] = {"tier",     "shape", "param",      "grad",   "state",
                                      "shifted",  "hyper", "first step", "active", "absent",
                                      "gradient", "scale", "schedule"};
  std::string text;
  for (int a = 0; a < n_axes; ++a)
    text += std::string{names[a]} + " " + std::to_string(r[a]) + ", ";
  text += "extents";
  for (auto const x : shapes()[static_cast<std::size_t>(r[shape])]) text += " " + std::to_string(x);
  return text;
}

/// Runs one tier of a list through all its scenarios.
template <auto const& Rows, int I>
void run() {
  constexpr tier_row row = Rows[I];
  double largest = 0;
  int n = 0;
  std::uint64_t seed = 20260104;
  for (auto const& r : all<Rows>()) {
    ++seed;
    if (r[tier] != I) continue;
    ++n;
    std::string const wrong =
        run_against_reference<tier_of<row>, element_of<row.param>, element_of<row.grad>>(
            row.recipe(), row.nearest, of(r, seed), largest);
    INFO(describe(r) << ", seed " << seed);
    CHECK(wrong == "");
  }
  INFO("tier " << I << ": largest error " << largest << " of its bound in " << n << " scenarios");
  CHECK(n >= static_cast<int>(shapes().size()));
  CHECK(largest > 0.1);  // the bounds are not empty words
}

}  // namespace testing::scenarios
