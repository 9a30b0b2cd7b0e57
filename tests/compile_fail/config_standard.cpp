// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-config-standard]
// fail-flags: -std=c++17

#include <tieropt/config.hpp>
