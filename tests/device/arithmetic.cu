// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arithmetic has the same bits on the host and on a device, special values included.

#include <tieropt/block/host_block.hpp>
#include <tieropt/executor/cuda_executor.cuh>
#include <tieropt/precision/storage.hpp>

#include "device/buffer.cuh"

#include <vector>

using tieropt::int64_t;

namespace {

constexpr int n_results = 9;

/// Every function of every three values.
template <class T>
struct arithmetic_body {
  using storage = float[1];
  static constexpr tieropt::tuning tune{.groups = 4};
  T const* values;  // (n)
  int64_t n;
  T* results;  // (n, n, n, n_results)

  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    int64_t const first = block.index() * n * n;
    block.for_each(n * n, [&](int64_t i) {
      T const a = values[first / (n * n)], b = values[i / n], c = values[i % n];
      T* const out = results + (first + i) * n_results;
      out[0] = tieropt::canonical_nan(tieropt::fma(a, b, c));
      out[1] = tieropt::canonical_nan(tieropt::mul(a, b));
      out[2] = tieropt::canonical_nan(tieropt::add(a, b));
      out[3] = tieropt::canonical_nan(tieropt::div(a, b));
      out[4] = tieropt::canonical_nan(tieropt::sqrt(a));
      out[5] = tieropt::canonical_nan(tieropt::max(a, b));
      out[6] = tieropt::canonical_nan(tieropt::to<T>(tieropt::to<float>(a)));
      out[7] = tieropt::canonical_nan(tieropt::to<T>(tieropt::to<double>(a)));
      out[8] = tieropt::canonical_nan(tieropt::neg(tieropt::mul(a, b)));
    });
  }
};

template <class T>
std::vector<T> special_values() {
  std::vector<T> values{0,
                        T(1),
                        T(3),
                        T(0x1.8p-70),
                        T(0x1p-126),
                        T(0x1p-130),
                        T(0x1.fffffep-127),
                        T(0x1p-149),
                        T(0x1.5p60),
                        T(0x1.fffffep127),
                        T(1) / T(3),
                        T(0x1p-24),
                        T(1) / T(0)};
  if constexpr (sizeof(T) == 8)
    values.insert(values.end(), {T(0x1p-1022), T(0x1p-1074), T(0x1.23p-1050)});
  std::size_t const n = values.size();
  for (std::size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  values.push_back(T(0) / T(0));
  return values;
}

template <class T>
void compare() {
  std::vector<T> const values = special_values<T>();
  auto const n = static_cast<int64_t>(values.size());
  std::vector<T> host(static_cast<std::size_t>(n * n * n * n_results));
  device_test::device_buffer<T> const inputs{values}, results{host.size()};
  for (int64_t b = 0; b < n; ++b) {
    tieropt::run_on_host(arithmetic_body<T>{values.data(), n, host.data()}, b,
                         tieropt::forward_order{});
  }
  REQUIRE(tieropt::cuda_executor{nullptr}.launch(
      n, arithmetic_body<T>{inputs.data(), n, results.data()}));
  std::vector<T> const device = results.download();
  std::size_t const at = device_test::first_difference(host, device), k = at / n_results;
  auto const m = static_cast<std::size_t>(n);
  INFO("function " << at % n_results << " of " << values[k / (m * m) % m] << ", "
                   << values[k / m % m] << ", " << values[k % m]);
  CHECK(at == host.size());
}

}  // namespace

TEST_CASE("float arithmetic has the host's bits", "[arithmetic]") { compare<float>(); }
TEST_CASE("double arithmetic has the host's bits", "[arithmetic]") { compare<double>(); }
