// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a group does for 8 or 32 neighbouring columns: the same on the host, on a device, and as a
/// plain loop.

#include <tieropt/block/host_block.hpp>
#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/precision/random.hpp>

#include "device/buffer.cuh"

#include <algorithm>

using namespace device_test;
using tieropt::int64_t;
using tieropt::strip;
using tieropt::uint32_t;
using tieropt::uint64_t;
using tieropt::uint8_t;

namespace {

constexpr int groups = strip / tieropt::scale_group, bytes = strip / 8;

enum class path { whole, partial, ragged };  // partial: the group of whole tiles, at any width

/// Where things lie: every strip has its own part, at a stride.
template <class T>
struct buffers {
  T const* values;     // (strips, 256), not below 0
  float const* scale;  // (strips, 8 stride)
  uint8_t const* bit;  // (strips, 32 stride)
  T* largest;          // (strips, 256)
  float* read_scale;   // (strips, 256)
  uint32_t* read_bit;  // (strips, 256)
  uint32_t* drawn;     // (strips, 256)
  float* new_scale;    // (strips, 8 stride)
  uint8_t* new_bit;    // (strips, 32 stride)
};

template <class T, int PerLane>
struct group_body {
  using storage = float[1];
  static constexpr tieropt::tuning tune{.groups = 4, .per_lane = PerLane, .blocks_per_sm = 1};
  buffers<T> x;
  int64_t stride;
  uint64_t first;  // global index of the first element
  path how;

  template <class Group, class N, class Stride>
  TIEROPT_HOST_DEVICE void work(Group const& grp, int64_t s, N n, Stride step) const {
    int64_t const at_group = s * groups * stride, at_byte = s * bytes * stride;
    auto const in = grp.load(x.values + s * strip, n, tieropt::unit_stride{});
    auto const most =
        grp.template largest_in_groups<T>(n, [&](auto at) { return in.template get<T>(at); });
    auto const scale = grp.read_groups(x.scale + at_group, n, step);
    auto const bit = grp.read_bits(x.bit + at_byte, n, step);
    tieropt::wide_element_bits random{5, first};
    random.go_to(first + static_cast<uint64_t>(s * strip));
    auto const drawn = random.draw(grp, 3);
    int64_t const base = s * strip;
    grp.for_each(tieropt::whole_strip{}, [&](auto at) {
      int64_t const i = base + grp.column(at);
      x.largest[i] = most(at);
      x.read_scale[i] = scale(at);
      x.read_bit[i] = bit(at);
      x.drawn[i] = drawn(at);
    });
    // Only the first of 32 counts, and what lies below n.
    grp.write_groups(x.new_scale + at_group, n, step, [&](auto at) {
      return tieropt::add(tieropt::to<float>(most(at)), static_cast<float>(grp.column(at)));
    });
    grp.write_bits(x.new_bit + at_byte, n, step,
                   [&](auto at) { return drawn(at) >> 31 ^ bit(at); });
  }
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    block.for_each_group([&](auto const& grp) {
      int64_t const s = block.index() * Block::groups + grp.index();
      int const n = static_cast<int>(s % (strip + 1));
      if (how == path::whole) {
        work(grp, s, tieropt::whole_strip{}, tieropt::unit_stride{});
      } else if (how == path::partial) {
        work(grp, s, n, stride);
      } else {
        work(grp.ragged(), s, n, stride);
      }
    });
  }
};

template <class T, int PerLane>
void test_groups() {
  checks results;
  constexpr int64_t blocks = (strip + 4) / 4, strips = 4 * blocks, count = strips * strip;
  struct variant {
    path how;
    int64_t stride;
    uint64_t first;
  };
  for (auto const [how, stride, first] :
       {variant{path::whole, 1, 77}, variant{path::partial, 1, (uint64_t{1} << 32) - 30000},
        variant{path::ragged, 1, 78}, variant{path::ragged, 3, 79}}) {
    results.about("%d-byte values, %d per lane, path %d, stride %d", int(sizeof(T)), PerLane,
                  int(how), int(stride));
    std::vector<T> values(count), largest(count);
    std::vector<float> scale(strips * groups * stride), read_scale(count);
    std::vector<uint8_t> bit(strips * bytes * stride), new_bit(bit.size(), 0xA5);
    std::vector<uint32_t> read_bit(count), drawn(count);
    std::vector<float> new_scale(scale.size(), -7.0f);
    for (int64_t i = 0; i < count; ++i) {
      uint64_t const u = tieropt::mix64(static_cast<uint64_t>(i));
      values[i] = i / 32 % 7 == 0 ? T(0) : static_cast<T>(static_cast<double>(u >> 12) * 0x1p-60);
      if (i % 1000 == 0) values[i] = T(0x1p-149);
    }
    for (std::size_t i = 0; i < scale.size(); ++i) {
      scale[i] = static_cast<float>(tieropt::mix64(i) >> 40);
    }
    for (std::size_t i = 0; i < bit.size(); ++i) bit[i] = uint8_t(tieropt::mix64(i + 9) >> 33);

    device_buffer<T> const d_values{values}, d_largest{largest};
    device_buffer<float> const d_scale{scale}, d_read_scale{read_scale}, d_new_scale{new_scale};
    device_buffer<uint8_t> const d_bit{bit}, d_new_bit{new_bit};
    device_buffer<uint32_t> const d_read_bit{read_bit}, d_drawn{drawn};
    using body = group_body<T, PerLane>;
    body const host{{values.data(), scale.data(), bit.data(), largest.data(), read_scale.data(),
                     read_bit.data(), drawn.data(), new_scale.data(), new_bit.data()},
                    stride,
                    first,
                    how};
    body const device{
        {d_values.data(), d_scale.data(), d_bit.data(), d_largest.data(), d_read_scale.data(),
         d_read_bit.data(), d_drawn.data(), d_new_scale.data(), d_new_bit.data()},
        stride,
        first,
        how};
    for (int64_t b = 0; b < blocks; ++b) tieropt::run_on_host(host, b, tieropt::forward_order{});
    results.expect(static_cast<bool>(tieropt::cuda_executor{nullptr}.launch(blocks, device)),
                   "launch");
    results.equal_bits(largest, d_largest.download(), "largest of 32");
    results.equal_bits(read_scale, d_read_scale.download(), "read values of 32");
    results.equal_bits(read_bit, d_read_bit.download(), "read bits");
    results.equal_bits(drawn, d_drawn.download(), "draws of 32 bits");
    results.equal_bits(new_scale, d_new_scale.download(), "written values of 32");
    results.equal_bits(new_bit, d_new_bit.download(), "written bits");

    std::vector<T> want_largest(count);
    std::vector<float> want_read(count), want_scale(scale.size(), -7.0f);
    std::vector<uint32_t> want_bit(count), want_drawn(count);
    std::vector<uint8_t> want_new(bit.size(), 0xA5);
    for (int64_t s = 0; s < strips; ++s) {
      int64_t const n = how == path::whole ? strip : s % (strip + 1);
      for (int64_t c = 0; c < strip; ++c) {
        int64_t const i = s * strip + c, from = i / 32 * 32, in = s * strip + n;
        int64_t const byte = (s * bytes + c / 8) * stride;
        for (int64_t k = from; k < std::min(from + 32, in); ++k) {
          want_largest[i] = std::max(want_largest[i], values[k]);
        }
        want_drawn[i] = tieropt::wide_bits(5, first + static_cast<uint64_t>(i) + 3);
        if (c >= n) continue;
        want_read[i] = scale[(s * groups + c / 32) * stride];
        want_bit[i] = bit[byte] >> (c % 8) & 1;
        if (c % 8 == 0) want_new[byte] = 0;
        want_new[byte] |= static_cast<uint8_t>((want_drawn[i] >> 31 ^ want_bit[i]) << (c % 8));
        if (c % 32 == 0) {
          want_scale[(s * groups + c / 32) * stride] =
              static_cast<float>(want_largest[i]) + static_cast<float>(c);
        }
      }
    }
    results.equal_bits(want_largest, largest, "largest of 32, by a loop");
    results.equal_bits(want_read, read_scale, "read values, by a loop");
    results.equal_bits(want_bit, read_bit, "read bits, by a loop");
    results.equal_bits(want_drawn, drawn, "draws of 32 bits, by a loop");
    results.equal_bits(want_scale, new_scale, "written values, by a loop");
    results.equal_bits(want_new, new_bit, "written bits, by a loop");
  }
}

}  // namespace

TEST_CASE("what a group does for neighbouring columns has the host's bits", "[block]") {
  test_groups<float, 8>();
  test_groups<float, 4>();
  test_groups<float, 2>();
  test_groups<float, 1>();
  test_groups<double, 8>();
  test_groups<double, 1>();
}
