// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What ends the program with status 2 and one line.
#pragma once

#include <stdexcept>

namespace moe {

/// What the user gave cannot be used; what() is one line.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something on the command line cannot be used.
struct usage_error : input_error {
  using input_error::input_error;
};

}  // namespace moe
