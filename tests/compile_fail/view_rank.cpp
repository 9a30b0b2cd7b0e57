// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-view-rank]

#include <tieropt/view.hpp>

#ifdef FIXED
tieropt::tensor_view<float> const bound = tieropt::view((float*)nullptr, 1, 1, 1, 1, 1, 1, 1, 1);
#else
tieropt::tensor_view<float> const bound = tieropt::view((float*)nullptr, 1, 1, 1, 1, 1, 1, 1, 1, 1);
#endif
