// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-config-fast-math]
// fail-flags: -ffast-math

#include <tieropt/config.hpp>
