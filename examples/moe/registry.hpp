// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The optimizers that train_moe compares: a name, learning rates, a function that makes it.
#pragma once

#include "moe/catalogue.hpp"

#include <memory>

namespace moe {

/// Each is composed in a file of its family, moe/optimizers/*.cpp, so that they compile side by
/// side.
namespace optimizers {
std::unique_ptr<stepper> skewadam_corrected(bound_model const&);
std::unique_ptr<stepper> skewadam_published(bound_model const&);
std::unique_ptr<stepper> expert_momentum(bound_model const&);
std::unique_ptr<stepper> factored_router(bound_model const&);
std::unique_ptr<stepper> uniform(bound_model const&);
std::unique_ptr<stepper> adamw(bound_model const&);
std::unique_ptr<stepper> skewadam_int8(bound_model const&);
std::unique_ptr<stepper> adamw_8bit(bound_model const&);
std::unique_ptr<stepper> muon(bound_model const&);
std::unique_ptr<stepper> mixed(bound_model const&);
std::unique_ptr<stepper> lion(bound_model const&);
std::unique_ptr<stepper> adafactor(bound_model const&);
std::unique_ptr<stepper> adam(bound_model const&);
std::unique_ptr<stepper> rmsprop(bound_model const&);
std::unique_ptr<stepper> sgd(bound_model const&);
}  // namespace optimizers

inline constexpr char const* where_rates_come_from =
    R"(A second rate is of the tensors that Muon leaves to others: vectors, embeddings, heads, router, and
mixed's experts. The rates here: adamw, lion and adafactor by a sweep over 0.3x, 1x and 3x (task text,
150 steps, cosine, seed 1; for lion and adafactor the best was the largest); skewadam, its ablations,
those of 8 bits, adam and the second rates take adamw's, as in the paper; muon its authors'; rmsprop
and sgd what is common elsewhere.
)";

/// To add an optimizer, compose its tiers in a file of its own, declare it above and add a line.
inline constexpr registered registry[] = {
    {.name = "skewadam-corrected",
     .summary = "tiered state; bias-corrected, clip and step per expert",
     .groups = in_default | in_skewadam,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::skewadam_corrected},
    {.name = "skewadam-published",
     .summary = "tiered state; the formulas of the published code",
     .groups = in_skewadam,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::skewadam_published},
    {.name = "adamw",
     .summary = "two fp32 states for every weight",
     .groups = in_default,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::adamw},
    {.name = "muon",
     .summary = "Muon on hidden matrices, experts too; AdamW on the rest",
     .groups = in_default,
     .usual = {0.02, 2e-3},
     .paper = {0.02, 3e-4},
     .make = optimizers::muon},
    {.name = "lion",
     .summary = "the sign of an fp32 momentum",
     .groups = in_default,
     .usual = {9e-4},
     .paper = {1e-4},
     .make = optimizers::lion},
    {.name = "adafactor",
     .summary = "factored moments, no momentum, rates scaled by each tensor's RMS",
     .groups = in_default,
     .usual = {0.06},
     .make = optimizers::adafactor},
    {.name = "mixed",
     .summary = "Muon on the backbone's matrices, SkewAdam's experts, AdamW on the rest",
     .groups = in_default,
     .usual = {0.02, 2e-3},
     .paper = {0.02, 3e-4},
     .make = optimizers::mixed},
    {.name = "skewadam-int8",
     .summary = "skewadam-corrected with the backbone's momentum in int8",
     .groups = in_skewadam,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::skewadam_int8},
    {.name = "adamw-8bit",
     .summary = "AdamW with both states in 8 bits",
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::adamw_8bit},
    {.name = "adam", .summary = "Adam, without decay", .usual = {2e-3}, .make = optimizers::adam},
    {.name = "rmsprop",
     .summary = "one fp32 state, without decay",
     .usual = {1e-3},
     .make = optimizers::rmsprop},
    {.name = "sgd",
     .summary = "an fp32 heavy ball, without decay",
     .usual = {0.1},
     .make = optimizers::sgd},
    {.name = "ablation-full",
     .summary = "SkewAdam's whole policy, the same as skewadam-corrected",
     .groups = in_ablations,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::skewadam_corrected},
    {.name = "ablation-expert-momentum",
     .summary = "momentum on the experts too",
     .groups = in_ablations,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::expert_momentum},
    {.name = "ablation-factored-router",
     .summary = "a factored router",
     .groups = in_ablations,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::factored_router},
    {.name = "ablation-uniform",
     .summary = "momentum and factored everywhere",
     .groups = in_ablations,
     .usual = {2e-3},
     .paper = {3e-4},
     .make = optimizers::uniform},
};

}  // namespace moe
