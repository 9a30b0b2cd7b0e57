// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes that 64 bits do not count, or a device's grid does not take, are
/// refused in time.

#include "support/catch.hpp"

#include <tieropt/tieropt.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using std::int64_t;
using std::uintptr_t;

/// A plan of n tensors whose memory nobody touches is refused, or its sums are
/// right.
/// @return whether it was refused
template <class Tier, class Param>
bool refused(int64_t E, int64_t R, int64_t C, std::size_t n) {
  using bound = tieropt::bound_tensor<Tier, Param>;
  using state = typename bound::variance_type;
  constexpr bool keeps = tieropt::keeps_momentum<typename Tier::momentum>;
  bound b;
  uintptr_t place = 0;
  auto const next = [&](auto* null) {  // buffers 2^61 bytes apart
    return reinterpret_cast<decltype(null)>(++place << 61);
  };
  b.param = tieropt::view(next(static_cast<Param*>(nullptr)), E, R, C);
  b.grad = tieropt::view(next(static_cast<Param const*>(nullptr)), E, R, C);
  if constexpr (keeps) b.momentum = tieropt::view(next(static_cast<state*>(nullptr)), E, R, C);
  if (Tier::variance::factored) {
    b.variance.row = tieropt::view(next(static_cast<state*>(nullptr)), E, R);
    b.variance.col = tieropt::view(next(static_cast<state*>(nullptr)), E, C);
  } else {
    b.variance.exact = tieropt::view(next(static_cast<state*>(nullptr)), E, R, C);
  }
  b.step = tieropt::view(next(static_cast<int64_t*>(nullptr)), E);
  std::vector<bound> const all(n, b);
  auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(all);
  INFO(n << " tensors (" << E << ", " << R << ", " << C << ")");
  if (!plan) {
    CHECK(plan.error().code == tieropt::errc::too_large);
    return true;
  }
  auto const wide = [](auto x) { return static_cast<__int128>(x); };
  __int128 const matrices = wide(n) * E, size = matrices * R * C;
  using scalars = tieropt::step_scalars<typename Tier::compute>;
  CHECK((wide(plan->workspace_bytes()) >= matrices * wide(sizeof(scalars))));
  CHECK((wide(plan->traffic_bytes()) >= size * 3 * wide(sizeof(Param))));
  auto const bytes = plan->state_bytes();
  CHECK((wide(bytes.momentum) == (keeps ? size * wide(sizeof(state)) : 0)));
  __int128 const rest = Tier::variance::factored ? matrices * (wide(R) + C) : size;
  CHECK((wide(bytes.row) + bytes.col + bytes.exact == rest * wide(sizeof(state))));
  return false;
}

}  // namespace

TEMPLATE_TEST_CASE("sizes that 64 bits do not count are refused, all others counted", "[huge]",
                   tieropt::adamw::tensor, tieropt::adamw::tensor_as<double>,
                   tieropt::skewadam::corrected::backbone,
                   tieropt::skewadam::corrected::experts_as<double>) {
  using param = typename TestType::compute;
  for (std::size_t const n : {1, 1000}) {
    int largest = 0;
    for (int power = 20; power < 62; ++power) {
      int64_t const size = int64_t{1} << power, root = int64_t{1} << power / 2;
      bool const row = refused<TestType, param>(1, 1, size, n);
      bool const matrices = refused<TestType, param>(size, 1, 1, n);
      bool const square = refused<TestType, param>(1, size / root, root, n);
      if (!row && !matrices && !square) largest = power;
    }
    CHECK(largest >= 40);  // 10^12 elements in a tensor are no reason
    CHECK(largest < 61);
  }
}

namespace {

/// Takes notes of launches, of which none may be longer than a device's.
struct capped_executor {
  static constexpr int64_t max_blocks = 0x7fffffff;
  int* launches;
  tieropt::status upload(void*, void const*, std::size_t) const { return {}; }
  template <tieropt::block_body Body>
  tieropt::status launch(int64_t blocks, Body const&) const {
    ++*launches;
    return {.code = blocks > max_blocks ? tieropt::errc::too_large : tieropt::errc::ok};
  }
};
/// The same without a bound.
struct unbounded_executor {
  int* launches;
  tieropt::status upload(void*, void const*, std::size_t) const { return {}; }
  template <tieropt::block_body Body>
  tieropt::status launch(int64_t, Body const&) const {
    ++*launches;
    return {};
  }
};

template <class T>
T* somewhere(uintptr_t place) {
  return reinterpret_cast<T*>(place << 44);
}

}  // namespace

TEST_CASE("a launch of more blocks than a grid has is refused before the first launch", "[huge]") {
  using adamw = tieropt::adamw::tensor;
  using bound = tieropt::bound_tensor<adamw, float>;
  std::vector<bound> const small{};
  for (int64_t const E : {int64_t{0x7fffffff}, int64_t{0x80000000}}) {
    std::vector<bound> const one{
        {.param = tieropt::view(somewhere<float>(1), E, 2, 3),
         .grad = tieropt::view(somewhere<float const>(2), E, 2, 3),
         .momentum = tieropt::view(somewhere<float>(3), E, 2, 3),
         .variance = {.exact = tieropt::view(somewhere<float>(4), E, 2, 3)},
         .step = tieropt::view(somewhere<int64_t>(5), E)}};
    auto const plan = tieropt::make_plan<tieropt::adamw::policy>(small, one);
    REQUIRE(plan.has_value());
    cuda::std::span<std::byte> const work{somewhere<std::byte>(6), plan->workspace_bytes()};
    tieropt::hyper const hypers[] = {{}};
    tieropt::step_inputs const inputs;
    INFO(E << " blocks");
    int launches = 0;
    bool const fits = E == 0x7fffffff;
    for (bool const resident : {false, true}) {
      auto const step = [&](auto const& x) {
        return resident ? enqueue(x, *plan, work, tieropt::resident<tieropt::hyper>{hypers},
                                  tieropt::resident<tieropt::step_inputs>{&inputs})
                        : enqueue(x, *plan, work, hypers, inputs);
      };
      launches = 0;
      tieropt::status const s = step(capped_executor{&launches});
      CHECK(s.code == (fits ? tieropt::errc::ok : tieropt::errc::too_large));
      CHECK(s.range == (fits ? -1 : 1));
      CHECK((launches > 0) == fits);
      CHECK(step(unbounded_executor{&launches}));
    }
  }
}
