// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// A shared object that takes three steps and hands out every bit of the result. It is built several
// times with other flags; all of them are loaded into one process.

#include <tieropt/tieropt.hpp>

#include "steps.hpp"

#include <vector>

extern "C" __attribute__((visibility("default"))) void const* run_steps(std::size_t* n_bytes) {
  static buffers b;
  std::vector<std::byte> workspace;
  auto const make_workspace = [&](std::size_t bytes) {
    workspace.resize(bytes);
    return cuda::std::span<std::byte>{workspace};
  };
  *n_bytes = sizeof b;
  return take_steps(tieropt::host_executor{}, b, make_workspace, [] {}) ? &b : nullptr;
}
