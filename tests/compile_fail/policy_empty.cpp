// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-policy-empty]

#include <tieropt/policy/tier_policy.hpp>

struct population : tieropt::tier {};
#ifdef FIXED
using policy = tieropt::tier_policy<population>;
#else
using policy = tieropt::tier_policy<>;
#endif
bool const known = policy::contains<population>;
