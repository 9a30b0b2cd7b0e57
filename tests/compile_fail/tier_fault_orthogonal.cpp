// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tier-fault-orthogonal]

#include <tieropt/policy/muon.hpp>

struct population : tieropt::muon::matrix {
#ifdef FIXED
  using fault = tieropt::skip_matrix;
#else
  using fault = tieropt::skip_element;
#endif
};
using policy = tieropt::tier_policy<population>;
bool const known = policy::contains<population>;
