// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What narrow states lose over 1,000 steps, and that they never stall.

#include "support/catch.hpp"
#include "support/storage_engine.hpp"

#include <cmath>
#include <cstdio>

namespace {

using namespace testing::stored;
using namespace testing::stored::names;

constexpr std::int64_t columns = 1024, n = 4 * columns;

constexpr row with_momentum(kind k, bool nearest = false) {
  return {f32, f32, k, v0, own, pass1, rn, nearest, prop};
}
constexpr row with_variance(variance_storage v, bool nearest = false) {
  return {f32, f32, m0, v, own, pass1, rn, nearest, prop};
}
constexpr kind state_of(row const& r) { return r.keeps() ? r.momentum : r.variance_as(); }

/// The larger distance of a level to its neighbours, in a group with a scale.
double gap(kind k, double x, double scale) {
  if (!is_quantised(k)) return format_of(k).quantum(x);
  double const a = std::fabs(x), top = top_level(k) * scale;
  double const up = level_above(k, std::fmin(a * (1 + 1e-6) + 1e-9 * scale, top), scale);
  double const down = level_below(k, std::fmax(a * (1 - 1e-6) - 1e-9 * scale, 0.0), scale);
  return std::fmax(up - a, a - down);
}

/// A tensor with its state in a row's storage.
struct subject {
  std::vector<bundle> tensors;
  std::unique_ptr<runner> run;
  kind state;

  cells& elements() {
    return tensors[0].momentum.size() > 0 ? tensors[0].momentum : tensors[0].exact;
  }
  cells& scales() {
    return tensors[0].momentum.size() > 0 ? tensors[0].momentum_scale : tensors[0].exact_scale;
  }
  double scale(std::int64_t i) {
    return is_quantised(state) ? decode(kind::f32, scales().at(i / group_size)) : 1;
  }
  double value(std::int64_t i) { return decode(state, elements().at(i), scale(i)); }
};

template <row Row>
subject subject_of() {
  subject s;
  s.state = state_of(Row);
  bundle b;
  source random{1};
  b.shape = shape::of({n / columns, columns});
  auto const make = [&](int bytes, shape const& of) {
    return cells{bytes, of, layout_kind::dense, random};
  };
  b.param = make(4, b.shape), b.grad = make(4, b.shape);
  b.step = make(8, shape::of({1}));
  (Row.keeps() ? b.momentum : b.exact) = make(size_of(s.state), b.shape);
  if (is_quantised(s.state)) {
    (Row.keeps() ? b.momentum_scale : b.exact_scale) =
        make(4, b.shape.with_columns(columns / group_size));
  }
  s.tensors.push_back(std::move(b));
  s.run = make_runner<Row, false>(s.tensors, {}, place::serial);
  REQUIRE(s.run->prepare() == "");
  return s;
}

void put_gradient(subject& s, int k, double magnitude) {
  for (std::int64_t i = 0; i < n; ++i) {
    double const x =
        magnitude * bell(11 + static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(i));
    s.tensors[0].grad.put(i, encode(kind::f32, x));
  }
}

/// 1,000 steps of an average of random gradients, stored narrow and in double. Each storing adds an
/// error of mean 0 and of a variance of at most a quarter of the squared gap between the levels;
/// an error of a step decays by beta1 in each later one.
template <row Row>
void check_average(char const* name) {
  constexpr double beta1 = 0.9;
  subject narrow = subject_of<Row>();
  testing::reference::hyper const h{.lr = 1e-3, .beta1 = beta1, .eps = 1e-8};
  std::vector<double> exact(n), variance(n), reach(n);
  double worst = 0, squares = 0, sizes = 0, of_bound = 0, largest_ratio = 0, bias = 0, spread = 0;
  for (int k = 0; k < 1000; ++k) {
    put_gradient(narrow, k, 1);
    REQUIRE(narrow.run->step(h, {}, 5) == "");
    double ratio = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      std::size_t const at = static_cast<std::size_t>(i);
      double const g = decode(kind::f32, narrow.tensors[0].grad.at(i));
      exact[at] = beta1 * exact[at] + (1 - beta1) * g;
      double const got = narrow.value(i), error = got - exact[at];
      double const step = gap(Row.momentum, got, narrow.scale(i));
      reach[at] = beta1 * reach[at] + step;
      variance[at] = beta1 * beta1 * variance[at] + step * step / 4;
      worst = std::fmax(worst, std::fabs(error));
      of_bound = std::fmax(of_bound, std::fabs(error) / reach[at]);
      squares += error * error, sizes += exact[at] * exact[at];
      ratio += error * error / variance[at] / n;
      bias += error, spread += variance[at];
    }
    if (k >= 20) largest_ratio = std::fmax(largest_ratio, ratio);
  }
  char text[200];
  std::snprintf(
      text, sizeof text,
      "%s momentum over 1,000 steps: RMS error %.2e of its RMS, largest %.2e; mean square "
      "%.2f of its bound; largest %.2f of its bound",
      name, std::sqrt(squares / sizes), worst, largest_ratio, of_bound);
  WARN(text);
  CHECK(of_bound <= 1.0001);  // and the float arithmetic
  CHECK(largest_ratio <= 1.2);
  CHECK(largest_ratio > 0.2);
  // Errors of one element stay for 1 / (1 - beta1) steps.
  CHECK(std::fabs(bias) < 5 * std::sqrt(spread * 20));
}

/// Without a gradient a state decays by beta in every step, on average.
template <row Row>
double decayed_to(double beta, int steps, double& sigma) {
  subject narrow = subject_of<Row>();
  kind const k = state_of(Row);
  testing::reference::hyper const h{.lr = 1e-3, .beta1 = beta, .beta2 = beta, .eps = 1e-8};
  double before = 0, after = 0;
  std::vector<double> variance(n);
  for (std::int64_t g = 0; is_quantised(k) && g < n / group_size; ++g) {
    narrow.scales().put(g, encode(kind::f32, 0.9 / top_level(k)));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    auto const u = static_cast<double>(mixed(13, static_cast<std::uint64_t>(i)) % 10007) / 10007;
    std::uint64_t code = 0;
    if (k == kind::softsign) code = 30 + static_cast<std::uint64_t>(u * 97);
    if (k == kind::root) code = 100 + static_cast<std::uint64_t>(u * 154);
    if (k != kind::softsign && k != kind::root) {
      code =
          encode(element_of_block(k), (0.3 + 0.6 * u) * (is_quantised(k) ? top_level(k) / 0.9 : 1));
    }
    narrow.elements().put(i, code);
    before += narrow.value(i);
    narrow.tensors[0].grad.put(i, 0);
  }
  for (int s = 0; s < steps; ++s) {
    REQUIRE(narrow.run->step(h, {}, 6) == "");
    for (std::int64_t i = 0; i < n; ++i) {
      double const step = gap(k, narrow.value(i), narrow.scale(i));
      double& v = variance[static_cast<std::size_t>(i)];
      v = beta * beta * v + step * step / 4;
    }
  }
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    after += narrow.value(i), sum += variance[static_cast<std::size_t>(i)];
  }
  sigma = std::sqrt(sum) / before;
  return after / before;
}

template <row Row>
void check_decay(char const* name) {
  constexpr int steps = 300;
  constexpr double beta = 0.9995;  // a change that is below half of every gap
  double sigma = 0;
  double const got = decayed_to<Row>(beta, steps, sigma), want = std::pow(beta, steps);
  INFO(name << ": " << got << ", wanted " << want << ", deviation " << sigma);
  CHECK(std::fabs(got - want) <= 5 * sigma + 1e-4);
  CHECK(sigma < 0.025);  // what stalls would be at 1
}

}  // namespace

TEST_CASE("the error of narrow momentum is bounded by its levels over 1,000 steps", "[states]") {
  check_average<with_momentum(soft)>("softsign int8");
  check_average<with_momentum(block)>("block-scaled e4m3");
  check_average<with_momentum(bf16)>("bf16");
  check_average<with_momentum(fp16)>("fp16");
  check_average<with_momentum(e4m3)>("e4m3");
}

TEST_CASE("a slow decay of a narrow state follows its beta", "[states]") {
  check_decay<with_momentum(soft)>("softsign int8");
  check_decay<with_momentum(block)>("block-scaled e4m3");
  check_decay<with_momentum(bf16)>("bf16");
  check_decay<with_momentum(fp16)>("fp16");
  check_decay<with_momentum(e4m3)>("e4m3");
  check_decay<with_variance(root)>("root uint8");
  check_decay<with_variance(vblk)>("block-scaled e5m2");
  check_decay<with_variance(vbf)>("bf16 variance");
}

TEST_CASE("rounded to nearest, a slow decay of a narrow state stalls", "[states]") {
  double sigma = 0;
  CHECK(decayed_to<with_momentum(bf16, true)>(0.9995, 300, sigma) == 1.0);
}
