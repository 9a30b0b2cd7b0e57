// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The launches of a step depend on the ranges of a plan, never on its tensors.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace {

std::int64_t allocations = 0;

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)  // it has operators of its own
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc{};
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

using tieropt::bf16;
using tieropt::fp16;
using extents = std::vector<std::int64_t>;

using backbone = tieropt::skewadam::corrected::backbone;
using experts = tieropt::skewadam::published::experts;
using router = tieropt::skewadam::corrected::router;
using adamw = tieropt::adamw::tensor;
using policy = tieropt::tier_policy<backbone, experts, router, adamw>;

/// Bytes of the bodies of all launches, and of all uploads, in order.
struct record {
  std::vector<std::size_t> launches, uploads;
};

/// Takes notes and runs nothing.
struct recorder {
  record* notes;
  tieropt::status upload(void*, void const*, std::size_t bytes) const {
    notes->uploads.push_back(bytes);
    return {};
  }
  template <tieropt::block_body Body>
  tieropt::status launch(std::int64_t blocks, Body const&) const {
    if (blocks > 0) notes->launches.push_back(sizeof(Body));
    return {};
  }
};

/// Memory that all tensors share: nothing runs, and only within one tensor buffers must be apart.
template <class T>
T* memory() {
  static std::vector<T> elements(1 << 18);
  return elements.data();
}
template <class T>
tieropt::tensor_view<T> view_of(T* data, extents const& shape) {
  tieropt::tensor_view<T> v;
  v.data = data;
  v.rank = static_cast<int>(shape.size());
  std::int64_t stride = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    v.extent[i] = shape[static_cast<std::size_t>(i)];
    v.stride[i] = stride;
    stride *= v.extent[i];
  }
  return v;
}

template <class Tier, class Param, class Grad>
struct fake {
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  template <class T, int Which>
  struct own {  // a type, and so a memory, of its own
    T value;
  };
  static bound bind(extents const& shape) {
    auto const at = [](auto* p) { return &p->value; };
    bound b;
    b.param = view_of(at(memory<own<Param, 0>>()), shape);
    b.grad = view_of<Grad const>(at(memory<own<Grad, 1>>()), shape);
    if constexpr (tieropt::keeps_momentum<typename Tier::momentum>) {
      b.momentum = view_of(at(memory<own<typename bound::momentum_type, 2>>()), shape);
    }
    extents rows = shape, cols = shape;
    if (Tier::variance::factored && shape.size() > 1) {
      rows.pop_back();
      cols.erase(cols.end() - 2);
      b.variance.row = view_of(at(memory<own<typename bound::variance_type, 3>>()), rows);
      b.variance.col = view_of(at(memory<own<typename bound::variance_type, 4>>()), cols);
    } else {
      b.variance.exact = view_of(at(memory<own<typename bound::variance_type, 5>>()), shape);
    }
    bool const one = Tier::step_scope == tieropt::scope::tensor;
    b.step = tieropt::view(at(memory<own<std::int64_t, 6>>()), one ? 1 : matrices(shape));
    return b;
  }
  static std::int64_t matrices(extents const& shape) {
    std::int64_t n = 1;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) n *= shape[i];
    return n;
  }
};

/// Every third tensor is empty; the first that is not stands in place 1.
extents shape_of(std::int64_t i) {
  static std::vector<extents> const some{{3, 5}, {130, 1030}, {7},    {2, 3, 4},
                                         {1, 1}, {},          {2049}, {5, 2, 2, 3}};
  static std::vector<extents> const empty{{0, 4}, {0}, {5, 0}, {2, 0, 3}};
  auto const at = [](auto const& list, std::int64_t k) {
    return list[static_cast<std::size_t>(k) % list.size()];
  };
  return i % 3 == 0 ? at(empty, i / 3) : at(some, i - i / 3 - 1);
}

/// Five ranges of n tensors each, with their number of matrices that are not empty.
struct ranges {
  std::vector<fake<backbone, bf16, bf16>::bound> a;
  std::vector<fake<backbone, bf16, float>::bound> b;
  std::vector<fake<experts, fp16, fp16>::bound> c;
  std::vector<fake<router, float, float>::bound> d;
  std::vector<fake<adamw, float, bf16>::bound> e;
  std::int64_t tensors = 0, matrices = 0;

  explicit ranges(std::int64_t n) {
    for (std::int64_t i = n == 1; i < n + (n == 1); ++i) {  // a single one is not empty
      extents const shape = shape_of(i);
      a.push_back(fake<backbone, bf16, bf16>::bind(shape));
      b.push_back(fake<backbone, bf16, float>::bind(shape));
      c.push_back(fake<experts, fp16, fp16>::bind(shape));
      d.push_back(fake<router, float, float>::bind(shape));
      e.push_back(fake<adamw, float, bf16>::bind(shape));
      if (a.back().param.size() > 0) {
        ++tensors;
        matrices += fake<adamw, float, bf16>::matrices(shape);
      }
    }
  }
  auto plan(tieropt::schedule how = {}) const {
    return tieropt::make_plan<policy>(how, a, b, c, d, e);
  }
};

/// The passes of the five ranges, begin_step and commit_steps left out: a clipped factored tier has
/// five, a clipped exact one three, an unclipped exact one one.
constexpr int passes[] = {5, 5, 5, 3, 1};

/// Prepares and takes one step.
template <class Plan>
record step(Plan const& plan) {
  record preparing, notes;
  notes.launches.reserve(1 << 20);
  std::unique_ptr<std::max_align_t[]> const bytes{
      new std::max_align_t[plan.workspace_bytes() / sizeof(std::max_align_t) + 1]};
  cuda::std::span<std::byte> const workspace{reinterpret_cast<std::byte*>(bytes.get()),
                                             plan.workspace_bytes()};
  tieropt::hyper const hypers[] = {{}};
  REQUIRE(prepare(recorder{&preparing}, plan, workspace));
  REQUIRE(preparing.launches.empty());
  std::int64_t const before = allocations;
  bool const done = static_cast<bool>(enqueue(recorder{&notes}, plan, workspace, hypers));
  std::int64_t const after = allocations;
  REQUIRE(done);
  REQUIRE(after == before);  // enqueue allocates nothing
  REQUIRE(notes.uploads.empty());
  notes.uploads = preparing.uploads;
  return notes;
}

}  // namespace

TEST_CASE("a streaming step over 1, 384 and 20,000 tensors takes the same launches", "[launches]") {
  std::vector<std::size_t> expected;
  for (std::int64_t const n : {1, 384, 20000}) {
    ranges const all{n};
    auto const plan = all.plan();
    REQUIRE(plan.has_value());
    record const notes = step(*plan);
    INFO(n << " tensors in each of 5 ranges");
    CHECK(notes.launches.size() == 7 + 7 + 7 + 5 + 3);
    CHECK(plan->launches() == 7 + 7 + 7 + 5 + 3);
    // The arguments of every kernel have the size that they have for one tensor.
    if (n == 1) expected = notes.launches;
    CHECK(notes.launches == expected);
    for (std::size_t const bytes : notes.launches) CHECK(bytes <= 4096);
  }
}

TEST_CASE("a range takes at most 7 launches, and those of its tier", "[launches]") {
  ranges const all{384};
  auto const launches = [](auto const& range) {
    auto const plan = tieropt::make_plan<policy>(range);
    REQUIRE(plan.has_value());
    auto const n = static_cast<std::int64_t>(step(*plan).launches.size());
    CHECK(n == plan->launches());
    return n;
  };
  CHECK(launches(all.a) == 7);
  CHECK(launches(all.b) == 7);
  CHECK(launches(all.c) == 7);
  CHECK(launches(all.d) == 5);
  CHECK(launches(all.e) == 3);
}

TEST_CASE("ranges of nothing but empty tensors take no launch", "[launches]") {
  ranges all{384};
  for (std::int64_t i = 0; i < 384; ++i) {
    all.b[static_cast<std::size_t>(i)] = fake<backbone, bf16, float>::bind({0, i});
  }
  all.d.clear();
  auto const plan = all.plan();
  REQUIRE(plan.has_value());
  CHECK(plan->launches() == 7 + 7 + 3);
  CHECK(step(*plan).launches.size() == 7 + 7 + 3);
}

TEST_CASE("a cache-resident step takes the launches that its plan predicts", "[launches]") {
  for (std::int64_t const n : {1, 384, 20000}) {
    ranges const all{n};
    INFO(n << " tensors in each of 5 ranges");
    for (std::int64_t const cache :
         {std::int64_t{0}, std::int64_t{1} << 16, std::int64_t{1} << 40}) {
      auto const plan = all.plan(tieropt::cache_resident(cache));
      REQUIRE(plan.has_value());
      INFO("cache of " << cache << " bytes");
      auto const launches = static_cast<std::int64_t>(step(*plan).launches.size());
      CHECK(launches == plan->launches());
      // No cache: each matrix (of the tensor-wide clip, each tensor) is a group of its own.
      std::int64_t expected = 0;
      for (int range = 0; range < 5; ++range) {
        std::int64_t const groups = range == 2 ? all.tensors : all.matrices;
        expected += 2 + passes[range] * groups;
      }
      if (cache == 0) CHECK(launches == expected);
      if (cache == std::int64_t{1} << 40) CHECK(launches == 7 + 7 + 7 + 5 + 3);
      if (cache == 1 << 16 && n > 1) {
        CHECK(launches < expected);
        CHECK(launches > 29);
      }
    }
  }
}

TEST_CASE("prepare uploads tables in chunks of 32 tensors", "[launches]") {
  for (std::int64_t const n : {1, 32, 33, 384, 20000}) {
    ranges const all{n};
    auto const plan = all.plan();
    REQUIRE(plan.has_value());
    std::vector<std::size_t> const uploads = step(*plan).uploads;
    INFO(n << " tensors in each of 5 ranges");
    // Entries and addresses of the gradients.
    CHECK(static_cast<std::int64_t>(uploads.size()) == 5 * 2 * ((n + 31) / 32));
    std::size_t bytes = 0;
    // Entries with a momentum and an exact second moment have the most operands.
    std::size_t const largest =
        sizeof(tieropt::tensor_entry<fake<adamw, float, bf16>::bound::parts>);
    for (std::size_t const u : uploads) {
      bytes += u;
      CHECK(u <= 32 * largest);
    }
    using tieropt::tensor_entry;
    std::size_t const each = sizeof(tensor_entry<fake<backbone, bf16, bf16>::bound::parts>) +
                             sizeof(tensor_entry<fake<backbone, bf16, float>::bound::parts>) +
                             sizeof(tensor_entry<fake<experts, fp16, fp16>::bound::parts>) +
                             sizeof(tensor_entry<fake<router, float, float>::bound::parts>) +
                             sizeof(tensor_entry<fake<adamw, float, bf16>::bound::parts>) +
                             5 * sizeof(void*);
    CHECK(bytes == static_cast<std::size_t>(n) * each);
  }
}

TEST_CASE("20,000 tensors in one plan take the bits of each one alone", "[launches]") {
  std::vector<extents> shapes;
  for (std::int64_t i = 0; i < 20000; ++i) {
    extents shape = shape_of(i);
    if (shape == extents{130, 1030}) shape = {2, 9};
    if (shape == extents{2049}) shape = {17};
    shapes.push_back(shape);
  }
  testing::model<backbone, bf16, bf16> together{shapes}, alone{shapes};
  REQUIRE(together.run(tieropt::serial_executor{}, 1) == "");
  for (auto& tensor : alone.tensors) {
    tensor.new_gradient(0);
    std::vector one{tensor.whole()};
    REQUIRE(testing::step_of<backbone>(tieropt::serial_executor{}, one, alone.hyper,
                                       {.seed = alone.seed}) == "");
  }
  CHECK(together.difference(alone) == "");
}
