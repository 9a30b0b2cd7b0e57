// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bad input: each kind its own code and sentence, before anything is written.

#include "support/catch.hpp"
#include "support/model.hpp"

#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace {

using backbone = tieropt::skewadam::corrected::backbone;
using published = tieropt::skewadam::published::experts;
using router = tieropt::skewadam::corrected::router;
using tieropt::bf16;
using tieropt::errc;

struct no_vectors : tieropt::tier {
  using variance = tieropt::factored_variance<float>;
  using vector_variance = tieropt::refuse;
};

tieropt::serial_executor const executor;
double const not_a_number = std::numeric_limits<double>::quiet_NaN();
double const infinity = std::numeric_limits<double>::infinity();

/// A plan's error for one tensor, or errc::ok.
template <class Tier, class Bound>
tieropt::status planned(Bound const& b) {
  std::vector<Bound> const tensors{b};
  auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(tensors);
  return plan ? tieropt::status{} : plan.error();
}

using tensor = testing::owned_tensor<backbone, bf16, bf16>;
using bound = tensor::bound;

/// A good tensor (2, 3, 5), one change, and the code that it must give.
struct plan_case {
  char const* what;
  errc code;
  std::function<void(tensor&, bound&)> change;
};

template <class T>
T* odd(T* p) {  // one byte further
  return reinterpret_cast<T*>(reinterpret_cast<char*>(p) + 1);
}

std::vector<plan_case> plan_cases() {
  static float floats[64];
  static int masks[8];
  static std::int64_t counts[8];
  return {
      {"no param", errc::shape, [](auto&, auto& b) { b.param = {}; }},
      {"param without memory", errc::null_buffer, [](auto&, auto& b) { b.param.data = nullptr; }},
      {"momentum without memory", errc::null_buffer,
       [](auto&, auto& b) { b.momentum.data = nullptr; }},
      {"row without memory", errc::null_buffer,
       [](auto&, auto& b) { b.variance.row.data = nullptr; }},
      {"col without memory", errc::null_buffer,
       [](auto&, auto& b) { b.variance.col.data = nullptr; }},
      {"step without memory", errc::null_buffer, [](auto&, auto& b) { b.step.data = nullptr; }},
      {"active without memory", errc::null_buffer,
       [](auto&, auto& b) { b.active = tieropt::view(static_cast<int const*>(nullptr), 2); }},
      {"param at an odd address", errc::misaligned_buffer,
       [](auto&, auto& b) { b.param.data = odd(b.param.data); }},
      {"grad at an odd address", errc::misaligned_buffer,
       [](auto& t, auto& b) { b.grad.data = odd(t.grad.data()); }},
      {"momentum at an odd address", errc::misaligned_buffer,
       [](auto&, auto& b) { b.momentum.data = odd(b.momentum.data); }},
      {"step at an odd address", errc::misaligned_buffer,
       [](auto&, auto& b) { b.step.data = odd(b.step.data); }},
      {"9 dimensions", errc::rank, [](auto&, auto& b) { b.param.rank = 9; }},
      {"grad with another number of columns", errc::shape,
       [](auto&, auto& b) { b.grad.extent[2] = 4; }},
      {"grad with rows and columns swapped", errc::shape,
       [](auto&, auto& b) { b.grad.extent[1] = 5, b.grad.extent[2] = 3; }},
      {"grad with another number of matrices", errc::shape,
       [](auto&, auto& b) { b.grad.extent[0] = 1; }},
      {"momentum left out", errc::shape, [](auto&, auto& b) { b.momentum = {}; }},
      {"momentum of another shape", errc::shape, [](auto&, auto& b) { b.momentum.extent[1] = 2; }},
      {"row left out", errc::shape, [](auto&, auto& b) { b.variance.row = {}; }},
      {"col left out", errc::shape, [](auto&, auto& b) { b.variance.col = {}; }},
      {"row and col swapped", errc::shape,
       [](auto&, auto& b) { std::swap(b.variance.row, b.variance.col); }},
      {"row with (R, E) for (E, R)", errc::shape,
       [](auto&, auto& b) { b.variance.row = tieropt::view(b.variance.row.data, 3, 2); }},
      {"exact for row and col", errc::shape,
       [](auto&, auto& b) {
         b.variance = {};
         b.variance.exact = tieropt::view(floats, 2, 3, 5);
       }},
      {"step left out", errc::shape, [](auto&, auto& b) { b.step = {}; }},
      {"one step for two matrices", errc::shape,
       [](auto&, auto& b) { b.step = tieropt::view(counts, 1); }},
      {"active for three matrices", errc::shape,
       [](auto&, auto& b) { b.active = tieropt::view(static_cast<int const*>(masks), 3); }},
      {"a negative extent", errc::shape, [](auto&, auto& b) { b.param.extent[1] = -3; }},
      {"a negative stride", errc::layout, [](auto&, auto& b) { b.param.stride[2] = -1; }},
      {"row with gaps", errc::layout, [](auto&, auto& b) { b.variance.row.stride[1] = 2; }},
      {"step with gaps", errc::layout, [](auto&, auto& b) { b.step.stride[0] = 2; }},
      {"param rows that overlap", errc::overlapping_strides,
       [](auto&, auto& b) { b.param.stride[1] = 4; }},
      {"param broadcast along a row", errc::overlapping_strides,
       [](auto&, auto& b) { b.param.stride[2] = 0; }},
      {"param matrices on top of each other", errc::overlapping_strides,
       [](auto&, auto& b) { b.param.stride[0] = 0; }},
      {"momentum rows that overlap", errc::overlapping_strides,
       [](auto&, auto& b) { b.momentum.stride[1] = 3; }},
      {"grad in the param's memory", errc::aliasing,
       [](auto& t, auto& b) { b.grad.data = t.param.data(); }},
      {"grad that begins inside the param", errc::aliasing,
       [](auto& t, auto& b) { b.grad.data = t.param.data() + 29; }},
      {"momentum in the grad's memory", errc::aliasing,
       [](auto& t, auto& b) { b.momentum.data = reinterpret_cast<float*>(t.grad.data()); }},
      {"row in the momentum's memory", errc::aliasing,
       [](auto& t, auto& b) { b.variance.row.data = t.momentum.data() + 7; }},
      {"row and col in one place", errc::aliasing,
       [](auto& t, auto& b) { b.variance.row.data = t.col.data() + 9; }},
      {"active in the step's memory", errc::aliasing,
       [](auto& t, auto& b) {
         b.active = tieropt::view(reinterpret_cast<int const*>(t.step.data()) + 2, 2);
       }},
      {"a negative group", errc::hyper_group, [](auto&, auto& b) { b.group = -1; }},
      {"more elements than 64 bits count", errc::too_large,
       [](auto&, auto& b) { b.param.extent[0] = b.param.extent[1] = std::int64_t{1} << 40; }},
      {"strides beyond the address space", errc::too_large,
       [](auto&, auto& b) { b.param.stride[0] = std::int64_t{1} << 61; }},
  };
}

}  // namespace

TEST_CASE("make_plan refuses every bad view with its own code", "[bad input]") {
  for (auto const& c : plan_cases()) {
    tensor t{{2, 3, 5}, 1};
    t.new_gradient(0);
    tensor const before = t;
    bound b = t.whole();
    REQUIRE(planned<backbone>(b));
    c.change(t, b);
    INFO(c.what << ", tensor at fault is the third of five");
    std::vector<bound> const tensors{t.whole(), t.whole(), b, t.whole(), t.whole()};
    auto const plan = tieropt::make_plan<tieropt::tier_policy<backbone>>(tensors);
    REQUIRE_FALSE(plan.has_value());
    INFO("refused with: " << tieropt::message(plan.error()));
    CHECK(plan.error().code == c.code);
    CHECK(plan.error().range == 0);
    CHECK(plan.error().tensor == 2);
    CHECK(t.difference(before) == "");
    CHECK(t.grad == before.grad);
  }
}

TEST_CASE("a status names the range at fault", "[bad input]") {
  testing::owned_tensor<router, float, float> good{{4, 4}, 1}, bad{{4, 4}, 2};
  tensor first{{2, 3, 5}, 3};
  std::vector<bound> const a{first.whole()};
  std::vector b{good.whole(), bad.whole()};
  b[1].variance.exact.data = nullptr;
  auto const plan = tieropt::make_plan<tieropt::skewadam::corrected::policy>(a, b);
  REQUIRE_FALSE(plan.has_value());
  CHECK(plan.error().code == errc::null_buffer);
  CHECK(plan.error().range == 1);
  CHECK(plan.error().tensor == 1);
}

TEST_CASE("views that split their matrices differently are refused", "[bad input]") {
  testing::owned_tensor<router, float, float> t{{2, 3, 4, 5}, 1};
  auto b = t.whole();
  REQUIRE(planned<router>(b));
  std::swap(b.param.stride[0], b.param.stride[1]);
  CHECK(planned<router>(b));  // six matrices of two strides
  auto& exact = b.variance.exact;
  std::swap(exact.extent[0], exact.extent[1]);
  exact.stride[0] = 20;
  exact.stride[1] = 60;
  CHECK(planned<router>(b).code == errc::layout);  // three times two and two times three share no parts
}

TEST_CASE("a vector is refused where the tier says so", "[bad input]") {
  testing::owned_tensor<no_vectors, float, float> vector{{7}, 1}, matrix{{1, 7}, 1};
  CHECK(planned<no_vectors>(vector.whole()).code == errc::rank);
  CHECK(planned<no_vectors>(matrix.whole()));
}

TEST_CASE("active is refused where clip or step span the tensor", "[bad input]") {
  testing::owned_tensor<published, bf16, bf16> t{{3, 4, 5}, 1};
  std::vector<int> const mask(3, 1);
  auto b = t.whole();
  REQUIRE(planned<published>(b));
  b.active = tieropt::view(mask.data(), 3);
  CHECK(planned<published>(b).code == errc::active_scope);
}

TEST_CASE("views that interleave without sharing an element are accepted", "[bad input]") {
  // Parameter and gradient as the two halves of every row of one buffer, and element by element.
  testing::owned_tensor<router, float, float> t{{3, 5}, 1};
  std::vector<float> both(30);
  auto b = t.whole();
  for (std::int64_t const apart : {5, 1}) {
    b.param.data = both.data();
    b.grad.data = both.data() + apart;
    for (auto* stride : {b.param.stride, b.grad.stride}) {
      stride[0] = 10;
      stride[1] = apart == 5 ? 1 : 2;
    }
    INFO("apart by " << apart);
    CHECK(planned<router>(b));
  }
  b.grad.data = both.data() + 2;  // on top of the parameter's second element
  CHECK(planned<router>(b).code == errc::aliasing);
}

TEST_CASE("interleaving is seen in any order of the strides", "[bad input]") {
  struct arrangement {
    std::vector<int64_t> extents, strides;
    int64_t apart, shared;  // distances of the gradient without and with a shared element
  };
  std::vector<float> both(400);
  for (auto const& [extents, strides, apart, shared] :
       std::vector<arrangement>{{{10}, {2}, 1, 4},                 // a vector of pairs
                                {{2, 1, 10}, {20, 20, 2}, 1, 18},  // one row
                                {{2, 1, 10}, {20, 10, 1}, 10, 9},  // matrices
                                {{5, 2}, {1, 10}, 5, 14},          // the halves of columns
                                {{3, 5, 2}, {20, 1, 10}, 5, 24},   // the same in a stack
                                {{2, 3, 4}, {1, 2, 6}, 24, 7}}) {  // matrices side by side
    testing::owned_tensor<router, float, float> t{extents, 1};
    auto b = t.whole();
    b.param.data = both.data();
    for (std::size_t i = 0; i < extents.size(); ++i)
      b.param.stride[i] = b.grad.stride[i] = strides[i];
    INFO("extents " << Catch::Detail::stringify(extents));
    b.grad.data = both.data() + apart;
    CHECK(planned<router>(b));
    b.grad.data = both.data() + shared;
    CHECK(planned<router>(b).code == errc::aliasing);
  }
}

TEST_CASE("an empty tensor may have extents beyond all counts", "[bad input]") {
  testing::owned_tensor<router, float, float> t{{0, 3, 4}, 1};
  auto b = t.whole();
  for (auto* extent : {b.param.extent, b.grad.extent, b.variance.exact.extent}) {
    extent[1] = extent[2] = std::int64_t{1} << 40;
  }
  CHECK(planned<router>(b));
}

TEST_CASE("a gradient may be broadcast: it is only read", "[bad input]") {
  testing::owned_tensor<router, float, float> t{{3, 5}, 1};
  auto b = t.whole();
  b.grad.stride[0] = 0;
  CHECK(planned<router>(b));
}

namespace {

/// A good plan of one tensor; enqueue with one change must give a code and write nothing.
struct prepared {
  tensor t{{2, 3, 5}, 1};
  std::vector<bound> tensors;
  std::vector<tieropt::hyper> hypers{{.lr = 0.1}};
  tieropt::step_inputs inputs;

  prepared() {
    t.new_gradient(0);
    tensors.push_back(t.whole());
  }
  tieropt::status enqueue() {
    auto const plan = tieropt::make_plan<tieropt::tier_policy<backbone>>(tensors);
    REQUIRE(plan.has_value());
    testing::scratch memory{plan->workspace_bytes()};
    REQUIRE(tieropt::prepare(executor, *plan, memory));
    cuda::std::span<std::byte> const workspace = memory;
    std::vector<std::byte> const was(workspace.begin(), workspace.end());
    tensor const before = t;
    tieropt::status const s = tieropt::enqueue(executor, *plan, workspace, hypers, inputs);
    if (!s) {
      CHECK(t.difference(before) == "");
      CHECK(t.grad == before.grad);
      CHECK(std::memcmp(was.data(), workspace.data(), was.size()) == 0);
    } else {
      CHECK(t.difference(before) != "");
    }
    return s;
  }
};

}  // namespace

TEST_CASE("enqueue refuses every bad hyperparameter before it writes", "[bad input]") {
  struct {
    char const* what;
    double tieropt::hyper::*member;
    double value;
    errc code;
  } const cases[] = {
      {"lr NaN", &tieropt::hyper::lr, not_a_number, errc::hyper_not_finite},
      {"lr infinite", &tieropt::hyper::lr, infinity, errc::hyper_not_finite},
      {"beta1 NaN", &tieropt::hyper::beta1, not_a_number, errc::hyper_not_finite},
      {"beta1 of 1", &tieropt::hyper::beta1, 1, errc::hyper_beta},
      {"beta1 negative", &tieropt::hyper::beta1, -0.1, errc::hyper_beta},
      {"beta2 infinite", &tieropt::hyper::beta2, -infinity, errc::hyper_not_finite},
      {"beta2 of 1", &tieropt::hyper::beta2, 1, errc::hyper_beta},
      {"beta2 above 1", &tieropt::hyper::beta2, 1.5, errc::hyper_beta},
      {"beta2 negative", &tieropt::hyper::beta2, -1e-300, errc::hyper_beta},
      {"eps NaN", &tieropt::hyper::eps, not_a_number, errc::hyper_not_finite},
      {"eps of 0", &tieropt::hyper::eps, 0, errc::hyper_eps},
      {"eps negative", &tieropt::hyper::eps, -2, errc::hyper_eps},
      {"eps below the normal floats", &tieropt::hyper::eps, 1e-39, errc::hyper_eps},
      {"clip infinite", &tieropt::hyper::clip, infinity, errc::hyper_not_finite},
      {"clip of 0", &tieropt::hyper::clip, 0, errc::hyper_clip},
      {"clip negative", &tieropt::hyper::clip, -1, errc::hyper_clip},
      {"weight decay NaN", &tieropt::hyper::weight_decay, not_a_number, errc::hyper_not_finite},
      {"weight decay infinite", &tieropt::hyper::weight_decay, infinity, errc::hyper_not_finite},
      {"lr beyond float", &tieropt::hyper::lr, 1e39, errc::hyper_not_finite},
      {"weight decay beyond float", &tieropt::hyper::weight_decay, 1e39, errc::hyper_not_finite},
      {"eps beyond float", &tieropt::hyper::eps, 1e39, errc::hyper_not_finite},
      {"clip below the floats", &tieropt::hyper::clip, 1e-320, errc::hyper_clip},
      {"eps2 below the floats", &tieropt::hyper::eps2, 1e-300, errc::hyper_adafactor},
      {"beta2 decay NaN", &tieropt::hyper::beta2_decay, not_a_number, errc::hyper_not_finite},
      {"beta2 decay of 0", &tieropt::hyper::beta2_decay, 0, errc::hyper_adafactor},
      {"beta2 decay negative", &tieropt::hyper::beta2_decay, -0.8, errc::hyper_adafactor},
      {"eps2 infinite", &tieropt::hyper::eps2, infinity, errc::hyper_not_finite},
      {"eps2 of 0", &tieropt::hyper::eps2, 0, errc::hyper_adafactor},
      {"eps2 negative", &tieropt::hyper::eps2, -1e-3, errc::hyper_adafactor},
  };
  for (auto const& c : cases) {
    INFO(c.what);
    prepared p;
    p.hypers = {{}, {}, {}};
    p.hypers[1].*c.member = c.value;
    tieropt::status const s = p.enqueue();
    CHECK(s.code == c.code);
    CHECK(s.tensor == 1);
  }
}

TEST_CASE("hyperparameters at the edge of their range are accepted", "[bad input]") {
  prepared p;
  p.hypers[0] = {.lr = -1, .beta1 = 0, .beta2 = 0, .eps = 1e-37, .clip = 1e-30};
  CHECK(p.enqueue());
  p.hypers[0] = {.beta1 = 1 - 0x1p-53, .beta2 = 1 - 0x1p-53, .weight_decay = -1};
  CHECK(p.enqueue());
}

TEST_CASE("enqueue refuses groups without hyperparameters and too many groups", "[bad input]") {
  prepared p;
  p.tensors[0].group = 1;
  CHECK(p.enqueue().code == errc::hyper_group);
  p.hypers.resize(2);
  CHECK(p.enqueue());
  p.hypers.resize(32);
  CHECK(p.enqueue());
  p.hypers.resize(33);
  CHECK(p.enqueue().code == errc::hyper_groups);
  p.hypers.clear();
  CHECK(p.enqueue().code == errc::hyper_group);
}

TEST_CASE("enqueue refuses bad inputs of the step", "[bad input]") {
  prepared p;
  for (double const bad : {not_a_number, infinity}) {
    p.inputs = {.grad_scale = bad};
    CHECK(p.enqueue().code == errc::hyper_not_finite);
    p.inputs = {.clip_factor = bad};
    CHECK(p.enqueue().code == errc::hyper_not_finite);
  }
  for (double const bad : {0.0, -1.0}) {
    p.inputs = {.grad_scale = bad};
    CHECK(p.enqueue().code == errc::input_scale);
    p.inputs = {.clip_factor = bad};
    CHECK(p.enqueue().code == errc::input_scale);
  }
  p.inputs = {.grad_scale = 1e-60};  // its inverse is beyond float
  CHECK(p.enqueue().code == errc::input_scale);
}

TEST_CASE("a workspace that is too small or starts at an odd place is refused", "[bad input]") {
  prepared p;
  tensor const before = p.t;
  auto const plan = tieropt::make_plan<tieropt::tier_policy<backbone>>(p.tensors);
  REQUIRE(plan.has_value());
  std::size_t const bytes = plan->workspace_bytes();
  testing::scratch memory{bytes + 64};
  cuda::std::span<std::byte> const all = memory;
  std::vector<std::byte> const was(all.begin(), all.end());
  bf16 const* const grads[] = {p.t.grad.data()};
  auto const refused = [&](cuda::std::span<std::byte> workspace, errc code) {
    CHECK(tieropt::prepare(executor, *plan, workspace).code == code);
    CHECK(tieropt::rebind_grads(executor, *plan, workspace, grads).code == code);
    CHECK(tieropt::enqueue(executor, *plan, workspace, p.hypers).code == code);
    tieropt::step_inputs const inputs;
    CHECK(tieropt::enqueue(executor, *plan, workspace,
                           tieropt::resident<tieropt::hyper>{p.hypers.data()},
                           tieropt::resident<tieropt::step_inputs>{&inputs})
              .code == code);
  };
  refused(all.first(bytes - 1), errc::workspace_size);
  refused({}, errc::workspace_size);
  refused(all.subspan(8, bytes), errc::workspace_alignment);
  refused(all.subspan(1, bytes), errc::workspace_alignment);
  CHECK(std::memcmp(was.data(), all.data(), was.size()) == 0);
  CHECK(p.t.difference(before) == "");
}

TEST_CASE("a list of gradients must fit its range", "[bad input]") {
  prepared p;
  auto const plan = tieropt::make_plan<tieropt::tier_policy<backbone>>(p.tensors);
  REQUIRE(plan.has_value());
  testing::scratch memory{plan->workspace_bytes()};
  REQUIRE(tieropt::prepare(executor, *plan, memory));
  cuda::std::span<std::byte> const workspace = memory;
  std::vector<std::byte> const was(workspace.begin(), workspace.end());
  std::vector<bf16 const*> grads(2, p.t.grad.data());
  CHECK(tieropt::rebind_grads(executor, *plan, workspace, grads).code == errc::grad_list);
  grads.clear();
  CHECK(tieropt::rebind_grads(executor, *plan, workspace, grads).code == errc::grad_list);
  grads = {odd(p.t.grad.data())};
  CHECK(tieropt::rebind_grads(executor, *plan, workspace, grads).code == errc::misaligned_buffer);
  CHECK(std::memcmp(was.data(), workspace.data(), was.size()) == 0);
  grads = {nullptr};
  CHECK(tieropt::rebind_grads(executor, *plan, workspace, grads));
}

TEST_CASE("resident hyperparameters need an address", "[bad input]") {
  prepared p;
  tensor const before = p.t;
  auto const plan = tieropt::make_plan<tieropt::tier_policy<backbone>>(p.tensors);
  REQUIRE(plan.has_value());
  testing::scratch memory{plan->workspace_bytes()};
  REQUIRE(tieropt::prepare(executor, *plan, memory));
  tieropt::step_inputs const inputs;
  tieropt::resident<tieropt::hyper> const hypers{p.hypers.data()};
  CHECK(tieropt::enqueue(executor, *plan, memory, tieropt::resident<tieropt::hyper>{},
                         tieropt::resident<tieropt::step_inputs>{&inputs})
            .code == errc::null_buffer);
  CHECK(tieropt::enqueue(executor, *plan, memory, hypers, tieropt::resident<tieropt::step_inputs>{})
            .code == errc::null_buffer);
  CHECK(p.t.difference(before) == "");
}

TEST_CASE("every code has a sentence of its own", "[bad input]") {
  std::set<std::string> sentences;
  int const last = static_cast<int>(errc::product);
  for (int i = 0; i <= last; ++i) {
    std::string const text = tieropt::message(static_cast<errc>(i));
    INFO(i << ": " << text);
    CHECK(text.size() > 7);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text != "unknown error");
    sentences.insert(text);
  }
  CHECK(sentences.size() == static_cast<std::size_t>(last) + 1);
  CHECK(std::string{tieropt::message(static_cast<errc>(last + 1))} == "unknown error");
  CHECK(std::string{tieropt::message(tieropt::status{errc::shape})} ==
        tieropt::message(errc::shape));
  CHECK_FALSE(tieropt::status{errc::shape});
  CHECK(tieropt::status{});
}
