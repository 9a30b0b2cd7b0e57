// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "one_step.hpp"

bool second_unit_agrees();

int main() {
  float const weight = one_step();
  return weight > 0.7499f && weight < 0.7501f && second_unit_agrees() ? 0 : 1;
}
