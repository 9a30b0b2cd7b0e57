// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes and reads `.safetensors`: a JSON header, then the bytes of named dense tensors.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace safetensors {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

/// What is wrong with a file, in one sentence.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A dense, row-major tensor.
struct tensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

/// A file in memory.
struct content {
  std::map<std::string, std::string> metadata;
  std::map<std::string, tensor> tensors;
};

/// Bytes of an element, 0 for a type that is not known here.
inline std::uint64_t element_bytes(std::string const& dtype) {
  for (auto const& [size, names] :
       {std::pair{1, " I8 U8 BOOL F8_E4M3 F8_E5M2 "}, std::pair{2, " I16 U16 F16 BF16 "},
        std::pair{4, " I32 U32 F32 "}, std::pair{8, " I64 U64 F64 "}}) {
    if (std::string{names}.find(" " + dtype + " ") != std::string::npos) {
      return static_cast<std::uint64_t>(size);
    }
  }
  return 0;
}

/// Writes a file next to its place first, so that the old one stays whole until the new one is.
inline void write(std::string const& path, content const& c) {
  nlohmann::json header;
  header["__metadata__"] = c.metadata;
  std::uint64_t at = 0;
  for (auto const& [name, t] : c.tensors) {
    header[name] = {
        {"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {at, at + t.bytes.size()}}};
    at += t.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::uint64_t const size = text.size();
  char length[8];
  std::memcpy(length, &size, 8);
  std::string const beside = path + ".new";
  std::ofstream out{beside, std::ios::binary};
  out.write(length, 8) << text;
  for (auto const& [name, t] : c.tensors) out << t.bytes;
  out.close();
  if (!out) throw error(beside + " cannot be written");
  std::filesystem::rename(beside, path);
}

/// Reads a file whole, and checks that its tensors are where its header says.
inline content read(std::string const& path) {
  std::ifstream in{path, std::ios::binary};
  if (!in) throw error(path + " cannot be opened");
  std::string const all{std::istreambuf_iterator<char>{in}, {}};
  std::uint64_t size = 0;
  if (all.size() >= 8) std::memcpy(&size, all.data(), 8);
  if (all.size() < 8 || size > all.size() - 8) throw error(path + " is cut off in its header");
  std::uint64_t const data = 8 + size, bytes = all.size() - data;
  content c;
  try {
    auto const header = nlohmann::json::parse(all.begin() + 8, all.begin() + 8 + size);
    for (auto const& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        c.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      tensor t{entry.at("dtype"), entry.at("shape"), {}};
      auto const place = entry.at("data_offsets").get<std::array<std::uint64_t, 2>>();
      std::uint64_t expected = element_bytes(t.dtype);
      for (auto const x : t.shape) {
        if (x < 0 || __builtin_mul_overflow(expected, x, &expected)) {
          throw error(path + ": " + name + " has a shape that cannot be");
        }
      }
      if (place[0] > place[1] || place[1] > bytes || place[1] - place[0] != expected) {
        throw error(path + ": the bytes of " + name + " are not those of its shape");
      }
      t.bytes = all.substr(data + place[0], expected);
      c.tensors.emplace(name, std::move(t));
    }
  } catch (nlohmann::json::exception const& e) {
    throw error(path + " has a header that cannot be read: " + e.what());
  }
  return c;
}

}  // namespace safetensors
