// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the program knows of an optimizer, and how the user names several.
#pragma once

#include "moe/errors.hpp"
#include "moe/stepper.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moe {

/// One optimizer of the comparison.
struct registered {
  std::string_view name{}, summary{};
  unsigned groups = 0;  // in_default | ...
  rates usual{};        // at the end of the warm-up, for the small models of this program
  rates paper{};        // of the SkewAdam paper, for its 6.8 B parameters; none: it has none
  stepper_factory make = nullptr;
};

inline constexpr unsigned in_default = 1, in_skewadam = 2, in_ablations = 4, in_all = 0;

/// A name for several optimizers.
struct group {
  std::string_view name;
  unsigned member;  // the bit of registered::groups; in_all: every one
};
inline constexpr std::array<group, 4> groups{{{"default", in_default},
                                              {"skewadam", in_skewadam},
                                              {"ablations", in_ablations},
                                              {"all", in_all}}};

/// A text cut at its commas.
inline std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (true) {
    auto const comma = text.find(',');
    pieces.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return pieces;
    text.remove_prefix(comma + 1);
  }
}

/// The optimizer of a name. @throws usage_error
inline registered const& find_optimizer(std::span<registered const> known, std::string_view name) {
  std::string names;
  for (registered const& o : known) {
    if (o.name == name) return o;
    names += (names.empty() ? "" : ", ") + std::string(o.name);
  }
  throw usage_error("there is no optimizer '" + std::string(name) + "'; known: " + names);
}

/// Names and groups, comma-separated; one that is named twice trains once, where it came first.
inline std::vector<registered const*> choose_optimizers(std::span<registered const> known,
                                                        std::string_view text) {
  std::vector<registered const*> chosen;
  auto const add = [&](registered const& o) {
    if (std::find(chosen.begin(), chosen.end(), &o) == chosen.end()) chosen.push_back(&o);
  };
  for (std::string_view const name : split(text)) {
    auto const named =
        std::find_if(groups.begin(), groups.end(), [&](group const& g) { return g.name == name; });
    if (named == groups.end()) {
      add(find_optimizer(known, name));
      continue;
    }
    for (registered const& o : known) {
      if (named->member == in_all || (o.groups & named->member) != 0) add(o);
    }
  }
  return chosen;
}

}  // namespace moe
