// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The files of this folder, each of which registers the variants of a tier.
#pragma once

namespace bench {

void register_corrected_backbone();  ///< fp32 momentum, factored
void register_corrected_experts();   ///< no momentum, factored; hand-written loops too
void register_corrected_router();    ///< no momentum, exact
void register_published_backbone();  ///< the published formulas
void register_adamw();               ///< one pass; hand-written loops too
void register_adam();                ///< one pass; the gradient decays
void register_lion();                ///< one pass; hand-written loops too
void register_adafactor();           ///< relative rates; without momentum, and of the update

}  // namespace bench
