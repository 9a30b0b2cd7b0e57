// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

#include "safetensors.hpp"

#include <array>
#include <utility>

#include "read_json.hpp"

namespace golden {
namespace {

tensor parse_entry(std::string const& path, std::string const& name, nlohmann::json const& entry,
                   std::span<std::byte const> data) {
  tensor t{.dtype = entry.at("dtype"), .shape = entry.at("shape"), .bytes = {}};
  auto const offsets = entry.at("data_offsets").get<std::array<std::uint64_t, 2>>();
  std::uint64_t expected = safetensors::element_bytes(t.dtype);
  if (expected == 0) throw input_error(path + ": " + name + " has unknown type " + t.dtype);
  for (std::int64_t const extent : t.shape) {
    if (extent < 0 || __builtin_mul_overflow(expected, extent, &expected)) {
      throw input_error(path + ": " + name + " has an impossible shape");
    }
  }
  if (offsets[0] > offsets[1] || offsets[1] > data.size()) {
    throw input_error(path + ": is truncated, " + name + " reaches beyond its end");
  }
  if (offsets[1] - offsets[0] != expected) {
    throw input_error(path + ": the bytes of " + name + " do not fit its shape");
  }
  t.bytes = data.subspan(offsets[0], expected);
  return t;
}

std::map<std::string, tensor> parse(std::string const& path, std::span<std::byte const> all) {
  if (all.size() < 8) throw input_error(path + ": is truncated (no header length)");
  auto const header = safetensors::read<std::uint64_t>(all.data());
  if (header > all.size() - 8) throw input_error(path + ": is truncated within its header");
  auto const data = all.subspan(8 + header);
  std::string_view const text{reinterpret_cast<char const*>(all.data() + 8), header};
  std::map<std::string, tensor> tensors;
  try {
    auto const json = parse_json(text, path);
    for (auto const& [name, entry] : json.items()) {
      if (name != "__metadata__") tensors.emplace(name, parse_entry(path, name, entry, data));
    }
  } catch (nlohmann::json::exception const& e) {
    throw input_error(path + ": the header is not as expected: " + e.what());
  }
  return tensors;
}

}  // namespace

tensor_file::tensor_file(std::string path)
    : path_(std::move(path)),
      content_(read_file(path_)),
      tensors_(parse(path_, std::as_bytes(std::span(content_)))) {}

}  // namespace golden
