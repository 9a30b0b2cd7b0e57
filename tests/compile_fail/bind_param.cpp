// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-bind-param]

#include <tieropt/plan/bound_tensor.hpp>

struct population : tieropt::tier {};
struct int8_weight {
  signed char raw;
};

#ifdef FIXED
tieropt::bound_tensor<population, tieropt::bf16, float> bound;
#else
tieropt::bound_tensor<population, int8_weight, float> bound;
#endif
