// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The toolkit's own element types: their codecs store the bits that its conversions give, on the
/// host and on a device.

#include <tieropt/block/host_block.hpp>
#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/precision/random.hpp>
#include <tieropt/precision/storage.hpp>

#include "device/buffer.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <vector>

template <>
struct tieropt::storage<__nv_bfloat16> : tieropt::storage_as<__nv_bfloat16, tieropt::bf16_format> {
};
template <>
struct tieropt::storage<__half> : tieropt::storage_as<__half, tieropt::fp16_format> {};
template <>
struct tieropt::storage<__nv_fp8_e4m3> : tieropt::storage_as<__nv_fp8_e4m3, tieropt::e4m3_format> {
};
template <>
struct tieropt::storage<__nv_fp8_e5m2> : tieropt::storage_as<__nv_fp8_e5m2, tieropt::e5m2_format> {
};

using tieropt::int64_t;
using tieropt::strip;
using tieropt::uint32_t;
using tieropt::uint8_t;

namespace {

using namespace device_test;

template <class U>
struct conversion_body {
  using storage = float[1];
  static constexpr tieropt::tuning tune{.groups = 1};
  float const* values;  // (strips, 256)
  U* nearest;           // (strips, 256)
  U* stochastic;        // (strips, 256)
  float* decoded;       // (strips, 256)

  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    constexpr tieropt::whole_strip n{};
    constexpr tieropt::unit_stride one{};
    int64_t const first = block.index() * strip;
    block.for_each_group([&](auto const& grp) {
      auto const x = grp.load(values + first, n, one);
      auto near = grp.blank(nearest + first, n, one);
      auto drawn = grp.blank(stochastic + first, n, one);
      auto back = grp.blank(decoded + first, n, one);
      auto const r = static_cast<uint32_t>(first);
      grp.for_each(n, [&](auto at) {
        float const y = x.template get<float>(at);
        auto const column = static_cast<uint32_t>(grp.column(at));
        near.put(at, y);
        drawn.put(at, y, tieropt::mix32(r + column, 1u, 2u));
        back.put(at, near.template get<float>(at));
      });
      near.store();
      drawn.store();
      back.store();
    });
  }
};

/// Floats of every size, with ties and neighbours of ties.
std::vector<float> floats() {
  std::vector<float> values;
  for (uint32_t high = 0; high < 65536; high += 2) {
    for (uint32_t const low : {0u, 0x8000u}) {
      values.push_back(tieropt::from_bits(high << 16 | low | (high % 14 == 0 ? 1u : 0u)));
    }
  }
  return values;
}

template <class U, class Own, class Convert>
void compare(char const* name, Convert const& convert) {
  checks results;
  results.about("%s", name);
  std::vector<float> const values = floats();
  auto const strips = static_cast<int64_t>(values.size()) / strip;
  std::vector<U> near(values.size()), drawn(values.size()), toolkit(values.size());
  std::vector<float> decoded(values.size()), back(values.size());
  conversion_body<U> const body{values.data(), near.data(), drawn.data(), decoded.data()};
  for (int64_t b = 0; b < strips; ++b) tieropt::run_on_host(body, b, tieropt::forward_order{});
  std::vector<Own> same(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    toolkit[i] = convert(values[i]);
    back[i] = tieropt::storage<float>::nearest(static_cast<float>(toolkit[i]));
    same[i] = tieropt::storage<Own>::nearest(values[i]);
  }
  results.equal_bits(near, toolkit, "the toolkit's conversion");
  results.equal_bits(decoded, back, "the toolkit's conversion back");
  results.expect(std::memcmp(near.data(), same.data(), values.size() * sizeof(U)) == 0,
                 "the library's own type");

  device_buffer<float> const d_values{values}, d_decoded{values.size()};
  device_buffer<U> const d_near{values.size()}, d_drawn{values.size()};
  auto const status = tieropt::cuda_executor{nullptr}.launch(
      strips, conversion_body<U>{d_values.data(), d_near.data(), d_drawn.data(), d_decoded.data()});
  results.expect(static_cast<bool>(status), "launch");
  results.equal_bits(near, d_near.download(), "to nearest on the device");
  results.equal_bits(drawn, d_drawn.download(), "stochastically on the device");
  results.equal_bits(decoded, d_decoded.download(), "decoded on the device");
}

}  // namespace

TEST_CASE("the toolkit's own types are stored as the toolkit converts", "[framework]") {
  compare<__nv_bfloat16, tieropt::bf16>("__nv_bfloat16",
                                        [](float x) { return __float2bfloat16(x); });
  compare<__half, tieropt::fp16>("__half", [](float x) { return __float2half(x); });
  // The fp8 constructors saturate; the formats with infinity do not.
  compare<__nv_fp8_e4m3, tieropt::fp8_e4m3>("__nv_fp8_e4m3", [](float x) {
    // What the toolkit saturates is NaN here.
    float const infinity = tieropt::from_bits(0x7f800000u);
    return __nv_fp8_e4m3{x == infinity || x == -infinity ? tieropt::from_bits(0x7fc00000u) : x};
  });
  compare<__nv_fp8_e5m2, tieropt::fp8_e5m2>("__nv_fp8_e5m2", [](float x) {
    __nv_fp8_e5m2 y;
    y.__x = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
    return y;
  });
}
