// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-storage-size]

#include <tieropt/precision/storage.hpp>

struct framework_half {
#ifdef FIXED
  unsigned short bits;
#else
  unsigned int bits;
#endif
};
template <>
struct tieropt::storage<framework_half>
    : tieropt::storage_as<framework_half, tieropt::bf16_format> {};

bool const draws = tieropt::storage<framework_half>::draws;
