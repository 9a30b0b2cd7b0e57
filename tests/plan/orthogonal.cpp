// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Muon: the formulas, batches of equal matrices, and what must not change a bit.

#include "support/catch.hpp"
#include "support/counting.hpp"
#include "support/model.hpp"
#include "support/plain_gemm.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace {

using tieropt::bf16;
using shapes = std::vector<std::vector<std::int64_t>>;
template <class Scale>
using in_double = tieropt::muon::matrix_as<double, double, Scale>;
using keller_jordan = in_double<tieropt::keller_jordan_scale>;
using moonlight = in_double<tieropt::moonlight_scale>;
using matrix = tieropt::muon::matrix;

template <class X>
auto multiplying(X const& x) {
  return tieropt::with_gemm(x, testing::plain_gemm<X>{x});
}

/// Newton-Schulz from its formulas: X (R, C), A = X X^T, X <- a X + (b A + c A A) X.
std::vector<double> orthogonalized(std::vector<double> x, std::size_t R, std::size_t C) {
  double norm = 0;
  for (double const v : x) norm += v * v;
  norm = std::sqrt(norm) + 1e-7;
  for (double& v : x) v /= norm;
  auto const product = [](std::vector<double> const& p, std::vector<double> const& q, std::size_t m,
                          std::size_t k, std::size_t n) {
    std::vector<double> out(m * n);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t l = 0; l < k; ++l) {
        for (std::size_t j = 0; j < n; ++j) out[i * n + j] += p[i * k + l] * q[l * n + j];
      }
    }
    return out;
  };
  for (int i = 0; i < 5; ++i) {
    std::vector<double> t(C * R);
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t c = 0; c < C; ++c) t[c * R + r] = x[r * C + c];
    }
    auto const a = product(x, t, R, C, R);
    auto b = product(a, a, R, R, R);
    for (std::size_t j = 0; j < b.size(); ++j) b[j] = 2.0315 * b[j] - 4.7750 * a[j];
    auto const y = product(b, x, R, R, C);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = 3.4445 * x[j] + y[j];
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("a step follows the formulas, whatever the shape", "[muon]", keller_jordan,
                   moonlight) {
  bool const jordan = std::is_same_v<TestType, keller_jordan>;
  for (auto const& shape : shapes{{7, 12}, {12, 7}, {9, 9}, {3, 5, 4}, {1, 6}, {6, 1}}) {
    testing::model<TestType, double> m{{shape}};
    m.hyper = {.lr = 0.02, .beta1 = 0.95, .weight_decay = 0.1};
    auto& t = m.tensors[0];
    auto const before = t.param.values();
    REQUIRE(m.run(multiplying(tieropt::serial_executor{}), 1) == "");
    auto const after = t.param.values(), grad = t.grad.values();
    auto const R = static_cast<std::size_t>(t.param.R()), C = static_cast<std::size_t>(t.param.C());
    double const longer = static_cast<double>(R > C ? R : C);
    double const scale =
        jordan ? std::sqrt(std::fmax(1.0, double(R) / double(C))) : 0.2 * std::sqrt(longer);
    for (std::size_t e = 0; e < static_cast<std::size_t>(t.param.E()); ++e) {
      std::vector<double> x(grad.begin() + long(e * R * C), grad.begin() + long((e + 1) * R * C));
      for (double& v : x) v *= 0.05 + 0.95 * 0.05;  // (1 - mu) g + mu (1 - mu) g
      auto const o = orthogonalized(x, R, C);
      for (std::size_t i = 0; i < o.size(); ++i) {
        double const p = before[e * R * C + i];
        double const want = p * (1 - 0.02 * 0.1) - 0.02 * scale * o[i];
        INFO("R " << R << " C " << C << " element " << i);
        // Five iterations of sums of at most 13 products of values near 1, each 1e-16 off.
        CHECK(std::fabs(after[e * R * C + i] - want) < 1e-13);
      }
    }
  }
}

TEST_CASE("batches never change a bit, and are what the plan says", "[muon]") {
  shapes const all{{5, 20, 70}, {20, 70}, {70, 20}, {0, 4}, {2, 70, 20}, {129, 33}};
  testing::model<matrix, bf16> whole{all};
  REQUIRE(whole.run(multiplying(testing::executor{}), 2) == "");
  std::int64_t const one = 2 * 2 * (20 * 70 + 20 * 20), largest = 2 * 2 * (129 * 33 + 33 * 33);
  for (std::int64_t const limit :
       {std::int64_t{1} << 31, 6 * one + 1020, 3 * one + 1020, largest + 1020}) {
    testing::model<matrix, bf16> m{all};
    std::int64_t launches = 0, products = 0;
    auto const how = tieropt::streaming().with_workspace_limit(limit);
    REQUIRE(m.run(tieropt::with_gemm(testing::counting_executor{launches},
                                     testing::counting_gemm{&products}),
                  2, how) == "");
    INFO("limit " << limit);
    CHECK(whole.difference(m) == "");
    std::vector<typename testing::owned_tensor<matrix, bf16, bf16>::bound> bound;
    for (auto& t : m.tensors) bound.push_back(t.whole());
    auto const plan = tieropt::make_plan<tieropt::muon::policy>(how, bound);
    REQUIRE(plan.has_value());
    CHECK(2 * plan->launches() == launches);
    CHECK(2 * plan->products() == products);
    CHECK(static_cast<std::int64_t>(plan->workspace_bytes() - plan->scratch_offset()) <= limit);
    auto const padded = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
    std::int64_t fits = 1;
    while (fits < 6 &&
           2 * padded((fits + 1) * 2 * 20 * 70) + 2 * padded((fits + 1) * 2 * 20 * 20) <= limit) {
      ++fits;
    }
    std::int64_t const batches = plan->products() / 15;
    CHECK(batches == (6 + fits - 1) / fits + (3 + fits - 1) / fits + 1);
  }
}

TEST_CASE("a limit that no matrix fits is refused, and a vector", "[muon]") {
  testing::model<matrix, bf16> m{{{4, 20, 70}}};
  std::vector all{m.tensors[0].whole()};
  std::int64_t const one = 2 * 2 * (20 * 70 + 20 * 20) + 1020;
  auto const with = [&](std::int64_t limit) {
    return tieropt::make_plan<tieropt::muon::policy>(
        tieropt::streaming().with_workspace_limit(limit), all);
  };
  CHECK(with(one).has_value());
  testing::model<in_double<tieropt::moonlight_scale>, double> small{{{4, 4}}};
  std::vector tight{small.tensors[0].whole()};  // four matrices of 128 bytes, each padded to 256
  using small_policy = tieropt::tier_policy<in_double<tieropt::moonlight_scale>>;
  CHECK(tieropt::make_plan<small_policy>(tieropt::streaming().with_workspace_limit(1024), tight)
            .has_value());
  CHECK_FALSE(
      tieropt::make_plan<small_policy>(tieropt::streaming().with_workspace_limit(1023), tight)
          .has_value());
  REQUIRE_FALSE(with(one - 1020).has_value());
  CHECK(with(one - 1020).error().code == tieropt::errc::workspace_limit);
  CHECK(with(one - 1020).error().range == 0);
  CHECK(with(one - 1020).error().tensor == 0);
  CHECK_FALSE(with(0).has_value());
  CHECK_FALSE(with(-1).has_value());

  testing::model<matrix, bf16> vector{{{70}}};
  std::vector one_row{vector.tensors[0].whole()};
  auto const refused = tieropt::make_plan<tieropt::muon::policy>(one_row);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == tieropt::errc::rank);
}

TEST_CASE("order, layout and neighbours never change a bit", "[muon]") {
  shapes const all{{3, 20, 70}, {130, 40}};
  testing::model<matrix, bf16> serial{all};
  REQUIRE(serial.run(multiplying(tieropt::serial_executor{}), 2) == "");
  {
    testing::model<matrix, bf16> m{all};
    REQUIRE(m.run(multiplying(tieropt::host_executor{}), 2) == "");
    CHECK(serial.difference(m) == "");
  }
  std::vector<int> order(256);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 255; i > 0; --i) {
    std::swap(order[i], order[testing::scramble(5, i) % (i + 1)]);
  }
  {
    testing::model<matrix, bf16> m{all};
    REQUIRE(m.run(multiplying(tieropt::shuffled_executor{order.data()}), 2) == "");
    CHECK(serial.difference(m) == "");
  }
  for (auto const how : {testing::layout::column_major, testing::layout::padded,
                         testing::layout::strided, testing::layout::pitched}) {
    testing::model<matrix, bf16> m{all, how};
    REQUIRE(m.run(multiplying(tieropt::serial_executor{}), 2) == "");
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(m.tensors[i].param.values() == serial.tensors[i].param.values());
      CHECK(m.tensors[i].momentum.values() == serial.tensors[i].momentum.values());
      CHECK(m.tensors[i].param.gaps_untouched());
    }
  }
}

TEST_CASE("a matrix that rests keeps its bits, and disturbs none of its batch", "[muon]") {
  testing::model<matrix, bf16> all{{{4, 20, 70}}}, some{{{4, 20, 70}}};
  REQUIRE(all.run(multiplying(tieropt::serial_executor{}), 1) == "");
  auto& t = some.tensors[0];
  auto const before = t.param.values();
  t.new_gradient(0);
  for (std::int64_t i = 0; i < 20 * 70; ++i) t.grad[i] = bf16{0x7fc0};  // NaN, of the resting one
  testing::vector<int> const active{0, 1, 1, 0};
  std::vector bound{t.whole()};
  bound[0].active = tieropt::view(active.data(), 4);
  auto const plan = tieropt::make_plan<tieropt::muon::policy>(bound);
  REQUIRE(plan.has_value());
  auto const x = multiplying(testing::executor{});
  testing::scratch workspace{x, plan->workspace_bytes()};
  cuda::std::span<std::byte> const memory = workspace;
  std::vector<std::byte> const garbage(memory.size(), std::byte{0xff});
  testing::copy(memory.data(), garbage.data(), garbage.size());  // NaN wherever one might look
  tieropt::hyper const hypers[] = {some.hyper};
  REQUIRE(tieropt::prepare(x, *plan, workspace));
  REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers, tieropt::step_inputs{.seed = some.seed}));
  auto const got = t.param.values(), moved = all.tensors[0].param.values();
  auto const momentum = t.momentum.values();
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::size_t const e = i / (20 * 70);
    REQUIRE(got[i] == (e == 1 || e == 2 ? moved[i] : before[i]));
    if (e == 0 || e == 3) REQUIRE(momentum[i] == 0);
  }
  CHECK(t.step[0] == 0);
  CHECK(t.step[1] == 1);

  // Without any gradient nothing is left to multiply but zeros.
  std::vector<bf16 const*> const absent{nullptr};
  REQUIRE(tieropt::rebind_grads(x, *plan, workspace, absent));
  REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers));
  CHECK(t.param.values() == got);
}

TEST_CASE("Muon, factored experts and AdamW share a plan", "[muon]") {
  using experts = tieropt::skewadam::corrected::experts;
  using router = tieropt::adamw::tensor;
  using policy = tieropt::tier_policy<matrix, experts, router>;
  testing::model<matrix, bf16> a{{{20, 70}}}, alone_a{{{20, 70}}};
  testing::model<experts, bf16> b{{{4, 20, 70}}}, alone_b{{{4, 20, 70}}};
  testing::model<router, float> c{{{4, 20}}}, alone_c{{{4, 20}}};
  auto const x = multiplying(testing::executor{});
  REQUIRE(alone_a.run(x, 1) == "");
  REQUIRE(alone_b.run(x, 1) == "");
  REQUIRE(alone_c.run(x, 1) == "");
  std::vector first{a.tensors[0].whole()};
  std::vector second{b.tensors[0].whole()};
  std::vector third{c.tensors[0].whole()};
  a.tensors[0].new_gradient(0), b.tensors[0].new_gradient(0), c.tensors[0].new_gradient(0);
  auto const plan = tieropt::make_plan<policy>(first, second, third);
  REQUIRE(plan.has_value());
  testing::scratch workspace{x, plan->workspace_bytes()};
  tieropt::hyper const hypers[] = {a.hyper};
  REQUIRE(tieropt::prepare(x, *plan, workspace));
  REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers, tieropt::step_inputs{.seed = a.seed}));
  CHECK(a.difference(alone_a) == "");
  CHECK(b.difference(alone_b) == "");
  CHECK(c.difference(alone_c) == "");
  CHECK(plan->state_bytes().total() == 4 * 20 * 70 + 4 * 4 * (20 + 70) + 2 * 4 * 4 * 20);
}

TEST_CASE("the products of 384 experts take as many batches as the limit asks for", "[muon]") {
  // Addresses that nobody reads: 4,096 x 4,096 in bf16 takes four matrices of 32 MiB of scratch.
  using bound = tieropt::bound_tensor<matrix, bf16>;
  std::vector<bound> experts;
  for (std::int64_t i = 0; i < 384; ++i) {
    auto const place = [&](auto* null, std::int64_t buffer) {
      return reinterpret_cast<decltype(null)>((16 * i + buffer + 1) << 32);
    };
    std::int64_t const n = 4096;
    experts.push_back({.param = tieropt::view(place(static_cast<bf16*>(nullptr), 0), n, n),
                       .grad = tieropt::view(place(static_cast<bf16 const*>(nullptr), 1), n, n),
                       .momentum = tieropt::view(place(static_cast<float*>(nullptr), 2), n, n),
                       .step = tieropt::view(place(static_cast<std::int64_t*>(nullptr), 3), 1)});
  }
  std::int64_t const mib = 1 << 20;
  auto const with = [&](std::int64_t limit) {
    auto const plan = tieropt::make_plan<tieropt::muon::policy>(
        tieropt::streaming().with_workspace_limit(limit), experts);
    REQUIRE(plan.has_value());
    auto const scratch =
        static_cast<std::int64_t>(plan->workspace_bytes() - plan->scratch_offset());
    CHECK(scratch <= limit);
    CHECK(scratch > limit / 2);
    return plan->products();
  };
  CHECK(with(384 * 128 * mib + 4096) == 15);
  CHECK(with(2048 * mib) == 15 * (384 / 16));
  CHECK(with(2048 * mib - 1) == 15 * ((384 + 14) / 15));
  CHECK(with(128 * mib + 4096) == 15 * 384);
}

TEST_CASE("matrices beyond 64 bits are refused before their products are counted", "[muon]") {
  using bound = tieropt::bound_tensor<matrix, bf16>;
  std::vector<bound> huge(1);
  auto const place = [](auto* null, std::uintptr_t buffer) {
    return reinterpret_cast<decltype(null)>(buffer << 61);
  };
  for (std::int64_t const n : {std::int64_t{1} << 26, std::int64_t{1} << 31}) {
    huge[0].param = tieropt::view(place(static_cast<bf16*>(nullptr), 1), n, n);
    huge[0].momentum = tieropt::view(place(static_cast<float*>(nullptr), 2), n, n);
    huge[0].step = tieropt::view(place(static_cast<std::int64_t*>(nullptr), 3), 1);
    auto const plan = tieropt::make_plan<tieropt::muon::policy>(huge);
    REQUIRE_FALSE(plan.has_value());
    CHECK(plan.error().code == tieropt::errc::too_large);
  }
}

TEST_CASE("what a product refuses is what the step returns", "[muon]") {
  struct refusing {
    tieropt::status operator()(tieropt::matrix_product<bf16> const&) const {
      return {tieropt::errc::device, 7};
    }
  };
  testing::model<matrix, bf16> m{{{20, 70}}};
  std::vector all{m.tensors[0].whole()};
  auto const plan = tieropt::make_plan<tieropt::muon::policy>(all);
  REQUIRE(plan.has_value());
  tieropt::serial_executor const serial;
  auto const x = tieropt::with_gemm(serial, refusing{});
  testing::scratch workspace{x, plan->workspace_bytes()};
  tieropt::hyper const hypers[] = {m.hyper};
  REQUIRE(tieropt::prepare(x, *plan, workspace));
  auto const s = tieropt::enqueue(x, *plan, workspace, hypers);
  CHECK(s.code == tieropt::errc::product);
  CHECK(s.native == 7);
  CHECK(s.range == 0);
}

TEST_CASE("bytes of products are counted once an operand", "[muon]") {
  // 2,048 x 4,096 in bf16 with fp32 momentum: gradient twice, weight twice, momentum three times,
  // staged and applied; five iterations of 3 X and 4 A.
  std::vector<std::int64_t> const e{2048, 4096};
  double const n = 2048.0 * 4096.0;
  double const per_parameter = static_cast<double>(tieropt::traffic_bytes<matrix, bf16>(
                                   cuda::std::span<std::int64_t const>{e.data(), e.size()})) /
                               n;
  double const want = 2 * 2 + 2 * 2 + 3 * 4 + 2 * 2 + 5 * 2 * (3 + 4 * 0.5);
  CHECK(per_parameter >= want);
  CHECK(per_parameter < want + 0.01);
}
