// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// A second translation unit that instantiates what the first one does.

#include "device_step.cuh"

float second_unit_step() { return device_step(); }
