// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// State is converted to the same bits on the host and on a device.

#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/executor/host_executor.hpp>
#include <tieropt/plan/convert.hpp>

#include <cmath>

#include "device/buffer.cuh"

using tieropt::int64_t;
using tieropt::view;

namespace {

using namespace device_test;

struct exact : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
};
struct coded : tieropt::tier {
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::factored_variance<tieropt::fp16>;
  using vector_variance = tieropt::exact_variance<tieropt::fp16>;
  using master = tieropt::carry_master;
};
struct roots : tieropt::tier {
  using variance = tieropt::exact_variance<tieropt::root_uint8>;
};

constexpr int64_t E = 2, R = 37, C = 1100, n = E * R * C, groups = (C + 31) / 32;

auto matrix(auto* data, int64_t columns = C) { return view(data, E, R, columns); }

std::vector<float> numbers(int64_t count, double scale) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(scale * std::sin(static_cast<double>(7 * i + 1)));
  }
  return values;
}

/// Everything that the conversions read and write, in either memory.
template <template <class...> class Buffer>
struct tensors {
  Buffer<float> param{numbers(n, 1)}, momentum{numbers(n, 0.1)}, second{numbers(n, 1e-3)};
  Buffer<tieropt::bf16> half{std::vector<tieropt::bf16>(n)}, rounded{std::vector<tieropt::bf16>(n)};
  Buffer<tieropt::uint16_t> low{std::vector<tieropt::uint16_t>(n)};
  Buffer<tieropt::uint8_t> carry{std::vector<tieropt::uint8_t>(E * R * ((C + 7) / 8))},
      root{std::vector<tieropt::uint8_t>(n)};
  Buffer<tieropt::int8_t> codes{std::vector<tieropt::int8_t>(n)};
  Buffer<float> scales{std::vector<float>(E * R * groups)},
      root_scales{std::vector<float>(E * R * groups)};
  Buffer<tieropt::fp16> row{std::vector<tieropt::fp16>(E * R)},
      col{std::vector<tieropt::fp16>(E * C)};
  Buffer<int64_t> steps{std::vector<int64_t>{5, 9}}, coded_steps{std::vector<int64_t>(E)},
      root_steps{std::vector<int64_t>(E)};

  tieropt::status convert(tieropt::executor auto const& x) {
    tieropt::bound_tensor<exact, float> from;
    from.param = matrix(param.data());
    from.momentum = matrix(momentum.data());
    from.variance.exact = matrix(second.data());
    from.step = view(steps.data(), E);
    tieropt::bound_tensor<coded, tieropt::bf16> to;
    to.param = matrix(half.data());
    to.momentum = {matrix(codes.data()), matrix(scales.data(), groups)};
    to.variance = {.row = view(row.data(), E, R), .col = view(col.data(), E, C)};
    to.master = {matrix(low.data()), matrix(carry.data(), (C + 7) / 8)};
    to.step = view(coded_steps.data(), E);
    tieropt::bound_tensor<roots, tieropt::bf16> last;
    last.param = matrix(rounded.data());
    last.variance.exact = {matrix(root.data()), matrix(root_scales.data(), groups)};
    last.step = view(root_steps.data(), E);
    tieropt::status s = tieropt::convert_state(x, from, to, 11);
    return s ? tieropt::convert_state(x, to, last, 12) : s;
  }
};

template <class T>
using host_buffer = std::vector<T>;

}  // namespace

TEST_CASE("a tensor changes its tier to the same bits on both sides", "[convert]") {
  tensors<host_buffer> host;
  tensors<device_buffer> device;
  checks results;
  results.about("convert_state");
  results.expect(static_cast<bool>(host.convert(tieropt::serial_executor{})), "host");
  results.expect(static_cast<bool>(device.convert(tieropt::cuda_executor{nullptr})), "device");
  results.equal_bits(host.half, device.half.download(), "upper halves");
  results.equal_bits(host.low, device.low.download(), "lower halves");
  results.equal_bits(host.carry, device.carry.download(), "carries");
  results.equal_bits(host.codes, device.codes.download(), "codes of momentum");
  results.equal_bits(host.scales, device.scales.download(), "their scales");
  results.equal_bits(host.row, device.row.download(), "rows");
  results.equal_bits(host.col, device.col.download(), "columns");
  results.equal_bits(host.coded_steps, device.coded_steps.download(), "steps");
  results.equal_bits(host.rounded, device.rounded.download(), "weights rounded at random");
  results.equal_bits(host.root, device.root.download(), "codes of second moments");
  results.equal_bits(host.root_scales, device.root_scales.download(), "their scales");
  CHECK(host.root_steps == std::vector<int64_t>{5, 9});
}
