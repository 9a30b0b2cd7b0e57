// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Descriptors of buffers: what they say, and the first field in which two differ.

#include "support/catch.hpp"

#include <tieropt/plan/describe.hpp>

#include <set>
#include <string>
#include <vector>

namespace {

using tieropt::descriptor_field;
using tieropt::state_descriptor;
using tieropt::state_part;
using tieropt::view;

struct small : tieropt::tier {
  static constexpr char const* name = "small";
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::exact_variance<tieropt::block_scaled<tieropt::fp8_e5m2>>;
  using master = tieropt::carry_master;
};
struct factored : tieropt::tier {
  using variance = tieropt::factored_variance<double>;
  using vector_variance = tieropt::exact_variance<double>;
  using master = tieropt::master_weights<float>;
  static constexpr tieropt::scope step_scope = tieropt::scope::tensor;
};

/// A buffer in one line.
std::string line(state_descriptor const& d, std::size_t element) {
  std::string s = std::string{name(d.part)} + " " + d.dtype + " " + std::to_string(element);
  for (int i = 0; i < d.rank; ++i) {
    s += (i == 0 ? " " : "x") + std::to_string(d.extent[i]) + ":" + std::to_string(d.stride[i]);
  }
  return s + (d.group > 1 ? " of " + std::to_string(d.group) : "") +
         (*d.map != 0 ? std::string{" "} + d.map : "");
}

template <class Bound>
std::vector<std::string> lines(Bound const& b) {
  std::vector<std::string> all;
  tieropt::for_each_state(b, [&](state_descriptor const& d, void* data, std::size_t element) {
    CHECK(data != nullptr);
    all.push_back(line(d, element));
  });
  return all;
}

/// Never read: only addresses and extents matter here.
template <class T>
T* memory() {
  alignas(16) static char bytes[16];
  return reinterpret_cast<T*>(bytes);
}

tieropt::bound_tensor<small, tieropt::bf16> small_tensor() {
  tieropt::bound_tensor<small, tieropt::bf16> b;
  b.param = view(memory<tieropt::bf16>(), 2, 3, 40);
  b.momentum = {.codes = view(memory<std::int8_t>(), 2, 3, 40),
                .scales = view(memory<float>(), 2, 3, 2)};
  b.variance.exact = {.codes = view(memory<tieropt::fp8_e5m2>(), 2, 3, 40),
                      .scales = view(memory<float>(), 2, 3, 2)};
  b.master = {.remainder = view(memory<std::uint16_t>(), 2, 3, 40),
              .carry = view(memory<std::uint8_t>(), 2, 3, 5)};
  b.step = view(memory<std::int64_t>(), 2);
  b.key = 5;
  b.first_element = 7;
  return b;
}

}  // namespace

TEST_CASE("every buffer of a tensor is described once", "[describe]") {
  CHECK(lines(small_tensor()) ==
        std::vector<std::string>{
            "param BF16 2 2:120x3:40x40:1", "momentum I8 1 2:120x3:40x40:1 softsign",
            "momentum_scales F32 4 2:6x3:2x2:1 of 32", "exact F8_E5M2 1 2:120x3:40x40:1 linear",
            "exact_scales F32 4 2:6x3:2x2:1 of 32", "remainder U16 2 2:120x3:40x40:1",
            "carry U8 1 2:15x3:5x5:1 of 8", "step I64 8 2:1"});

  tieropt::bound_tensor<factored, tieropt::fp16, float> b;
  b.param = view(memory<tieropt::fp16>(), 4, 3);
  b.param.stride[0] = 1, b.param.stride[1] = 4;
  b.variance = {.row = view(memory<double>(), 1, 4), .col = view(memory<double>(), 3)};
  b.master.weights = view(memory<float>(), 4, 3);
  b.step = view(memory<std::int64_t>(), 1);
  b.missed = view(memory<std::int64_t>(), 1);
  CHECK(lines(b) == std::vector<std::string>{"param F16 2 4:1x3:4", "row F64 8 1:4x4:1",
                                             "col F64 8 3:1", "weights F32 4 4:3x3:1",
                                             "step I64 8 1:1", "missed I64 8 1:1"});
}

TEST_CASE("a descriptor knows tier, matrix, step and key of its tensor", "[describe]") {
  auto b = small_tensor();
  b.dims = {0, 1};
  tieropt::for_each_state(b, [&](state_descriptor const& d, void*, std::size_t) {
    CHECK(d.version == tieropt::descriptor_version);
    CHECK(std::string{d.tier} == "small");
    CHECK((d.row == 0 && d.col == 1));
    CHECK((d.key == 5 && d.first_element == 7));
    CHECK(d.step_scope == tieropt::scope::matrix);
  });
  tieropt::bound_tensor<factored, float> vector;
  vector.param = view(memory<float>(), 9);
  tieropt::for_each_state(vector, [&](state_descriptor const& d, void*, std::size_t) {
    CHECK(std::string{d.tier}.empty());
    CHECK((d.row == -1 && d.col == 0));
    CHECK(d.step_scope == tieropt::scope::tensor);
    CHECK(d.size() == 9);
  });
}

TEST_CASE("two descriptors differ first where they differ", "[describe]") {
  state_descriptor d;
  d.rank = 2, d.extent[0] = 3, d.extent[1] = 1, d.stride[0] = 4;
  state_descriptor o = d;
  CHECK(first_difference(d, o) == descriptor_field::none);
  o.stride[1] = 9;  // of one element
  o.extent[2] = 9;  // of no dimension
  CHECK(first_difference(d, o) == descriptor_field::none);
  auto const differs = [&](descriptor_field field) {
    CHECK(first_difference(d, o) == field);
    CHECK(first_difference(o, d) == field);
  };
  o.stride[0] = 1, differs(descriptor_field::layout);
  o.first_element = 1, differs(descriptor_field::first_element);
  o.key = 1, differs(descriptor_field::key);
  o.step_scope = tieropt::scope::tensor, differs(descriptor_field::step_scope);
  o.col = 3, differs(descriptor_field::dims);
  o.extent[1] = 2, differs(descriptor_field::shape);
  o.group = 2, differs(descriptor_field::group);
  o.map = "root", differs(descriptor_field::map);
  o.dtype = "F32", differs(descriptor_field::dtype);
  o.part = state_part::row, differs(descriptor_field::part);
  o.tier = "t", differs(descriptor_field::tier);
  o.version = 2, differs(descriptor_field::version);
}

TEST_CASE("parts and fields have names of their own", "[describe]") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(state_part::missed); ++i) {
    names.insert(name(static_cast<state_part>(i)));
  }
  CHECK(names.size() == static_cast<std::size_t>(state_part::missed) + 1);
  names.clear();
  for (int i = 0; i <= static_cast<int>(descriptor_field::layout); ++i) {
    names.insert(name(static_cast<descriptor_field>(i)));
  }
  CHECK(names.size() == static_cast<std::size_t>(descriptor_field::layout) + 1);
}
