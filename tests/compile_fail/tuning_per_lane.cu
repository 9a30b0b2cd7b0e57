// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-tuning-per-lane]

#include <tieropt/block/device_block.cuh>

#ifdef FIXED
template class tieropt::device_group<4>;
#else
template class tieropt::device_group<3>;
#endif
