// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Saves what a step reads and writes, and loads it where it fits.
#pragma once

#include "checkpoint/safetensors.hpp"

#include <tieropt/plan/describe.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace checkpoint {

using safetensors::error;
using tieropt::descriptor_field;
using tieropt::state_descriptor;

/// One buffer of the program under a name of the file.
struct buffer {
  std::string name;
  state_descriptor what;
  std::byte* data;
  std::size_t element;
};

/// Appends the buffers of a bound tensor as "name.part".
template <class Bound>
void append(std::vector<buffer>& all, std::string const& name, Bound const& b) {
  tieropt::for_each_state(b, [&](state_descriptor const& what, void* data, std::size_t element) {
    all.push_back(
        {name + "." + tieropt::name(what.part), what, static_cast<std::byte*>(data), element});
  });
}

/// What a descriptor says in a field.
inline std::string text(state_descriptor const& d, descriptor_field field) {
  auto const list = [&](std::int64_t const* values) {
    std::string all = "(";
    for (int i = 0; i < d.rank; ++i) all += (i > 0 ? ", " : "") + std::to_string(values[i]);
    return all + ")";
  };
  switch (field) {
    case descriptor_field::version: return std::to_string(d.version);
    case descriptor_field::tier: return '"' + std::string{d.tier} + '"';
    case descriptor_field::part: return tieropt::name(d.part);
    case descriptor_field::dtype: return d.dtype;
    case descriptor_field::map: return '"' + std::string{d.map} + '"';
    case descriptor_field::group: return std::to_string(d.group);
    case descriptor_field::shape: return list(d.extent);
    case descriptor_field::dims: return std::to_string(d.row) + " and " + std::to_string(d.col);
    case descriptor_field::step_scope:
      return d.step_scope == tieropt::scope::tensor ? "tensor" : "matrix";
    case descriptor_field::key: return std::to_string(d.key);
    case descriptor_field::first_element: return std::to_string(d.first_element);
    case descriptor_field::layout: return list(d.stride);
    case descriptor_field::none: break;
  }
  return "";
}

/// Calls f(element) for every element of a buffer in row-major order, however it lies in memory.
template <class F>
void for_each_element(buffer const& b, F const& f) {
  if (b.what.size() == 0) return;
  std::int64_t index[tieropt::max_rank]{};
  for (;;) {
    std::int64_t at = 0;
    for (int i = 0; i < b.what.rank; ++i) at += index[i] * b.what.stride[i];
    f(b.data + at * static_cast<std::int64_t>(b.element));
    int i = b.what.rank - 1;
    while (i >= 0 && ++index[i] == b.what.extent[i]) index[i--] = 0;
    if (i < 0) return;
  }
}

/// What a file keeps of a descriptor beside dtype and shape; the bytes there are dense.
inline nlohmann::json to_json(state_descriptor const& d) {
  return {{"version", d.version},
          {"tier", d.tier},
          {"map", d.map},
          {"group", d.group},
          {"row", d.row},
          {"col", d.col},
          {"step_scope", text(d, descriptor_field::step_scope)},
          {"key", d.key},
          {"first_element", d.first_element}};
}

/// Writes all buffers, and the seed of the rounding bits: a step is a function of them, of the
/// gradients and of the hyperparameters.
inline void save(std::string const& path, std::vector<buffer> const& all, std::uint64_t seed) {
  safetensors::content c;
  c.metadata["seed"] = std::to_string(seed);
  for (buffer const& b : all) {
    auto& t = c.tensors[b.name];
    t.dtype = b.what.dtype;
    t.shape.assign(b.what.extent, b.what.extent + b.what.rank);
    t.bytes.reserve(static_cast<std::size_t>(b.what.size()) * b.element);
    for_each_element(b, [&](std::byte const* element) {
      t.bytes.append(reinterpret_cast<char const*>(element), b.element);
    });
    c.metadata[b.name] = to_json(b.what).dump();
  }
  safetensors::write(path, c);
}

/// Throws unless a buffer of the program is what the file has under its name; says what both have.
inline void check(std::string const& path, safetensors::content const& c, buffer const& b) {
  auto const found = c.tensors.find(b.name);
  auto const metadata = c.metadata.find(b.name);
  if (found == c.tensors.end() || metadata == c.metadata.end()) {
    throw error(path + " has no " + b.name + ", which the program has");
  }
  auto const json = nlohmann::json::parse(metadata->second);
  std::string const tier = json.at("tier"), map = json.at("map");
  auto const& shape = found->second.shape;
  state_descriptor file = b.what;  // its layout is the program's own affair
  file.version = json.at("version");
  file.tier = tier.c_str();
  file.dtype = found->second.dtype.c_str();
  file.map = map.c_str();
  file.group = json.at("group");
  file.rank = static_cast<int>(std::min<std::size_t>(shape.size(), tieropt::max_rank));
  for (int i = 0; i < file.rank; ++i) file.extent[i] = shape[static_cast<std::size_t>(i)];
  file.row = json.at("row");
  file.col = json.at("col");
  file.step_scope =
      json.at("step_scope") == "tensor" ? tieropt::scope::tensor : tieropt::scope::matrix;
  file.key = json.at("key");
  file.first_element = json.at("first_element");
  auto const field = tieropt::first_difference(file, b.what);
  if (field != descriptor_field::none) {
    throw error(path + ": the " + tieropt::name(field) + " of " + b.name + " is " +
                text(file, field) + " in the file and " + text(b.what, field) + " in the program");
  }
}

/// Reads all buffers; nothing is written unless all of them fit. @return the seed
inline std::uint64_t load(std::string const& path, std::vector<buffer> const& all) {
  safetensors::content const c = safetensors::read(path);
  try {
    for (buffer const& b : all) check(path, c, b);
    if (c.tensors.size() != all.size()) {
      for (auto const& [name, t] : c.tensors) {
        bool wanted = false;
        for (buffer const& b : all) wanted = wanted || b.name == name;
        if (!wanted) throw error(path + " has " + name + ", which the program has not");
      }
    }
    std::uint64_t const seed = std::stoull(c.metadata.at("seed"));
    for (buffer const& b : all) {
      char const* from = c.tensors.at(b.name).bytes.data();
      for_each_element(b, [&](std::byte* element) {
        std::memcpy(element, from, b.element);
        from += b.element;
      });
    }
    return seed;
  } catch (std::out_of_range const&) {
    throw error(path + " has no seed");
  } catch (nlohmann::json::exception const& e) {
    throw error(path + " was not written by save: " + e.what());
  }
}

}  // namespace checkpoint
