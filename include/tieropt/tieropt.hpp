// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything that a plain C++20 compiler can take.
#pragma once

#include <tieropt/executor/host_executor.hpp>
#include <tieropt/plan/catch_up.hpp>
#include <tieropt/plan/enqueue.hpp>
#include <tieropt/policy/adafactor.hpp>
#include <tieropt/policy/adam.hpp>
#include <tieropt/policy/adamw.hpp>
#include <tieropt/policy/lion.hpp>
#include <tieropt/policy/muon.hpp>
#include <tieropt/policy/rmsprop.hpp>
#include <tieropt/policy/sgd.hpp>
#include <tieropt/policy/skewadam.hpp>
