// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Quantised states and split masters have the same bits on the host and on a device.

#include <tieropt/block/host_block.hpp>
#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/precision/master.hpp>
#include <tieropt/precision/quantised.hpp>
#include <tieropt/precision/random.hpp>

#include "device/buffer.cuh"

using tieropt::int64_t;
using tieropt::uint16_t;
using tieropt::uint32_t;

namespace {

using namespace device_test;

/// Every scale with every value.
template <class S>
struct state_body {
  using storage = float[1];
  static constexpr tieropt::tuning tune{.groups = 4};
  float const* values;  // (n)
  int64_t n;
  typename S::code* codes;  // (n, n, 5)
  float* results;           // (n, n, 7)

  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    block.for_each(n, [&](int64_t j) {
      int64_t const i = block.index();
      float const x = values[j], largest = S::magnitude(values[i]), scale = S::scale(largest);
      float const inverse = S::inverse(scale);
      auto* const c = codes + (i * n + j) * 5;
      float* const y = results + (i * n + j) * 7;
      uint32_t const r = tieropt::mix32(static_cast<uint32_t>(i * n + j), 5u, 6u);
      c[0] = S::nearest(x, inverse);
      c[1] = S::stochastic(x, inverse, 0);
      c[2] = S::stochastic(x, inverse, 2);
      c[3] = S::stochastic(x, inverse, r);
      c[4] = S::stochastic(x, inverse, 0xffffffffu);
      for (int k = 0; k < 5; ++k) y[k] = tieropt::canonical_nan(S::decode(c[k], scale));
      y[5] = scale;
      y[6] = inverse;
    });
  }
};

struct split_body {
  using storage = float[1];
  static constexpr tieropt::tuning tune{.groups = 4};
  float const* values;  // (n)
  int64_t n;
  uint32_t* results;  // (n, 5)

  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    block.for_each(n, [&](int64_t i) {
      auto const away = tieropt::split_away(values[i]);
      auto const even = tieropt::split_even(values[i]);
      uint32_t* const out = results + 5 * i;
      out[0] = away.high | static_cast<uint32_t>(away.low) << 16;
      out[1] = even.high | static_cast<uint32_t>(even.low) << 16;
      out[2] = even.carry;
      out[3] = tieropt::bits(tieropt::join_away(away.high, away.low));
      out[4] = tieropt::bits(tieropt::join_even(even.high, even.low, even.carry));
    });
  }
};

/// Floats of every size: subnormals, which some compilations flush, and what is not finite.
std::vector<float> floats() {
  std::vector<float> values{0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0x1p-126f, 0x1p-127f};
  for (uint32_t high = 0; high < 0x8000; high += 0x55) {
    uint32_t const u = high << 16 | (tieropt::mix32(high, 1u, 2u) & 0xffffu);
    values.push_back(tieropt::from_bits(u));
    if (high % 4 == 0) values.push_back(tieropt::from_bits(u | 0x80000000u));
  }
  for (uint32_t const u : {0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc01234u}) {
    values.push_back(tieropt::from_bits(u));
  }
  return values;
}

template <class S>
void compare(char const* name) {
  checks results;
  results.about("%s", name);
  std::vector<float> const values = floats();
  auto const n = static_cast<int64_t>(values.size());
  std::vector<typename S::code> codes(n * n * 5);
  std::vector<float> numbers(n * n * 7);
  device_buffer<float> const d_values{values}, d_numbers{numbers.size()};
  device_buffer<typename S::code> const d_codes{codes.size()};
  state_body<S> const host{values.data(), n, codes.data(), numbers.data()};
  for (int64_t b = 0; b < n; ++b) tieropt::run_on_host(host, b, tieropt::forward_order{});
  auto const status = tieropt::cuda_executor{nullptr}.launch(
      n, state_body<S>{d_values.data(), n, d_codes.data(), d_numbers.data()});
  results.expect(static_cast<bool>(status), "launch");
  results.equal_bits(codes, d_codes.download(), "codes");
  results.equal_bits(numbers, d_numbers.download(), "values, scales and inverses");
}

}  // namespace

TEST_CASE("quantised states have the host's bits", "[quantised]") {
  compare<tieropt::softsign_int8>("softsign_int8");
  compare<tieropt::root_uint8>("root_uint8");
  compare<tieropt::block_scaled<tieropt::fp8_e4m3>>("e4m3");
  compare<tieropt::block_scaled<tieropt::fp8_e5m2>>("e5m2");
  compare<tieropt::block_scaled<tieropt::fp16>>("fp16");
  compare<tieropt::block_scaled<tieropt::bf16>>("bf16");
}

TEST_CASE("masters are split and joined with the host's bits", "[master]") {
  checks results;
  results.about("split masters");
  std::vector<float> values = floats();
  for (uint32_t u = 0; u < 0xffff0000u; u += 0xfff1) values.push_back(tieropt::from_bits(u));
  auto const n = static_cast<int64_t>(values.size());
  std::vector<uint32_t> numbers(5 * n);
  device_buffer<float> const d_values{values};
  device_buffer<uint32_t> const d_numbers{numbers.size()};
  tieropt::run_on_host(split_body{values.data(), n, numbers.data()}, 0, tieropt::forward_order{});
  auto const status =
      tieropt::cuda_executor{nullptr}.launch(1, split_body{d_values.data(), n, d_numbers.data()});
  results.expect(static_cast<bool>(status), "launch");
  results.equal_bits(numbers, d_numbers.download(), "halves, carries and joined values");
}
