// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks the reader and the comparison: each reference's own run must pass its tolerances.
#pragma once

#include <string>

#include "case_data.hpp"
#include "compare.hpp"

namespace golden {

/// Puts the values of a run of the reference, f32 or ref, where the library's would be.
inline void self_check(scoreboard& board, std::string const& run) {
  tensor_file const& file = board.data().file();
  for (auto const& [name, tensor] : file.tensors()) {
    if (!name.starts_with("f64/")) continue;
    std::string const twin = run + "/" + name.substr(4);
    if (tensor.dtype == "I64") {
      board.equal(name, file.integers(twin).at(0));
    } else if (name.ends_with("@sum")) {
      board.mark(name, kind_of(name));
    } else if (board.has_tol(kind_of(name))) {
      board.elements(name, kind_of(name), file.values(twin), board.tol(kind_of(name)));
    }
  }
}

}  // namespace golden
