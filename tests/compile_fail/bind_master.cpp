// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-bind-master]

#include <tieropt/plan/bound_tensor.hpp>

struct population : tieropt::tier {
  using master = tieropt::carry_master;
};

#ifdef FIXED
tieropt::bound_tensor<population, tieropt::bf16, float> bound;
#else
tieropt::bound_tensor<population, tieropt::fp16, float> bound;
#endif
