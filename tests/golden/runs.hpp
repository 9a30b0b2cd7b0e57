// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The runs of a case. Each is instantiated in one file of runs/: those files alone see the
/// library, and are compiled for the host or, by nvcc, for a device.
#pragma once

#include <stdexcept>

namespace golden {

/// The library, or the device's runtime, refused what the case asks of it: the case fails.
struct library_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How many draws the statistics of rounding need: of fewer, only each by itself is judged.
inline constexpr int enough_seeds = 4096;

class scoreboard;

// See recipes.hpp, adafactor_recipes.hpp and muon_recipes.hpp.
template <class Compute>
struct skewadam;
template <class Compute>
struct adamw;
template <class Compute>
struct adam;
template <class Compute>
struct lion;
template <class Compute>
struct trainer_adamw;
template <class Compute>
struct trainer_lion;
template <class Compute>
struct adafactor;
template <class Compute>
struct adafactor_to_nearest;
template <class Compute>
struct muon;
template <class Compute>
struct muon_in_bf16;

/// All steps from the initial parameters; see run_case.hpp.
template <class Recipe>
void run_trajectory(scoreboard& board);

/// For bf16 parameters, each step alone: the value that gets rounded; see run_rounded.hpp.
template <class Recipe>
void run_unrounded(scoreboard& board);

/// The same, rounded stochastically with seeds 0 to `n_seeds` - 1.
template <class Recipe>
void run_rounded(scoreboard& board, int n_seeds);

/// The same, rounded to nearest.
template <class Recipe>
void run_to_nearest(scoreboard& board, int n_seeds);

}  // namespace golden
