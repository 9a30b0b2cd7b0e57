// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "golden/adafactor_recipes.hpp"
#include "golden/run_rounded.hpp"

template void golden::run_to_nearest<golden::adafactor_to_nearest<float>>(scoreboard&, int);
