// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Views of any rank, extents, strides and addresses: a plan refuses them, or a step touches their
/// elements alone and leaves the bits that dense views of the same values get.

#include "arena.hpp"

#include <tieropt/tieropt.hpp>

#include <type_traits>

namespace {

using fuzz::arena;
using fuzz::require;
using std::int64_t;

struct factored : tieropt::tier {
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::factored_variance<float>;
  using master = tieropt::carry_master;
};
struct exact : tieropt::tier {
  using variance = tieropt::exact_variance<tieropt::root_uint8>;
  using clip = tieropt::no_clip;
};
using factored_tensor = tieropt::bound_tensor<factored, tieropt::bf16, float>;
using exact_tensor = tieropt::bound_tensor<exact, float, tieropt::fp16>;
using policy = tieropt::tier_policy<factored, exact>;

tieropt::serial_executor const executor;
tieropt::hyper const hypers[]{{.lr = 0.1, .weight_decay = 0.1}, {.lr = 0.2}};

/// Calls f(view) for every view of a bound tensor.
template <class F>
void for_each_view(factored_tensor& b, F const& f) {
  f(b.param), f(b.grad), f(b.momentum.codes), f(b.momentum.scales);
  f(b.variance.row), f(b.variance.col), f(b.variance.exact);
  f(b.master.remainder), f(b.master.carry), f(b.step), f(b.active), f(b.missed);
}
template <class F>
void for_each_view(exact_tensor& b, F const& f) {
  f(b.param), f(b.grad), f(b.variance.exact.codes), f(b.variance.exact.scales);
  f(b.step), f(b.active), f(b.missed);
}

/// A tensor of a few dimensions, its buffers in layouts of their own.
template <class Bound>
Bound make_tensor(arena& a) {
  std::vector<int64_t> extents(static_cast<std::size_t>(a.number(0, a.seldom(9) ? 8 : 4)));
  for (auto& x : extents) x = a.seldom(5) ? a.number(0, 70) : a.number(1, 5);
  if (a.seldom(40) && !extents.empty()) extents[0] = a.in.ConsumeIntegral<int64_t>();
  Bound b;
  b.param = a.view<typename Bound::param_type>(extents);
  b.grad = a.view<typename Bound::grad_type const>(extents);
  if (a.seldom(3)) b.dims = tieropt::two_largest();
  if (a.seldom(5)) b.dims = {static_cast<int>(a.number(-4, 4)), static_cast<int>(a.number(-4, 4))};

  tieropt::tensor_view<char> shape;  // as it was meant
  shape.rank = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), shape.extent);
  auto const [row, col, largest] = tieropt::dims_of(shape, b.dims);
  auto const with_columns = [&, col = col](int64_t group) {
    auto all = extents;
    if (col >= 0) {
      auto& columns = all[static_cast<std::size_t>(col)];
      columns = columns / group + (columns % group != 0);
    }
    return all;
  };
  int64_t matrices = 1;
  for (int i = 0; i < shape.rank; ++i) {
    if (i != row && i != col && __builtin_mul_overflow(matrices, shape.extent[i], &matrices)) {
      matrices = 1;
    }
  }
  if constexpr (std::is_same_v<Bound, factored_tensor>) {
    b.momentum = {a.view<std::int8_t>(extents), a.view<float>(with_columns(tieropt::scale_group))};
    b.master = {a.view<std::uint16_t>(extents),
                a.view<std::uint8_t>(with_columns(tieropt::carry_group))};
    if (extents.size() > 1 && col >= 0) {
      b.variance.row = a.view<float>({matrices, shape.extent[row]});
      b.variance.col = a.view<float>({matrices, shape.extent[col]});
    } else {
      b.variance.exact = a.view<float>(extents);
    }
  } else {
    b.variance.exact = {a.view<std::uint8_t>(extents),
                        a.view<float>(with_columns(tieropt::scale_group))};
  }
  b.step = a.view<int64_t>({matrices});
  if (a.seldom(3)) b.active = a.view<int const>({matrices});
  if (b.active && a.seldom(2)) b.missed = a.view<int64_t>({matrices});
  b.key = a.number(-3, 3);
  b.first_element = a.number(0, 5);
  b.group = static_cast<int>(a.number(a.seldom(20) ? -1 : 0, 1));
  return b;
}

template <class Bound>
std::vector<Bound> make_tensors(arena& a) {
  std::vector<Bound> all;
  for (int64_t n = a.number(0, 3); n > 0; --n) all.push_back(make_tensor<Bound>(a));
  return all;
}

/// Whether a plan may be run: every view lies in the arena.
template <class Bound>
bool held(arena const& a, std::vector<Bound>& tensors) {
  bool all = true;
  for (auto& b : tensors) {
    for_each_view(b, [&](auto const& v) { all = all && a.holds(v); });
  }
  return all;
}

/// Which tensor reads and which writes each byte, from 1.
struct owners {
  std::vector<unsigned char> of, written_by;
  unsigned char last = 0;
  bool shared = false;  // by two tensors, which nobody promised to notice

  owners() : of(arena::size), written_by(arena::size) {}

  /// Marks the bytes of one more tensor; what it writes must be no other view's of it.
  template <class Bound>
  void add(arena const& a, Bound& b) {
    ++last;
    for_each_view(b, [&](auto const& v) {
      constexpr bool writes = !std::is_const_v<std::remove_reference_t<decltype(*v.data)>>;
      fuzz::for_each_element(v, [&](auto* p) {
        for (std::size_t i = 0; i < sizeof *p; ++i) {
          auto const at = static_cast<std::size_t>(a.offset(p)) + i;
          require(written_by[at] != last && !(writes && of[at] == last),
                  "an accepted tensor shares memory");
          shared = shared || written_by[at] != 0 || (writes && of[at] != 0);
          of[at] = last;
          if (writes) written_by[at] = last;
        }
      });
    });
  }
};

/// The same tensor in dense buffers of its own.
template <class Bound>
class dense_copy {
 public:
  explicit dense_copy(Bound const& of) : bound{of} {
    for_each_view(bound, [&](auto& v) {
      if (fuzz::is_empty(v)) return;
      auto const n = static_cast<std::size_t>(v.size());
      auto& values = values_.emplace_back(n * sizeof(*v.data));
      std::size_t i = 0;
      fuzz::for_each_element(v,
                             [&](auto* p) { std::memcpy(&values[i++ * sizeof *p], p, sizeof *p); });
      v.data = reinterpret_cast<std::remove_reference_t<decltype(v.data)>>(values.data());
      int64_t stride = 1;
      for (int d = v.rank - 1; d >= 0; --d) v.stride[d] = stride, stride *= v.extent[d];
    });
  }
  /// Compares with the original.
  void check(Bound& original) {
    std::size_t next = 0;
    for_each_view(original, [&](auto& v) {
      if (fuzz::is_empty(v)) return;
      auto const& values = values_[next++];
      std::size_t i = 0;
      fuzz::for_each_element(v, [&](auto* p) {
        require(std::memcmp(&values[i++ * sizeof *p], p, sizeof *p) == 0,
                "a layout gets other bits than a dense one");
      });
    });
  }

  Bound bound;

 private:
  std::vector<std::vector<unsigned char>> values_;
};

/// One step; everything but the bound tensors is sound.
template <class A, class B>
void step(tieropt::schedule how, std::vector<A> const& a, std::vector<B> const& b) {
  auto const plan = tieropt::make_plan<policy>(how, a, b);
  require(plan.has_value(), "a dense copy is refused");
  std::vector<std::byte> workspace(plan->workspace_bytes());
  require(bool{tieropt::prepare(executor, *plan, workspace)}, "a plan cannot be prepared");
  require(bool{tieropt::enqueue(executor, *plan, workspace, hypers, {.seed = 3})},
          "a plan cannot be run");
}

void run(arena& a, tieropt::schedule how, std::vector<factored_tensor>& first,
         std::vector<exact_tensor>& second) {
  owners marks;
  for (auto& b : first) marks.add(a, b);
  for (auto& b : second) marks.add(a, b);
  if (marks.shared) return;
  auto const counts = [](auto& tensors) {
    for (auto& b : tensors) {
      fuzz::for_each_element(b.step, [](int64_t* p) { *p = 5; });
      fuzz::for_each_element(b.missed, [](int64_t* p) { *p = 2; });
    }
  };
  counts(first), counts(second);
  auto const before = a.bytes();
  std::vector<dense_copy<factored_tensor>> first_copies(first.begin(), first.end());
  std::vector<dense_copy<exact_tensor>> second_copies(second.begin(), second.end());
  a.guard(marks.of);
  step(how, first, second);
  a.unguard();
  for (std::size_t i = 0; i < before.size(); ++i) {
    require(marks.written_by[i] != 0 || a.bytes()[i] == before[i],
            "a step wrote what no view covers");
  }
  std::vector<factored_tensor> first_dense;
  std::vector<exact_tensor> second_dense;
  for (auto& c : first_copies) first_dense.push_back(c.bound);
  for (auto& c : second_copies) second_dense.push_back(c.bound);
  step(tieropt::streaming(), first_dense, second_dense);
  for (std::size_t i = 0; i < first.size(); ++i) first_copies[i].check(first[i]);
  for (std::size_t i = 0; i < second.size(); ++i) second_copies[i].check(second[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  FuzzedDataProvider choices{data, size};
  arena a{choices};
  tieropt::schedule const schedules[]{tieropt::streaming(), tieropt::cache_resident(0),
                                      tieropt::cache_resident(1 << 9), tieropt::automatic(1 << 12)};
  auto const how = schedules[a.number(0, 3)];
  auto first = make_tensors<factored_tensor>(a);
  auto second = make_tensors<exact_tensor>(a);
  auto const before = a.bytes();
  auto const plan = tieropt::make_plan<policy>(how, first, second);
  require(a.bytes() == before, "make_plan wrote");
  if (plan && held(a, first) && held(a, second)) {
    run(a, how, first, second);
  } else if (!plan) {
    auto const s = plan.error();
    require(s.code != tieropt::errc::ok && (s.range == 0 || s.range == 1) && s.tensor >= 0 &&
                s.tensor < static_cast<int64_t>(s.range == 0 ? first.size() : second.size()),
            "a refusal names no tensor");
  }
  return 0;
}
