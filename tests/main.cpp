// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The main of every test program, in a file of its own because Catch2 2's takes long to compile.

#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

int main(int argc, char* argv[]) { return Catch::Session().run(argc, argv); }
