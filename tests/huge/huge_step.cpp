// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Two real steps of one matrix of more than 2^31 elements, bf16, on the parallel host executor.

#include "support/catch.hpp"

#include <tieropt/tieropt.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {

using std::int64_t;
using std::uint64_t;
using experts = tieropt::skewadam::corrected::experts;
using tieropt::bf16;

constexpr int64_t R = 47501, C = 47417, n = R * C;
static_assert(n > int64_t{1} << 31);

// bf16 is the upper half of an fp32.
bf16 narrow(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return {static_cast<uint16_t>(bits >> 16)};
}
double wide(bf16 x) {
  uint32_t const bits = uint32_t{x.raw} << 16;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

/// A number in [-1, 1) for each element.
float number(uint64_t seed, int64_t i) {
  uint64_t x = (static_cast<uint64_t>(i) + seed) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
  return static_cast<float>(static_cast<int64_t>(x ^ (x >> 32))) * 0x1p-63f;
}
bf16 parameter(int64_t i) { return narrow(number(1, i)); }
bf16 gradient(int k, int64_t i) {
  int64_t const r = i / C, c = i % C;
  float const scale = static_cast<float>((1 + r % 7) * (1 + c % 5));
  return narrow(0.01f * scale * number(uint64_t{1} << (40 + k), i));
}

/// Memory that is not set to zero first.
template <class T>
std::unique_ptr<T[]> memory(int64_t count) {
  return std::unique_ptr<T[]>{new T[static_cast<std::size_t>(count)]};
}

/// The factors in double, from all gradients.
struct factors {
  std::vector<double> row = std::vector<double>(R), col = std::vector<double>(C);

  void add(int k, double beta2) {
    std::vector<double> rows(R), cols(C);
#pragma omp parallel
    {
      std::vector<double> mine(C);
#pragma omp for
      for (int64_t r = 0; r < R; ++r) {
        double sum = 0;
        for (int64_t c = 0; c < C; ++c) {
          double const g = wide(gradient(k, r * C + c));
          sum += g * g;
          mine[static_cast<std::size_t>(c)] += g * g;
        }
        rows[static_cast<std::size_t>(r)] = sum;
      }
#pragma omp critical
      for (std::size_t c = 0; c < mine.size(); ++c) cols[c] += mine[c];
    }
    for (std::size_t r = 0; r < row.size(); ++r) {
      row[r] = beta2 * row[r] + (1 - beta2) * rows[r] / static_cast<double>(C);
    }
    for (std::size_t c = 0; c < col.size(); ++c) {
      col[c] = beta2 * col[c] + (1 - beta2) * cols[c] / static_cast<double>(R);
    }
  }
  double row_mean() const {
    double sum = 0;
    for (double const r : row) sum += r;
    return sum / static_cast<double>(R);
  }
};

/// The largest |a / b - 1|.
double difference(float const* a, std::vector<double> const& b) {
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i) most = std::max(most, std::fabs(a[i] / b[i] - 1));
  return most;
}

}  // namespace

TEST_CASE("two steps of a matrix of more than 2^31 elements", "[huge]") {
  auto const param = memory<bf16>(n), grad = memory<bf16>(n);
  std::vector<float> row(R), col(C);
  int64_t step[1] = {0};
  tieropt::bound_tensor<experts, bf16> const one[] = {
      {.param = tieropt::view(param.get(), R, C),
       .grad = tieropt::view(static_cast<bf16 const*>(grad.get()), R, C),
       .variance = {.row = tieropt::view(row.data(), R), .col = tieropt::view(col.data(), C)},
       .step = tieropt::view(step, 1),
       .key = 7}};
  cuda::std::span const tensors{one};
  auto const plan = tieropt::make_plan<tieropt::skewadam::corrected::policy>(tensors);
  REQUIRE(plan.has_value());
  std::printf(
      "%.2f GB: parameter and gradient of %lld bf16 elements each; states %lld bytes, "
      "workspace %zu bytes\n",
      1e-9 * static_cast<double>(4 * n + static_cast<int64_t>(plan->workspace_bytes())),
      static_cast<long long>(n), static_cast<long long>(plan->state_bytes().total()),
      plan->workspace_bytes());
  std::fflush(stdout);
  std::vector<std::byte> workspace(plan->workspace_bytes());
  tieropt::host_executor const x;
  REQUIRE(prepare(x, *plan, workspace));

#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) param[i] = parameter(i);

  // The elements that are checked: some rows and columns, the ends and what lies beyond 2^31.
  std::vector<int64_t> sample;
  for (int64_t const r : {int64_t{0}, int64_t{1}, int64_t{127}, R / 2, (int64_t{1} << 31) / C,
                          (int64_t{1} << 31) / C + 1, R - 2, R - 1}) {
    for (int64_t c = 0; c < C; ++c) sample.push_back(r * C + c);
  }
  for (int64_t const c : {int64_t{0}, int64_t{1023}, C / 2, C - 1}) {
    for (int64_t r = 0; r < R; ++r) sample.push_back(r * C + c);
  }
  REQUIRE(sample.back() == n - 1);
  REQUIRE(std::count_if(sample.begin(), sample.end(),
                        [](int64_t i) { return i >= int64_t{1} << 31; }) > 100000);

  tieropt::hyper const h{.lr = 0.25, .clip = 0.5, .weight_decay = 0.125};
  factors reference;
  std::vector<double> before(sample.size());
  for (int k = 1; k <= 2; ++k) {
    INFO("step " << k);
#pragma omp parallel for
    for (int64_t i = 0; i < n; ++i) grad[i] = gradient(k, i);
    for (std::size_t j = 0; j < sample.size(); ++j) before[j] = wide(param[sample[j]]);
    tieropt::hyper const hypers[] = {h};
    REQUIRE(enqueue(x, *plan, workspace, hypers, {.seed = 11}));
    CHECK(step[0] == k);

    // At most 50 roundings in a row between a gradient and a factor.
    reference.add(k, h.beta2);
    CHECK(difference(row.data(), reference.row) < 50 * 0x1p-24);
    CHECK(difference(col.data(), reference.col) < 50 * 0x1p-24);

    double const mean = reference.row_mean(), correction = 1 - std::pow(h.beta2, k);
    std::vector<double> inverse_row(R), inverse_col(C);
    for (std::size_t r = 0; r < R; ++r)
      inverse_row[r] = 1 / std::sqrt(reference.row[r] / mean / correction);
    for (std::size_t c = 0; c < C; ++c) inverse_col[c] = 1 / std::sqrt(reference.col[c]);
    auto const update = [&](int64_t i) {
      return wide(gradient(k, i)) * inverse_row[static_cast<std::size_t>(i / C)] *
             inverse_col[static_cast<std::size_t>(i % C)];
    };
    double squares = 0;
#pragma omp parallel for reduction(+ : squares)
    for (int64_t i = 0; i < n; ++i) squares += update(i) * update(i);
    double const rms = std::sqrt(squares / static_cast<double>(n));
    auto const measured =
        update_rms(*plan, workspace, cuda::std::integral_constant<std::size_t, 0>{}, 0);
    CHECK(std::fabs(measured[0] / rms - 1) < 100 * 0x1p-24);
    CHECK(rms > h.clip);

    int64_t wrong = 0, up = 0, down = 0;
    for (std::size_t j = 0; j < sample.size(); ++j) {
      double const change = h.lr / std::max(1., rms / h.clip) * update(sample[j]);
      double const expected = before[j] * (1 - h.lr * h.weight_decay) - change;
      double const found = wide(param[sample[j]]);
      // One of the two neighbours in bf16, whose distance is at most 2^-7 of the value.
      double const slack = 200 * 0x1p-24 * (std::fabs(before[j]) + std::fabs(change));
      wrong += !(std::fabs(found - expected) <= 0x1p-7 * std::fabs(expected) + slack);
      (found > expected ? up : down) += 1;
    }
    CHECK(wrong == 0);
    // Rounding takes no side: 6 standard deviations.
    CHECK(std::fabs(static_cast<double>(up - down)) < 6 * std::sqrt(double(sample.size())));
  }
}
