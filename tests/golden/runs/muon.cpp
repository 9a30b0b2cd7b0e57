// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "golden/muon_recipes.hpp"
#include "golden/run_case.hpp"

template void golden::run_trajectory<golden::muon<float>>(scoreboard&);
template void golden::run_trajectory<golden::muon<double>>(scoreboard&);
template void golden::run_trajectory<golden::muon_in_bf16<float>>(scoreboard&);
