// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads a `.safetensors` container: named little-endian tensors, decoded to double or int64.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

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
  explicit tensor_file(std::string path);
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
  std::string path_;
  std::string content_;
  std::map<std::string, tensor> tensors_;
};

}  // namespace golden
