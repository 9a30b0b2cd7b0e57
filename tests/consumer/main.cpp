// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "one_step.hpp"

int main() {
  float const weight = one_step();
  std::printf("%g\n", weight);
  // A constant gradient of 1 makes the update 1: the weight goes from 1 to 1 - lr.
  return weight > 0.7499f && weight < 0.7501f ? 0 : 1;
}
