// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Eigen's products against plain sums, and a step of Muon with them.

#include <tieropt/executor/eigen_gemm.hpp>

#include "support/buffers.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <vector>

TEMPLATE_TEST_CASE("a product has its operands where the caller says", "[gemm]", float, double,
                   tieropt::bf16, tieropt::fp16) {
  using T = TestType;
  using codec = testing::element<T>;
  double const unit = std::ldexp(1.0, 1 - codec::format.precision);
  for (std::int64_t const batch : {0, 1, 5}) {
    for (int const transposed : {0, 1, 2}) {
      bool const ta = transposed == 1, tb = transposed == 2;
      std::int64_t const m = 7, n = 9, k = 13;
      std::vector<T> a, b, c, d(static_cast<std::size_t>(batch * m * n));
      auto const fill = [](std::vector<T>& v, std::int64_t count, std::uint64_t seed) {
        for (std::int64_t i = 0; i < count; ++i) {
          v.push_back(codec::encode(testing::uniform(seed, static_cast<std::uint64_t>(i))));
        }
      };
      fill(a, batch * m * k, 1), fill(b, batch * k * n, 2), fill(c, batch * m * n, 3);
      for (double const beta : {0.0, -0.5}) {
        REQUIRE(tieropt::eigen_gemm{}(
            tieropt::matrix_product<T>{batch, m, n, k, ta, tb, 1.5, beta, a.data(), b.data(),
                                       beta == 0 ? nullptr : c.data(), d.data()}));
        for (std::int64_t i = 0; i < batch * m * n; ++i) {
          std::int64_t const e = i / (m * n), row = i / n % m, col = i % n;
          double want = 0;
          for (std::int64_t j = 0; j < k; ++j) {
            std::int64_t const x = e * m * k + (ta ? j * m + row : row * k + j);
            std::int64_t const y = e * k * n + (tb ? col * k + j : j * n + col);
            want += codec::decode(a[static_cast<std::size_t>(x)]) *
                    codec::decode(b[static_cast<std::size_t>(y)]);
          }
          want = 1.5 * want + beta * codec::decode(c[static_cast<std::size_t>(i)]);
          double const got = codec::decode(d[static_cast<std::size_t>(i)]);
          // One rounding to T; sums of 13 products below 1, in float or double.
          double const sums = std::is_same_v<T, double> ? 0x1p-46 : 0x1p-17;
          REQUIRE(std::fabs(got - want) <= unit * std::fabs(want) + sums);
        }
      }
    }
  }
}
