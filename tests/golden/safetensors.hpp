// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads a `.safetensors` container: named little-endian tensors, decoded to double or int64.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace golden {

static_assert(std::endian::native == std::endian::little, "the container is little-endian");

/// What is wrong with the folder given, in one line; the tool ends with status 2.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One tensor of a container: its type, its shape and where its bytes are.
struct tensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<std::byte const> bytes;
};

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

namespace safetensors {

constexpr std::size_t element_bytes(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  if (dtype == "F32") return 4;
  if (dtype == "BF16") return 2;
  return 0;
}

template <class T>
T read(std::byte const* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

}  // namespace safetensors

/// A container in memory. Names that it lacks are an `input_error`, unless asked with `find`.
class tensor_file {
 public:
  explicit tensor_file(std::string path) : path_(std::move(path)), content_(read_file(path_)) {
    try {
      parse();
    } catch (nlohmann::json::exception const& e) {
      throw input_error(path_ + ": the header is not as expected: " + e.what());
    }
  }
  tensor_file(tensor_file const&) = delete;
  tensor_file& operator=(tensor_file const&) = delete;

  std::string const& path() const { return path_; }
  std::map<std::string, tensor> const& tensors() const { return tensors_; }

  tensor const* find(std::string const& name) const {
    auto const it = tensors_.find(name);
    return it == tensors_.end() ? nullptr : &it->second;
  }

  tensor const& at(std::string const& name) const {
    if (tensor const* t = find(name)) return *t;
    throw input_error(path_ + ": has no tensor " + name);
  }

  /// The elements as double: exact for every floating type of the format.
  std::vector<double> values(std::string const& name) const {
    tensor const& t = at(name);
    std::size_t const size = safetensors::element_bytes(t.dtype);
    std::vector<double> out(t.bytes.size() / size);
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::byte const* const p = t.bytes.data() + i * size;
      if (t.dtype == "F64")
        out[i] = safetensors::read<double>(p);
      else if (t.dtype == "F32")
        out[i] = safetensors::read<float>(p);
      else if (t.dtype == "I64")
        out[i] = static_cast<double>(safetensors::read<std::int64_t>(p));
      else
        out[i] = std::bit_cast<float>(std::uint32_t{safetensors::read<std::uint16_t>(p)} << 16);
    }
    return out;
  }

  std::vector<std::int64_t> integers(std::string const& name) const {
    tensor const& t = at(name);
    if (t.dtype != "I64") throw input_error(path_ + ": " + name + " is not of type I64");
    std::vector<std::int64_t> out(t.bytes.size() / 8);
    std::memcpy(out.data(), t.bytes.data(), t.bytes.size());
    return out;
  }

 private:
  void parse() {
    std::span<std::byte const> const all = std::as_bytes(std::span(content_));
    if (all.size() < 8) throw input_error(path_ + ": is truncated (no header length)");
    auto const header = safetensors::read<std::uint64_t>(all.data());
    if (header > all.size() - 8) throw input_error(path_ + ": is truncated within its header");
    auto const data = all.subspan(8 + header);
    auto const json = parse_json(std::string_view(content_).substr(8, header), path_);
    for (auto const& [name, entry] : json.items()) {
      if (name != "__metadata__") tensors_.emplace(name, parse_entry(name, entry, data));
    }
  }

  tensor parse_entry(std::string const& name, nlohmann::json const& entry,
                     std::span<std::byte const> data) const {
    tensor t{.dtype = entry.at("dtype"), .shape = entry.at("shape"), .bytes = {}};
    auto const offsets = entry.at("data_offsets").get<std::array<std::uint64_t, 2>>();
    std::uint64_t expected = safetensors::element_bytes(t.dtype);
    if (expected == 0) throw input_error(path_ + ": " + name + " has unknown type " + t.dtype);
    for (std::int64_t const extent : t.shape) {
      if (extent < 0 || __builtin_mul_overflow(expected, extent, &expected)) {
        throw input_error(path_ + ": " + name + " has an impossible shape");
      }
    }
    if (offsets[0] > offsets[1] || offsets[1] > data.size()) {
      throw input_error(path_ + ": is truncated, " + name + " reaches beyond its end");
    }
    if (offsets[1] - offsets[0] != expected) {
      throw input_error(path_ + ": the bytes of " + name + " do not fit its shape");
    }
    t.bytes = data.subspan(offsets[0], expected);
    return t;
  }

  std::string path_;
  std::string content_;
  std::map<std::string, tensor> tensors_;
};

}  // namespace golden
