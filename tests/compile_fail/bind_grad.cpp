// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-bind-grad]

#include <tieropt/plan/bound_tensor.hpp>

struct population : tieropt::tier {};

#ifdef FIXED
tieropt::bound_tensor<population, float, double> bound;
#else
tieropt::bound_tensor<population, float, long> bound;
#endif
