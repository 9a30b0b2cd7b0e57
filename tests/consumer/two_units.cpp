// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// A second translation unit with everything that main.cpp has: links with it, and computes the
// same.

#include "one_step.hpp"

static bool const same = [] {
  float const weight = one_step();
  return weight > 0.7499f && weight < 0.7501f;
}();

bool second_unit_agrees() { return same; }
