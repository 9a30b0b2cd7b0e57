// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks the reader and the comparison: each reference's own float32 run must pass its tolerances.
#pragma once

#include <string>

#include "case_data.hpp"
#include "compare.hpp"

namespace golden {

/// The kind of a tensor by its name in the file: `f64/3/w/v_row@s` is a `v_row`.
inline std::string kind_of(std::string const& name) {
  std::string const last = name.substr(name.rfind('/') + 1);
  std::string const kind = last.substr(0, last.find('@'));
  return name.starts_with("f64/trace/") ? "trace." + kind : kind;
}

/// Puts the reference's float32 values where the library's would be.
inline void self_check(scoreboard& board) {
  tensor_file const& file = board.data().file();
  for (auto const& [name, tensor] : file.tensors()) {
    if (!name.starts_with("f64/")) continue;
    std::string const twin = "f32/" + name.substr(4);
    if (tensor.dtype == "I64") {
      board.equal(name, file.integers(twin).at(0));
    } else if (name.ends_with("@sum")) {
      board.mark(name, kind_of(name));
    } else {
      board.elements(name, kind_of(name), file.values(twin), board.tol(kind_of(name)));
    }
  }
}

}  // namespace golden
