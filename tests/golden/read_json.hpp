// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files and JSON text; errors name the file.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "safetensors.hpp"

namespace golden {

/// Reads a whole file, or says why it cannot.
inline std::string read_file(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(path + ": cannot be opened");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) throw input_error(path + ": cannot be read");
  return text;
}

/// Parses JSON text that came from `path`; `{}` braces would wrap the value in an array, hence `=`.
inline nlohmann::json parse_json(std::string_view text, std::string const& path) {
  nlohmann::json value = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (value.is_discarded()) throw input_error(path + ": is not valid JSON");
  return value;
}

}  // namespace golden
