// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tensors of more than 2^31 elements, rows, columns, matrices or blocks: of every launch, chosen
/// blocks run, on memory that is there only where they touch it.

#include "support/catch.hpp"

#include <tieropt/tieropt.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace {

using std::int64_t;
using std::uint64_t;
using tieropt::bf16;

constexpr int64_t two_31 = int64_t{1} << 31, two_32 = two_31 * 2, two_33 = two_31 * 4;

/// Zeros that take memory only where they are touched.
template <class T>
class sparse {
 public:
  explicit sparse(int64_t n) : bytes_{static_cast<std::size_t>(n) * sizeof(T) + 1} {
    void* const p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(p != MAP_FAILED);
    data_ = static_cast<T*>(p);
  }
  sparse(sparse const&) = delete;
  sparse& operator=(sparse const&) = delete;
  ~sparse() { munmap(data_, bytes_); }
  T* data() { return data_; }
  T& operator[](int64_t i) { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t bytes_;
};

/// A tile of 128 rows and 1,024 columns.
struct place {
  int64_t e, tile, segment;
};

/// The blocks of each kind that run.
struct choice {
  std::vector<int64_t> tiles, folds, clips, matrices;

  choice(int64_t row_tiles, int64_t segments, std::vector<place> const& places) {
    for (auto const& [e, tile, segment] : places) {
      tiles.push_back((e * row_tiles + tile) * segments + segment);
      folds.push_back(e * (1 + segments));
      folds.push_back(e * (1 + segments) + 1 + segment);
      clips.push_back(e);
      matrices.push_back(e / 256);
    }
    for (auto* list : {&tiles, &folds, &clips, &matrices}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }
};

template <class Parts>
std::vector<int64_t> const& chosen(choice const& c,
                                   tieropt::table_body<tieropt::fold_pass<Parts>, Parts> const&) {
  return c.folds;
}
template <class Parts>
std::vector<int64_t> const& chosen(
    choice const& c, tieropt::table_body<tieropt::find_factors_pass<Parts>, Parts> const&) {
  return c.clips;
}
template <class Pass, class Parts>
std::vector<int64_t> const& chosen(choice const& c, tieropt::table_body<Pass, Parts> const&) {
  return c.tiles;
}
template <class Body>
std::vector<int64_t> const& chosen(choice const& c, Body const&) {
  return c.matrices;
}

/// Runs the chosen blocks of each launch, and notes how many it was asked for.
struct choosing_executor {
  choice const* blocks;
  std::vector<int64_t>* launched;
  tieropt::status upload(void* to, void const* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
    return {};
  }
  template <tieropt::block_body Body>
  tieropt::status launch(int64_t n, Body const& body) const {
    launched->push_back(n);
    for (int64_t const b : chosen(*blocks, body)) {
      if (b >= n) return {.code = tieropt::errc::device};
      tieropt::run_on_host(body, b, tieropt::forward_order{});
    }
    return {};
  }
};

/// One pass, every state, rounding bits.
struct exact : tieropt::adamw::tensor {};
/// All passes; fp32 parameters show the update.
struct factored : tieropt::tier {
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
};

double number(int64_t i) {
  auto const x = static_cast<int64_t>(tieropt::mix64(static_cast<uint64_t>(i)));
  return static_cast<double>(x) * 0x1p-63;
}

tieropt::hyper const hypers[] = {{.lr = 0.25, .clip = 1e-3, .weight_decay = 0.125}};
tieropt::step_inputs const inputs{.seed = 5};

/// A dense tensor (E, R, C) whose chosen tiles hold numbers, after one step of these tiles.
template <class Tier, class Param, class Grad>
struct huge {
  static constexpr bool is_factored = Tier::variance::factored;
  int64_t E, R, C;
  std::vector<place> places;
  std::vector<int64_t> launched{};
  sparse<Param> param{E * R * C};
  sparse<Grad> grad{E * R * C};
  sparse<float> momentum{E * R * C};
  sparse<float> exact{is_factored ? 1 : E * R * C};
  sparse<float> row{is_factored ? E * R : 1}, col{is_factored ? E * C : 1};
  sparse<int64_t> step{E};
  sparse<int> active{E};

  /// Calls f(e, r, c, index of the element) for the elements of the chosen tiles.
  template <class F>
  void each(F const& f) {
    for (auto const& [e, tile, segment] : places) {
      for (int64_t r = tile * 128; r < std::min(R, tile * 128 + 128); ++r) {
        for (int64_t c = segment * 1024; c < std::min(C, segment * 1024 + 1024); ++c) {
          f(e, r, c, (e * R + r) * C + c);
        }
      }
    }
  }
  static Param param_of(int64_t i) {
    return tieropt::storage<Param>::nearest(static_cast<float>(number(i)));
  }
  static Grad grad_of(int64_t i) {
    return tieropt::storage<Grad>::nearest(static_cast<float>(0.01 * number(~i)));
  }

  void run(int64_t first_element = 0) {
    each([&](int64_t e, int64_t, int64_t, int64_t i) {
      param[i] = param_of(i);
      grad[i] = grad_of(i);
      active[e] = 1;
    });
    using bound = tieropt::bound_tensor<Tier, Param, Grad>;
    bound b;
    b.param = tieropt::view(param.data(), E, R, C);
    b.grad = tieropt::view(static_cast<Grad const*>(grad.data()), E, R, C);
    b.momentum = tieropt::view(momentum.data(), E, R, C);
    if (is_factored) {
      b.variance.row = tieropt::view(row.data(), E, R);
      b.variance.col = tieropt::view(col.data(), E, C);
    } else {
      b.variance.exact = tieropt::view(exact.data(), E, R, C);
    }
    b.step = tieropt::view(step.data(), E);
    b.active = tieropt::view(static_cast<int const*>(active.data()), E);
    b.key = 3;
    b.first_element = first_element;
    std::vector<bound> const one{b};
    auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(one);
    REQUIRE(plan.has_value());
    sparse<std::byte> workspace{static_cast<int64_t>(plan->workspace_bytes())};
    cuda::std::span<std::byte> const work{workspace.data(), plan->workspace_bytes()};
    choice const blocks{(R + 127) / 128, (C + 1023) / 1024, places};
    choosing_executor const x{&blocks, &launched};
    REQUIRE(prepare(x, *plan, work));
    REQUIRE(enqueue(x, *plan, work, hypers, inputs));
    for (auto const& p : places) REQUIRE(step[p.e] == 1);
  }
  int64_t tiles() const { return E * ((R + 127) / 128) * ((C + 1023) / 1024); }
};

/// An exact tier: each row of a tile is a small tensor of its own with the same place in the whole.
void check_exact(int64_t E, int64_t R, int64_t C, std::vector<place> const& places,
                 int64_t first_element = 0) {
  INFO("(" << E << ", " << R << ", " << C << ")");
  huge<exact, bf16, float> big{E, R, C, places};
  big.run(first_element);
  CHECK(big.launched == std::vector<int64_t>{(E + 255) / 256, big.tiles(), (E + 255) / 256});

  struct row {
    int64_t first, width;
  };
  std::vector<row> rows;
  big.each([&](int64_t, int64_t, int64_t c, int64_t i) {
    if (c % 1024 == 0) rows.push_back({i, 0});
    ++rows.back().width;
  });
  std::vector<bf16> param;
  std::vector<float> grad, momentum(1 << 20), variance(1 << 20);
  big.each([&](int64_t, int64_t, int64_t, int64_t i) {
    param.push_back(big.param_of(i));
    grad.push_back(big.grad_of(i));
  });
  REQUIRE(param.size() <= momentum.size());
  using bound = tieropt::bound_tensor<exact, bf16, float>;
  std::vector<bound> all;
  std::vector<int64_t> step(rows.size());
  int64_t at = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    auto const [first, width] = rows[k];
    bound b;
    b.param = tieropt::view(param.data() + at, width);
    b.grad = tieropt::view(static_cast<float const*>(grad.data()) + at, width);
    b.momentum = tieropt::view(momentum.data() + at, width);
    b.variance.exact = tieropt::view(variance.data() + at, width);
    b.step = tieropt::view(&step[k], 1);
    b.key = 3;
    b.first_element = first_element + first;
    all.push_back(b);
    at += width;
  }
  auto const plan = tieropt::make_plan<tieropt::tier_policy<exact>>(all);
  REQUIRE(plan.has_value());
  std::vector<std::byte> work(plan->workspace_bytes());
  REQUIRE(prepare(tieropt::serial_executor{}, *plan, work));
  REQUIRE(enqueue(tieropt::serial_executor{}, *plan, work, hypers, inputs));

  int64_t k = 0, wrong = 0;
  big.each([&](int64_t, int64_t, int64_t, int64_t i) {
    auto const j = static_cast<std::size_t>(k++);
    wrong += big.param[i].raw != param[j].raw || big.momentum[i] != momentum[j] ||
             big.exact[i] != variance[j];
  });
  CHECK(wrong == 0);
  CHECK(k > 0);
}

/// A factored tier with momentum and clip: the formulas in double. Gradients are zero outside the
/// chosen tiles. Each bound below is a few times what fp32 sums of this length can be off.
void check_factored(int64_t E, int64_t R, int64_t C, std::vector<place> const& places) {
  INFO("(" << E << ", " << R << ", " << C << ")");
  huge<factored, float, bf16> big{E, R, C, places};
  big.run();
  int64_t const segments = (C + 1023) / 1024, groups = (E + 255) / 256;
  CHECK(big.launched == std::vector<int64_t>{groups, big.tiles(), E * (1 + segments), big.tiles(),
                                             E, big.tiles(), groups});
  std::map<int64_t, std::map<int64_t, double>> row, col;  // sums of squares of each matrix
  big.each([&](int64_t e, int64_t r, int64_t c, int64_t i) {
    double const g = tieropt::storage<bf16>::decode<float>(big.grad_of(i));
    row[e][r] += g * g;
    col[e][c] += g * g;
  });
  auto const& h = hypers[0];
  std::map<int64_t, double> mean, squares, factor;
  for (auto& [e, sums] : row) {
    for (auto& [r, sum] : sums) {
      sum *= (1 - h.beta2) / static_cast<double>(C);
      mean[e] += sum / static_cast<double>(R);
      REQUIRE(big.row[e * R + r] == Approx(sum).epsilon(1e-5));
    }
    for (auto& [c, sum] : col[e]) {
      sum *= (1 - h.beta2) / static_cast<double>(R);
      REQUIRE(big.col[e * C + c] == Approx(sum).epsilon(1e-5));
    }
  }
  auto const update = [&](int64_t e, int64_t r, int64_t c, int64_t i) {
    double const g = tieropt::storage<bf16>::decode<float>(big.grad_of(i));
    double const v = row[e][r] * col[e][c] / mean[e] / (1 - h.beta2);
    return g / std::sqrt(v);  // the first moment, (1 - beta1) g, corrected
  };
  big.each([&](int64_t e, int64_t r, int64_t c, int64_t i) {
    squares[e] += update(e, r, c, i) * update(e, r, c, i);
  });
  for (auto const& [e, sum] : squares) {
    factor[e] =
        1 / std::max(1., std::sqrt(sum / static_cast<double>(R) / static_cast<double>(C)) / h.clip);
    CHECK(factor[e] < 1);
  }
  int64_t wrong = 0;
  big.each([&](int64_t e, int64_t r, int64_t c, int64_t i) {
    double const g = tieropt::storage<bf16>::decode<float>(big.grad_of(i));
    double const change = h.lr * factor[e] * update(e, r, c, i);
    double const expected = big.param_of(i) * (1 - h.lr * h.weight_decay) - change;
    wrong += !(std::fabs(big.param[i] - expected) <= 1e-7 + 1e-5 * std::fabs(change));
    wrong += !(std::fabs(big.momentum[i] - 0.1 * g) <= 1e-6 * std::fabs(g));
  });
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("a matrix of more than 2^32 elements", "[huge]") {
  // 513 x 65 tiles; the element 2^31 is in row 32,764, the element 2^32 in row 65,529.
  std::vector<place> const places{{0, 0, 0}, {0, 255, 64}, {0, 256, 0}, {0, 511, 3}, {0, 512, 64}};
  check_exact(1, 65539, 65543, places);
  check_factored(1, 65539, 65543, places);
}

TEST_CASE("a row of more than 2^31 columns", "[huge]") {
  int64_t const C = two_31 + 3000, last = C / 1024;
  check_factored(1, 1, C,
                 {{0, 0, 0}, {0, 0, two_31 / 1024 - 1}, {0, 0, two_31 / 1024}, {0, 0, last}});
}

TEST_CASE("a row of more than 2^33 columns has rounding bits of its own", "[huge]") {
  int64_t const C = two_33 + 5000;
  std::vector<place> places;
  for (int64_t const c : {int64_t{0}, two_31, two_32 - 1, two_32, two_33 - 1, two_33, C - 1}) {
    places.push_back({0, 0, c / 1024});
  }
  check_exact(1, 1, C, places);
  // The element 2^33 of the whole in the middle of a segment.
  check_exact(1, 1, C, places, 12345);
}

TEST_CASE("a column of more than 2^31 rows", "[huge]") {
  int64_t const R = two_33 + 1000;
  std::vector<place> places;
  for (int64_t const r : {int64_t{0}, two_31 - 1, two_31, two_32 + 5, two_33, R - 1}) {
    places.push_back({0, r / 128, 0});
  }
  check_exact(1, R, 1, places);
}

TEST_CASE("more than 2^31 small matrices, and as many blocks", "[huge]") {
  int64_t const E = two_31 + 300;
  std::vector<place> const places{{0, 0, 0}, {two_31 - 1, 0, 0}, {two_31, 0, 0}, {E - 1, 0, 0}};
  check_exact(E, 2, 3, places);
  check_factored(E, 2, 3, places);
}
