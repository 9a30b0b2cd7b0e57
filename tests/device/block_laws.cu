// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The laws of the block concept on the device: the same bodies on the host give the same bits.

#include <tieropt/block/host_block.hpp>
#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/precision/random.hpp>

#include "device/buffer.cuh"
#include "support/own_parts.hpp"

using namespace device_test;
using testing::framework_bf16;
using tieropt::int64_t;
using tieropt::strip;
using tieropt::uint16_t;
using tieropt::uint32_t;
using tieropt::uint64_t;

// One that rounds in its own way: towards zero.
struct truncated_bf16 {
  unsigned short bits;
};

template <>
struct tieropt::storage<truncated_bf16>
    : tieropt::storage_as<truncated_bf16, tieropt::bf16_format> {
  template <tieropt::compute_type C>
  TIEROPT_HOST_DEVICE static truncated_bf16 nearest(C x) {
    float const y = tieropt::to<float>(x);
    uint32_t const u = tieropt::is_nan(y) ? 0x7fffffffu : tieropt::bits(y);
    return {static_cast<unsigned short>(u >> 16)};
  }
};

struct framework_fp8 {
  unsigned char bits[1];
};
template <>
struct tieropt::storage<framework_fp8> : tieropt::storage_as<framework_fp8, tieropt::e4m3_format> {
};

namespace {

checks results;

template <class Body>
void run_host(int64_t blocks, Body const& body) {
  for (int64_t b = 0; b < blocks; ++b) tieropt::run_on_host(body, b, tieropt::forward_order{});
}

template <class Body>
void run_device(int64_t blocks, Body const& body) {
  results.expect(static_cast<bool>(tieropt::cuda_executor{nullptr}.launch(blocks, body)), "launch");
}

template <class T>
std::vector<T> random_bits(std::size_t count, uint64_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    uint64_t const u = tieropt::mix64(seed + i);
    std::memcpy(&values[i], &u, sizeof(T));
  }
  return values;
}

template <class T>
std::vector<T> random_numbers(std::size_t count, uint64_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    uint64_t const u = tieropt::mix64(seed + i);
    values[i] = static_cast<T>(static_cast<double>(static_cast<int64_t>(u)) *
                               (i % 5 == 0 ? 0x1p-90 : 0x1p-63));
  }
  return values;
}

// A NaN decodes to a NaN, but not to the same one when it is widened.
template <class T>
void canonical_nans(std::vector<T>& values) {
  for (T& x : values) {
    if (x != x) x = T(-77);
  }
}

template <class T, int PerLane>
struct collective_body {
  using storage = float[1];
  static constexpr tieropt::tuning tune{.groups = 2, .per_lane = PerLane, .blocks_per_sm = 1};
  T const* values;   // (strips, 256)
  T* sums;           // (strips, 256): what every element's lane got
  T* roots;          // (strips, 256)
  uint16_t* halves;  // (strips, 256)
  uint32_t parity;
  bool ragged;

  template <class Group>
  TIEROPT_HOST_DEVICE void work(Group const& grp, int64_t first) const {
    typename Group::template fragment<T> x;
    grp.zero(x);
    auto const in = grp.load(values + first, tieropt::whole_strip{}, tieropt::unit_stride{});
    grp.for_each(tieropt::whole_strip{}, [&](auto at) { x(at) = in.template get<T>(at); });
    T const sum = grp.reduce(x);
    auto const radicand = [&](auto at) { return in.template get<T>(at); };
    uint64_t const key = static_cast<uint64_t>(first);
    auto const drawn = grp.draw(parity, [&](uint32_t j) { return tieropt::mix32(j, 1u, key); });
    grp.with_roots(tieropt::whole_strip{}, radicand, [&](auto const& root) {
      grp.for_each(tieropt::whole_strip{}, [&](auto at) {
        sums[first + grp.column(at)] = sum;
        roots[first + grp.column(at)] = root(at);
        halves[first + grp.column(at)] = drawn(at);
      });
    });
  }
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    block.for_each_group([&](auto const& grp) {
      int64_t const first = (block.index() * Block::groups + grp.index()) * strip;
      if (ragged) {
        work(grp.ragged(), first);
      } else {
        work(grp, first);
      }
    });
  }
};

// The documented order, as a plain loop.
template <class T>
T adjacent_tree(T const* x) {
  T level[strip];
  std::memcpy(level, x, sizeof level);
  for (int n = strip / 2; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) level[i] = level[2 * i] + level[2 * i + 1];
  }
  return level[0];
}

template <class T, int PerLane>
void test_collectives() {
  constexpr int64_t blocks = 5, strips = 2 * blocks, count = strips * strip;
  std::vector<T> const values = random_numbers<T>(count, 11);
  device_buffer<T> const d_values{values};
  for (bool const ragged : {false, true}) {
    for (uint32_t const parity : {0u, 1u}) {
      results.about("collectives of %d-byte values, %d per lane, ragged %d, parity %u",
                    int(sizeof(T)), PerLane, int(ragged), parity);
      std::vector<T> sums(count), roots(count);
      std::vector<uint16_t> halves(count);
      device_buffer<T> const d_sums{count}, d_roots{count};
      device_buffer<uint16_t> const d_halves{count};
      run_host(blocks, collective_body<T, PerLane>{values.data(), sums.data(), roots.data(),
                                                   halves.data(), parity, ragged});
      run_device(blocks, collective_body<T, PerLane>{d_values.data(), d_sums.data(), d_roots.data(),
                                                     d_halves.data(), parity, ragged});
      results.equal_bits(sums, d_sums.download(), "sums have the host's order, in every lane");
      std::vector<T> d_root_values = d_roots.download();
      canonical_nans(roots);
      canonical_nans(d_root_values);
      results.equal_bits(roots, d_root_values, "roots");
      results.equal_bits(halves, d_halves.download(), "random halves");
      bool tree = true, pairs = true;
      for (int64_t s = 0; s < strips; ++s) {
        tree = tree && sums[s * strip] == adjacent_tree(&values[s * strip]);
        for (uint32_t i = 0; i < strip; ++i) {
          uint32_t const at = i + parity;
          uint32_t const draw = tieropt::mix32(at >> 1, 1u, static_cast<uint32_t>(s * strip));
          pairs = pairs && halves[s * strip + i] == uint16_t(draw >> (16 * (at & 1)));
        }
      }
      results.expect(tree, "sums are the adjacent tree");
      results.expect(pairs, "element i takes half (i + parity) & 1 of draw (i + parity) >> 1");
    }
  }
}

enum class path { whole, unit, strided };
enum class puts { nearest, stochastic, mixed, none };

template <class U, class T, int PerLane>
struct tile_body {
  using storage = float[1];
  static constexpr tieropt::tuning tune{.groups = 4, .per_lane = PerLane, .blocks_per_sm = 1};
  U const* in;     // (strips, 256 stride)
  U* out;          // the same, updated
  T* decoded;      // (strips, 256): read before
  T* after;        // (strips, 256): read after the puts
  int* visits;     // (strips, 256)
  int64_t stride;  // elements
  path how;
  puts what;

  // Stays in the registers of the caller: strips are as wide as their number, mod 257.
  template <class Group, class N, class Stride>
  TIEROPT_HOST_DEVICE void work(Group const& grp, int64_t s, N n, Stride step) const {
    auto const x = grp.load(in + s * strip * stride, n, step);
    auto y = grp.load(out + s * strip * stride, n, step);
    auto const mix = [&](uint32_t j) { return tieropt::mix32(j, 7u, static_cast<uint32_t>(s)); };
    auto const drawn = [&] {
      if constexpr (tieropt::draw_bits_of<tieropt::storage<U>> == 32) {
        return grp.draw_wide(mix);
      } else {
        return grp.draw(1, mix);
      }
    }();
    puts const kind = what;
    T const up = T(1.0078125) - T(0x1p-20);
    grp.for_each(n, [&](auto at) {
      int const c = grp.column(at);
      T const value = x.template get<T>(at);
      T const put = tieropt::mul(value, up);
      decoded[s * strip + c] = value;
      visits[s * strip + c] += 1;
      if (kind == puts::nearest || (kind == puts::mixed && c % 4 < 2)) y.put(at, put);
      if (kind == puts::stochastic || (kind == puts::mixed && c % 4 == 2))
        y.put(at, put, drawn(at));
    });
    if (kind == puts::mixed) {
      grp.for_each(n, [&](auto at) {
        if (grp.column(at) % 4 == 3) y.put(at, tieropt::mul(x.template get<T>(at), up));
      });
      grp.for_each(n, [&](auto at) {
        if (grp.column(at) % 8 == 0) y.put(at, x.template get<T>(at), drawn(at));
        // Neighbours that were rounded together before.
        if (grp.column(at) % 16 == 4) y.put_element(at, x.element(at));
        if (grp.column(at) % 16 == 5) y.put(at, x.template get<T>(at));
      });
    }
    grp.for_each(n, [&](auto at) { after[s * strip + grp.column(at)] = y.template get<T>(at); });
    y.store();
  }
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    block.for_each_group([&](auto const& grp) {
      int64_t const s = block.index() * Block::groups + grp.index();
      int const n = static_cast<int>(s % (strip + 1));
      if (how == path::whole) {
        work(grp, s, tieropt::whole_strip{}, tieropt::unit_stride{});
      } else if (how == path::unit) {
        work(grp.ragged(), s, n, tieropt::unit_stride{});
      } else {
        work(grp.ragged(), s, n, stride);
      }
    });
  }
};

template <class U, class T, int PerLane>
void test_tiles(char const* name) {
  struct variant {
    path how;
    int64_t stride;
    puts what;
  };
  for (auto const [how, stride, what] :
       {variant{path::whole, 1, puts::nearest}, variant{path::whole, 1, puts::stochastic},
        variant{path::whole, 1, puts::mixed}, variant{path::whole, 1, puts::none},
        variant{path::unit, 1, puts::mixed}, variant{path::strided, 1, puts::nearest},
        variant{path::strided, 1, puts::stochastic}, variant{path::strided, 3, puts::mixed}}) {
    results.about("tiles of %s, compute of %d bytes, %d per lane, path %d, stride %d, puts %d",
                  name, int(sizeof(T)), PerLane, int(how), int(stride), int(what));
    // Every width from 0 to 256 where the path takes one.
    int64_t const blocks = how == path::whole ? 3 : (strip + 4) / 4;
    std::size_t const slots = blocks * 4 * strip, elements = slots * stride;
    std::vector<U> const in = random_bits<U>(elements, 5);
    std::vector<U> out = random_bits<U>(elements, 6);
    std::vector<T> decoded(slots, T(-1)), after(slots, T(-2));
    std::vector<int> visits(slots, 0);
    device_buffer<U> const d_in{in}, d_out{out};
    device_buffer<T> const d_decoded{decoded}, d_after{after};
    device_buffer<int> const d_visits{visits};
    std::vector<U> const before = out;
    run_host(blocks, tile_body<U, T, PerLane>{in.data(), out.data(), decoded.data(), after.data(),
                                              visits.data(), stride, how, what});
    run_device(blocks,
               tile_body<U, T, PerLane>{d_in.data(), d_out.data(), d_decoded.data(), d_after.data(),
                                        d_visits.data(), stride, how, what});
    std::vector<T> dev_decoded = d_decoded.download(), dev_after = d_after.download();
    for (std::vector<T>* v : {&decoded, &after, &dev_decoded, &dev_after}) canonical_nans(*v);
    results.equal_bits(decoded, dev_decoded, "decoded values");
    results.equal_bits(after, dev_after, "a tile reads what was put");
    results.equal_bits(out, d_out.download(), "stored elements");
    results.equal_bits(visits, d_visits.download(), "visited elements");
    bool exact = true, untouched = true;
    for (std::size_t i = 0; i < slots; ++i) {
      int64_t const s = i / strip, c = i % strip;
      bool const below = how == path::whole || c < s % (strip + 1);
      exact = exact && visits[i] == (below ? 1 : 0);
      for (int64_t k = below ? 1 : 0; k < stride; ++k) {
        untouched =
            untouched && std::memcmp(&out[i * stride + k], &before[i * stride + k], sizeof(U)) == 0;
      }
    }
    results.expect(exact, "exactly the elements below the width are visited");
    results.expect(untouched, "nothing between or beyond is written");
  }
}

template <int Groups, int Columns>
struct shared_body {
  struct storage {
    double x[Groups][Columns];
    int singles[Groups];
  };
  static constexpr tieropt::tuning tune{.groups = Groups, .per_lane = 8, .blocks_per_sm = 1};
  double* out;   // (blocks, Columns)
  int* singles;  // (blocks)
  int64_t columns;

  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    storage& mine = block.template shared<storage>();
    block.for_each_group([&](auto const& grp) {
      int const g = grp.index();
      for (int c0 = 0; c0 < Columns; c0 += strip) {
        grp.for_each(tieropt::whole_strip{}, [&](auto at) {
          mine.x[g][c0 + grp.column(at)] = double(block.index() * 1000 + g * 100 + c0);
        });
      }
      grp.single([&] { mine.singles[g] = 1; });
      for (int k = 0; k < 3; ++k) grp.single([&] { mine.singles[g] += 1; });
    });
    block.for_each(columns, [&](int64_t c) {
      double sum = 0;
      for (int g = 0; g < Groups; ++g) sum = tieropt::add(sum, mine.x[g][c]);
      mine.x[0][c] = sum;
    });
    block.for_each(
        columns, [&](int64_t c) { out[block.index() * columns + c] = mine.x[0][columns - 1 - c]; });
    block.for_each(1, [&](int64_t) {
      int n = 0;
      for (int g = 0; g < Groups; ++g) n += mine.singles[g];
      singles[block.index()] = n;
    });
  }
};

template <int Groups, int Columns>
void test_shared() {
  for (int64_t const columns : {int64_t{0}, int64_t{1}, int64_t{33}, int64_t{Columns}}) {
    constexpr int64_t blocks = 3;
    results.about("shared memory of %d groups, %d bytes, %d items", Groups,
                  int(sizeof(typename shared_body<Groups, Columns>::storage)), int(columns));
    std::vector<double> out(blocks * columns);
    std::vector<int> singles(blocks);
    device_buffer<double> const d_out{out.size()};
    device_buffer<int> const d_singles{singles.size()};
    run_host(blocks, shared_body<Groups, Columns>{out.data(), singles.data(), columns});
    run_device(blocks, shared_body<Groups, Columns>{d_out.data(), d_singles.data(), columns});
    results.equal_bits(out, d_out.download(), "items");
    results.equal_bits(singles, d_singles.download(), "single runs once per group");
    results.expect(singles[2] == 4 * Groups, "a single is called once");
  }
}

}  // namespace

TEST_CASE("sums, roots and draws of a group have the host's bits", "[block]") {
  test_collectives<float, 8>();
  test_collectives<float, 4>();
  test_collectives<float, 2>();
  test_collectives<float, 1>();
  test_collectives<double, 8>();
}

TEST_CASE("tiles of every type and width have the host's bits", "[block]") {
  test_tiles<tieropt::bf16, float, 8>("bf16");
  test_tiles<tieropt::fp16, float, 8>("fp16");
  test_tiles<float, float, 8>("float");
  test_tiles<double, double, 8>("double");
  test_tiles<tieropt::bf16, float, 4>("bf16");
  test_tiles<float, float, 4>("float");
  test_tiles<tieropt::bf16, float, 2>("bf16");
  test_tiles<tieropt::bf16, float, 1>("bf16");
  test_tiles<tieropt::fp16, double, 8>("fp16");
  test_tiles<double, float, 8>("double");
}

TEST_CASE("tiles of bytes have the host's bits", "[block]") {
  test_tiles<tieropt::fp8_e4m3, float, 8>("e4m3");
  test_tiles<tieropt::fp8_e5m2, double, 8>("e5m2");
  test_tiles<tieropt::fp8_e5m2, float, 4>("e5m2");
  test_tiles<tieropt::fp8_e4m3, float, 2>("e4m3");
  test_tiles<tieropt::fp8_e4m3, float, 1>("e4m3");
}

TEST_CASE("tiles of a framework's types have the host's bits", "[block]") {
  test_tiles<framework_fp8, float, 8>("a framework's fp8");
  test_tiles<framework_bf16, float, 8>("a framework's bfloat16");
  test_tiles<truncated_bf16, float, 8>("bfloat16 that truncates");
}

TEST_CASE("a block's storage is shared", "[block]") {
  test_shared<1, 256>();
  test_shared<8, 1024>();
}
