// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "golden/run_rounded.hpp"

template void golden::run_unrounded<golden::trainer_lion<float>>(scoreboard&);
template void golden::run_rounded<golden::trainer_lion<float>>(scoreboard&, int);
template void golden::run_unrounded<golden::trainer_lion<double>>(scoreboard&);
