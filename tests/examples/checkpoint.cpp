// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checkpoints: the same bits in any layout, and a sentence for whatever does not fit.

#include "checkpoint/checkpoint.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace {

using tieropt::view;

struct small : tieropt::tier {
  static constexpr char const* name = "small";
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::factored_variance<float>;
};
struct wide : small {
  using momentum = tieropt::ema_momentum<float>;
};
struct other : small {
  static constexpr char const* name = "other";
};
struct counted_once : small {
  static constexpr tieropt::scope step_scope = tieropt::scope::tensor;
};
struct masters : wide {
  using master = tieropt::carry_master;
};

/// A tensor of 2 x 3 x 40 with buffers for whatever a tier wants, all of it numbered.
template <class Tier>
struct tensor {
  std::vector<tieropt::bf16> param{std::vector<tieropt::bf16>(240)};
  std::vector<std::int8_t> codes{std::vector<std::int8_t>(240)};
  std::vector<float> momentum{std::vector<float>(240)}, scales{std::vector<float>(12)},
      row{std::vector<float>(6)}, col{std::vector<float>(80)};
  std::vector<std::uint16_t> remainder{std::vector<std::uint16_t>(240)};
  std::vector<std::uint8_t> carry{std::vector<std::uint8_t>(30)};
  std::vector<std::int64_t> step{std::vector<std::int64_t>(2)};
  tieropt::bound_tensor<Tier, tieropt::bf16> bound;

  explicit tensor(int first = 0) {
    int n = first;
    auto const number = [&](auto& values) {
      for (auto& x : values) x = static_cast<std::remove_reference_t<decltype(x)>>(++n % 100);
    };
    if (first != 0) {
      for (auto& x : param) x.raw = static_cast<std::uint16_t>(++n);
      number(codes), number(momentum), number(scales), number(row), number(col);
      number(remainder), number(carry), number(step);
    }
    bound.param = view(param.data(), 2, 3, 40);
    if constexpr (std::is_same_v<typename Tier::momentum::state_type, float>) {
      bound.momentum = view(momentum.data(), 2, 3, 40);
    } else {
      bound.momentum = {.codes = view(codes.data(), 2, 3, 40),
                        .scales = view(scales.data(), 2, 3, 2)};
    }
    bound.variance = {.row = view(row.data(), 2, 3), .col = view(col.data(), 2, 40)};
    if constexpr (Tier::master::carries) {
      bound.master = {.remainder = view(remainder.data(), 2, 3, 40),
                      .carry = view(carry.data(), 2, 3, 5)};
    }
    bound.step = view(step.data(), Tier::step_scope == tieropt::scope::tensor ? 1 : 2);
    bound.key = 5;
  }
  tensor(tensor const&) = delete;

  std::vector<checkpoint::buffer> buffers() const {
    std::vector<checkpoint::buffer> all;
    checkpoint::append(all, "w", bound);
    return all;
  }
};

std::string bytes_of(std::vector<checkpoint::buffer> const& all) {
  std::string bytes;
  for (auto const& b : all) {
    checkpoint::for_each_element(b, [&](std::byte const* element) {
      bytes.append(reinterpret_cast<char const*>(element), b.element);
    });
  }
  return bytes;
}

std::string const path = "test_checkpoint.safetensors";

/// What load says of a tensor; it must not have been written to.
template <class Tier>
std::string refusal(std::function<void(tensor<Tier>&)> const& change = {}) {
  tensor<Tier> t;
  if (change) change(t);
  auto const before = bytes_of(t.buffers());
  try {
    checkpoint::load(path, t.buffers());
  } catch (checkpoint::error const& e) {
    CHECK(bytes_of(t.buffers()) == before);
    std::string const text = e.what();
    CHECK(text.rfind(path, 0) == 0);
    return text.substr(std::min(text.size(), path.size() + 1));
  }
  return "loaded";
}

/// Changes the file.
void edit(std::function<void(safetensors::content&)> const& change) {
  auto c = safetensors::read(path);
  change(c);
  safetensors::write(path, c);
}

template <class Tier>
void save(int first = 7) {
  checkpoint::save(path, tensor<Tier>{first}.buffers(), 0xFEDCBA9876543210u);
}

}  // namespace

TEST_CASE("every buffer comes back with its bits, and the seed", "[checkpoint]") {
  save<small>();
  tensor<small> t;
  CHECK(checkpoint::load(path, t.buffers()) == 0xFEDCBA9876543210u);
  CHECK(bytes_of(t.buffers()) == bytes_of(tensor<small>{7}.buffers()));
  save<masters>();
  tensor<masters> m;
  checkpoint::load(path, m.buffers());
  CHECK(bytes_of(m.buffers()) == bytes_of(tensor<masters>{7}.buffers()));
  std::filesystem::remove(path);
}

TEST_CASE("a file is dense, whatever the layout of the buffers", "[checkpoint]") {
  save<small>();
  tensor<small> t;
  std::vector<tieropt::bf16> padded(3 * 2 * 50, tieropt::bf16{9});
  t.bound.param.data = padded.data() + 1;  // row, matrix, column
  t.bound.param.stride[0] = 50, t.bound.param.stride[1] = 100, t.bound.param.stride[2] = 1;
  checkpoint::load(path, t.buffers());
  CHECK(bytes_of(t.buffers()) == bytes_of(tensor<small>{7}.buffers()));
  CHECK((padded[0].raw == 9 && padded[41].raw == 9 && padded[299].raw == 9));
  std::filesystem::remove(path);
}

TEST_CASE("what does not fit is refused, and both sides are named", "[checkpoint]") {
  save<small>();
  CHECK(refusal<small>() == "loaded");
  CHECK(refusal<wide>() == " the dtype of w.momentum is I8 in the file and F32 in the program");
  CHECK(refusal<other>() ==
        R"( the tier of w.param is "small" in the file and "other" in the program)");
  CHECK(refusal<counted_once>() ==
        " the step_scope of w.param is matrix in the file and tensor in the program");
  CHECK(refusal<small>([](auto& t) { t.bound.param.extent[1] = 2; }) ==
        " the shape of w.param is (2, 3, 40) in the file and (2, 2, 40) in the program");
  CHECK(refusal<small>([](auto& t) { t.bound.step.extent[0] = 1; }) ==
        " the shape of w.step is (2) in the file and (1) in the program");
  CHECK(refusal<small>([](auto& t) {
          t.bound.dims = {0, 2};
        }) == " the dims of w.param is 1 and 2 in the file and 0 and 2 in the program");
  CHECK(refusal<small>([](auto& t) { t.bound.key = 6; }) ==
        " the key of w.param is 5 in the file and 6 in the program");
  CHECK(refusal<small>([](auto& t) { t.bound.first_element = 2; }) ==
        " the first_element of w.param is 0 in the file and 2 in the program");
  CHECK(refusal<masters>().find("w.") != std::string::npos);
  save<wide>();
  CHECK(refusal<small>() == " the dtype of w.momentum is F32 in the file and I8 in the program");
  CHECK(refusal<masters>() == "has no w.remainder, which the program has");
  save<masters>();
  CHECK(refusal<wide>() == "has w.carry, which the program has not");
  std::filesystem::remove(path);
}

TEST_CASE("a file of another version, or of codes that mean something else, is refused",
          "[checkpoint]") {
  auto const describe = [](char const* field, nlohmann::json const& value) {
    save<small>();
    edit([&](safetensors::content& c) {
      auto json = nlohmann::json::parse(c.metadata["w.momentum"]);
      json[field] = value;
      c.metadata["w.momentum"] = json.dump();
    });
    return refusal<small>();
  };
  CHECK(describe("version", 2) ==
        " the version of w.momentum is 2 in the file and 1 in the program");
  CHECK(describe("map", "linear") ==
        R"( the map of w.momentum is "linear" in the file and "softsign" in the program)");
  CHECK(describe("group", 64) == " the group of w.momentum is 64 in the file and 1 in the program");
  CHECK(describe("key", "five").find("was not written by save") != std::string::npos);
  std::filesystem::remove(path);
}

TEST_CASE("a file that is not whole is refused", "[checkpoint]") {
  save<small>();
  auto const size = std::filesystem::file_size(path);
  for (auto const left : {size - 1, std::uintmax_t{100}, std::uintmax_t{7}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(path, left);
    CHECK(refusal<small>() != "loaded");
  }
  std::filesystem::remove(path);
  CHECK(refusal<small>() == "cannot be opened");
  save<small>();
  edit([](safetensors::content& c) { c.metadata.erase("seed"); });
  CHECK(refusal<small>() == "has no seed");
  edit([](safetensors::content& c) { c.tensors.erase("w.row"); });
  CHECK(refusal<small>() == "has no w.row, which the program has");
  std::filesystem::remove(path);
}
