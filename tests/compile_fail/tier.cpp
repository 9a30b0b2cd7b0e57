// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier]

#include <tieropt/policy/tier_policy.hpp>

// A population of its own, without the defaults.
#ifdef FIXED
struct population : tieropt::tier {};
#else
struct population {};
#endif

using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
