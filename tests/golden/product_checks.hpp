// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Input and result of an orthogonalisation, as the products saw them.
#pragma once

#include <vector>

#include "compare.hpp"
#include "instance.hpp"
#include "update_checks.hpp"

namespace golden {

/// Compares `ns_in` and `ns_out` after the last step of a recipe that multiplies.
template <class Recipe, class Param>
void compare_products(instance<Recipe, Param>& run, int t, scoreboard& board) {
  if constexpr (Recipe::multiplies) {
    if (t != board.data().info().steps) return;
    if (run.size() != 1)
      return board.fail("products of more than one parameter are not told apart");
    param_info const& p = run.info(0);
    auto const& products = run.products();
    if (products.seen != products.expected) {
      return board.fail("the step had " + std::to_string(products.seen) + " products instead of " +
                        std::to_string(products.expected));
    }
    board.compare(step_name("f64", t, p, "ns_out"), "ns_out", p, widened(products.last));
    if (!board.has_tol("ns_in")) return;
    // The first product reads each matrix divided by its norm and 1e-7.
    std::size_t const matrices = p.shape.size() == 3 ? static_cast<std::size_t>(p.shape[0]) : 1;
    auto const norms = run.measured(0, matrices);
    auto x = widened(products.first);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= norms[i / (x.size() / matrices)] + 1e-7;
    board.compare(step_name("f64", t, p, "ns_in"), "ns_in", p, x);
  }
}

}  // namespace golden
