// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Muon for hidden matrices, alone and with SkewAdam's experts; AdamW for the rest, as Muon's
/// authors advise.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

#include <tieropt/executor/eigen_gemm.hpp>

namespace moe::optimizers {
namespace {

using hidden_tier = tieropt::muon::matrix;
using rest_tier = tieropt::adamw::tensor;

/// Muon's momentum where it steps, and what the other parts are stepped with.
template <class Recipe>
std::unique_ptr<stepper> with_muon(bound_model const& m, bool experts) {
  settings s = same_settings();
  for (part const p : {part::hidden, part::outer, part::experts, part::router}) {
    bool const own = p == part::hidden || (p == part::experts && experts);
    auto& one = s[static_cast<std::size_t>(p)];
    one.rest = !own;
    if (own) one.hyper.beta1 = 0.95;
  }
  return make_stepper<Recipe>(m, s,
                              tieropt::with_gemm(tieropt::host_executor{}, tieropt::eigen_gemm{}));
}

}  // namespace

std::unique_ptr<stepper> muon(bound_model const& m) {
  return with_muon<recipe<hidden_tier, rest_tier, hidden_tier, rest_tier>>(m, true);
}
std::unique_ptr<stepper> mixed(bound_model const& m) {
  using tieropt::skewadam::corrected::experts;
  return with_muon<recipe<hidden_tier, rest_tier, experts, rest_tier>>(m, false);
}

}  // namespace moe::optimizers
