// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "golden/run_case.hpp"

template void golden::run_trajectory<golden::adam<float>>(scoreboard&);
template void golden::run_trajectory<golden::adam<double>>(scoreboard&);
