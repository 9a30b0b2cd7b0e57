// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "golden/adafactor_recipes.hpp"
#include "golden/run_rounded.hpp"

template void golden::run_trajectory<golden::adafactor<float>>(scoreboard&);
template void golden::run_unrounded<golden::adafactor<float>>(scoreboard&);
