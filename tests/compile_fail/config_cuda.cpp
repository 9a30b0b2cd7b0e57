// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-config-cuda]

#if defined(FIXED)
#include <tieropt/tieropt.hpp>
#else
#include <tieropt/tieropt.cuh>
#endif
