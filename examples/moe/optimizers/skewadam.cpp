// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// SkewAdam's corrected mode, and the ablations of its paper (arXiv 2607.19058) in that mode.

#include "moe/optimizer.hpp"
#include "moe/registry.hpp"

namespace moe::optimizers {
namespace {

using namespace tieropt::skewadam::corrected;

template <class Experts, class Router>
std::unique_ptr<stepper> with(bound_model const& m) {
  return make_stepper<recipe<backbone, backbone, Experts, Router>>(m, same_settings());
}

}  // namespace

std::unique_ptr<stepper> skewadam_corrected(bound_model const& m) {
  return with<experts, router>(m);
}
// The backbone's tier is momentum and factored, the experts' tier factored alone.
std::unique_ptr<stepper> expert_momentum(bound_model const& m) { return with<backbone, router>(m); }
std::unique_ptr<stepper> factored_router(bound_model const& m) { return with<experts, experts>(m); }
std::unique_ptr<stepper> uniform(bound_model const& m) { return with<backbone, backbone>(m); }

}  // namespace moe::optimizers
