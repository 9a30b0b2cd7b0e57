// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The example's models against finite differences, and the properties their training needs. All in
/// double: another type would compile the layers once more.

#include "moe/classifier.hpp"
#include "moe/model.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using moe::configuration;
using moe::language_model;
using moe::language_table;
using moe::tensor_table;
using moe::tensor_values;

/// Odd and unequal sizes, so that a mixed-up dimension cannot pass.
configuration small() {
  configuration c;
  c.vocabulary = 13;
  c.context = 5;
  c.batch = 3;
  c.width = 12;
  c.heads = 4;
  c.key_value_heads = 2;
  c.dense_hidden = 10;
  c.experts = 5;
  c.expert_hidden = 7;
  c.balance_weight = 0.5;
  return c;
}

/// Weights away from the symmetric start: every tensor, norms and router included, is random.
tensor_values<double> random_weights(tensor_table const& table, std::mt19937_64& bits) {
  std::uniform_real_distribution<double> spread(-0.6, 0.6);
  tensor_values<double> w(table);
  for (int id = 0; id < table.count(); ++id) {
    for (std::int64_t i = 0; i < table[id].size(); ++i) {
      w.elements(id)[i] = table[id].centre + spread(bits);
    }
  }
  return w;
}

moe::token_batch random_batch(configuration const& c, std::mt19937_64& bits) {
  moe::token_batch batch;
  for (int i = 0; i < c.tokens(); ++i) {
    batch.inputs.push_back(static_cast<int>(bits() % static_cast<unsigned>(c.vocabulary)));
    batch.targets.push_back(static_cast<int>(bits() % static_cast<unsigned>(c.vocabulary)));
  }
  return batch;
}

/// Five-point central difference of f at 0, error h^4 f^(5) / 30, and a bound of that error.
///
/// The stencil of step 2 h has 16 times the error, so the difference of the two is 15 times the
/// truncation error: the bound takes it whole. f's own rounding error `noise` enters with the
/// stencil's weights, (8 + 8 + 1 + 1) / 12 = 1.5 times noise / h. A jump of the routing inside the
/// stencil shows up as a large bound, which the caller refuses.
struct difference {
  double value, bound;
};
template <class F>
difference differentiate(F const& f) {
  double const h = 0x1p-9;
  double const noise = 0x1p-45;  // 32 ulp of a loss between 2 and 4
  double const near[] = {f(-h), f(h)}, middle[] = {f(-2 * h), f(2 * h)};
  double const far[] = {f(-4 * h), f(4 * h)};
  double const one = (8 * (near[1] - near[0]) - (middle[1] - middle[0])) / (12 * h);
  double const two = (8 * (middle[1] - middle[0]) - (far[1] - far[0])) / (24 * h);
  return {one, std::abs(two - one) + 1.5 * noise / h};
}

/// Largest error bound that still tells a wrong gradient from a right one.
constexpr double useful_bound = 1e-7;

tensor_values<double> unwritten(tensor_table const& table) {
  tensor_values<double> values(table);
  for (int id = 0; id < table.count(); ++id) {
    std::fill_n(values.elements(id), table[id].size(), std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

/// Every tensor of dw against differences of loss(), which reads w.
template <class F>
void check_gradients(tensor_table const& table, tensor_values<double>& w,
                     tensor_values<double> const& dw, std::mt19937_64& bits, F const& loss) {
  for (int id = 0; id < table.count(); ++id) {
    auto const n = table[id].size();
    double* const p = w.elements(id);
    double const* const g = dw.elements(id);
    INFO("tensor " << table[id].name);
    REQUIRE(std::all_of(g, g + n, [](double x) { return std::isfinite(x); }));

    for (int sample = 0; sample < 8; ++sample) {
      auto const i = static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
      double const start = p[i];
      auto const d = differentiate([&](double step) {
        p[i] = start + step;
        return loss();
      });
      p[i] = start;
      INFO("element " << i << " gradient " << g[i] << " difference " << d.value << " bound "
                      << d.bound);
      REQUIRE(d.bound < useful_bound);
      REQUIRE(std::abs(g[i] - d.value) <= d.bound);
    }

    // One random unit direction reaches all elements at once.
    std::normal_distribution<double> normal;
    std::vector<double> start(p, p + n), direction(static_cast<std::size_t>(n));
    double norm = 0;
    for (double& x : direction) {
      x = normal(bits);
      norm += x * x;
    }
    double along = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] /= std::sqrt(norm);
      along += direction[i] * g[i];
    }
    auto const d = differentiate([&](double step) {
      for (std::size_t i = 0; i < direction.size(); ++i) {
        p[i] = start[i] + step * direction[i];
      }
      return loss();
    });
    std::copy(start.begin(), start.end(), p);
    INFO("direction: gradient " << along << " difference " << d.value << " bound " << d.bound);
    REQUIRE(d.bound < useful_bound);
    REQUIRE(std::abs(along - d.value) <= d.bound);
    REQUIRE(std::abs(along) > 100 * d.bound);  // a tensor without influence would prove nothing
  }
}

}  // namespace

TEST_CASE("gradients of every parameter tensor agree with finite differences") {
  configuration const c = small();
  language_table const table(c);
  std::mt19937_64 bits{20};
  auto w = random_weights(table, bits);
  auto const batch = random_batch(c, bits);
  language_model<double> model(c, table);
  auto dw = unwritten(table);  // backward has to write every element
  model.forward(w, batch);
  model.backward(w, batch, dw);
  check_gradients(table, w, dw, bits, [&] {
    auto const l = model.forward(w, batch);
    return l.cross_entropy + c.balance_weight * l.balance;
  });
}

TEST_CASE("gradients of the classifier agree with finite differences") {
  configuration const c = small();
  moe::classifier_table const table(c, 6);
  std::mt19937_64 bits{25};
  auto w = random_weights(table, bits);
  auto const targets = random_batch(c, bits).targets;
  moe::matrix<double> inputs(c.tokens(), 6);
  std::normal_distribution<double> normal;
  std::generate_n(inputs.data(), inputs.size(), [&] { return normal(bits); });
  moe::classifier<double> model(c, table);
  auto dw = unwritten(table);
  model.forward(w, inputs, targets);
  model.backward(w, inputs, dw);
  check_gradients(table, w, dw, bits, [&] {
    auto const l = model.forward(w, inputs, targets);
    return l.cross_entropy + c.balance_weight * l.balance;
  });
}

TEST_CASE("an expert without tokens gets a zero gradient") {
  configuration c = small();
  c.batch = 1;
  c.context = 1;
  language_table const table(c);
  std::mt19937_64 bits{21};
  auto const w = random_weights(table, bits);
  auto const batch = random_batch(c, bits);
  language_model<double> model(c, table);
  tensor_values<double> dw(table);
  int const ids[] = {table.experts.w1, table.experts.w3, table.experts.w2};
  for (int const id : ids) {
    std::fill_n(dw.elements(id), table[id].size(), std::numeric_limits<double>::quiet_NaN());
  }
  model.forward(w, batch);
  model.backward(w, batch, dw);
  auto const& tokens = model.expert_tokens();
  REQUIRE(std::count(tokens.begin(), tokens.end(), 1) == 2);
  for (int e = 0; e < c.experts; ++e) {
    for (int const id : ids) {
      bool const zero = dw(id, e).cwiseAbs().maxCoeff() == 0;
      REQUIRE(zero == (tokens[static_cast<std::size_t>(e)] == 0));
    }
  }
}

TEST_CASE("a token's loss does not depend on later tokens or on other sequences") {
  configuration const c = small();
  language_table const table(c);
  std::mt19937_64 bits{22};
  auto const w = random_weights(table, bits);
  auto batch = random_batch(c, bits);
  language_model<double> model(c, table);
  model.forward(w, batch);
  auto const before = model.token_losses();
  int const changed = c.context + 2;  // the third token of the second sequence
  batch.inputs[changed] = (batch.inputs[changed] + 1) % c.vocabulary;
  model.forward(w, batch);
  auto const after = model.token_losses();
  for (int t = 0; t < c.tokens(); ++t) {
    bool const sees = t >= changed && t < 2 * c.context;
    INFO("token " << t);
    REQUIRE((std::abs(after(t) - before(t)) > 1e-12) == sees);
  }
}

TEST_CASE("an untrained model is close to a uniform guess") {
  configuration c;
  c.batch = 2;
  language_table const table(c);
  std::mt19937_64 bits{23};
  auto const w = moe::initial_values<double>(table, 1);
  language_model<double> model(c, table);
  auto const l = model.forward(w, random_batch(c, bits));
  REQUIRE(std::abs(l.cross_entropy - std::log(c.vocabulary)) < 0.1);
  REQUIRE(std::abs(l.balance - 1) < 0.2);
}

TEST_CASE("initial values depend on the seed alone and have the spread of the table") {
  language_table const table{configuration{}};
  auto const a = moe::initial_values<double>(table, 5), b = moe::initial_values<double>(table, 5);
  auto const other = moe::initial_values<double>(table, 6);
  for (int id = 0; id < table.count(); ++id) {
    auto const& t = table[id];
    auto const n = t.size();
    INFO("tensor " << t.name);
    REQUIRE(std::equal(a.elements(id), a.elements(id) + n, b.elements(id)));
    REQUIRE(std::equal(a.elements(id), a.elements(id) + n, other.elements(id)) == (t.spread == 0));
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      squares += std::pow(a.elements(id)[i] - t.centre, 2);
    }
    // The variance of n normals scatters by sqrt(2 / n): allow five of those.
    REQUIRE(std::abs(squares / static_cast<double>(n) - t.spread * t.spread) <=
            5 * std::sqrt(2.0 / static_cast<double>(n)) * t.spread * t.spread);
  }
}

#ifdef _OPENMP
TEST_CASE("gradients have the same bits for any number of threads") {
  configuration c;
  c.context = 48;
  c.batch = 11;  // 528 tokens: two whole panels and a part
  language_table const table(c);
  std::mt19937_64 bits{24};
  auto const w = moe::initial_values<double>(table, 2);
  auto const batch = random_batch(c, bits);
  int const before = omp_get_max_threads();
  std::vector<tensor_values<double>> gradients;
  for (int const threads : {1, 2, 7}) {
    omp_set_num_threads(threads);
    language_model<double> model(c, table);
    model.forward(w, batch);
    model.backward(w, batch, gradients.emplace_back(table));
  }
  omp_set_num_threads(before);
  for (int id = 0; id < table.count(); ++id) {
    INFO("tensor " << table[id].name);
    for (auto const& other : gradients) {
      REQUIRE(std::equal(other.elements(id), other.elements(id) + table[id].size(),
                         gradients.front().elements(id)));
    }
  }
}
#endif
