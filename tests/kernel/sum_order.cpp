// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The documented order of sums, against plain loops: rows, columns, the norm of the update.

#include "support/catch.hpp"
#include "support/model.hpp"
#include "support/own_parts.hpp"

#include <cmath>
#include <functional>
#include <vector>

namespace {

using testing::factored_means;
using testing::plain_norm;

/// The balanced tree of neighbours: ((0 1) (2 3)) ...; the last one of an odd level waits.
float tree(std::vector<float> level) {
  if (level.empty()) return 0;
  while (level.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = next;
  }
  return level[0];
}

/// Segments of 1,024: running sums by column mod 256, their tree; then the tree of the segments.
/// add(sum, i) adds value i.
float row_sum(int64_t n, std::function<float(float, int64_t)> const& add) {
  std::vector<float> segments;
  for (int64_t s = 0; s < n; s += 1024) {
    std::vector<float> running(256, 0.0f);
    for (int64_t i = s; i < n && i < s + 1024; ++i) {
      float& sum = running[static_cast<std::size_t>(i % 256)];
      sum = add(sum, i);
    }
    segments.push_back(tree(running));
  }
  return tree(segments);
}

/// Leaves of 16 in order, then the tree of the leaves.
float column_sum(int64_t n, std::function<float(float, int64_t)> const& add) {
  std::vector<float> leaves;
  for (int64_t s = 0; s < n; s += 128) {  // a tile has 8 leaves, empty ones too
    for (int64_t l = s; l < s + 128; l += 16) {
      float sum = 0;
      for (int64_t i = l; i < n && i < l + 16; ++i) sum = add(sum, i);
      leaves.push_back(sum);
    }
  }
  return tree(leaves);
}

template <class Tier>
void run(testing::model<Tier, float>& m, double eps) {
  m.hyper = {.lr = 0, .beta2 = 0, .eps = eps};
  REQUIRE(m.run(testing::executor{}, 1) == "");
}

}  // namespace

TEST_CASE("row and column sums are added in the documented order", "[sums]") {
  for (auto const& shape : std::vector<std::vector<int64_t>>{{1, 1},
                                                             {3, 5},
                                                             {17, 255},
                                                             {128, 1024},
                                                             {129, 1025},
                                                             {300, 2600},
                                                             {2, 700, 130},
                                                             {16, 5000}}) {
    testing::model<factored_means, float> m{{shape}};
    run(m, 1.0);
    auto& t = m.tensors[0];
    int64_t const E = t.param.E(), R = t.param.R(), C = t.param.C();
    int wrong_rows = 0, wrong_cols = 0;
    for (int64_t e = 0; e < E; ++e) {
      auto const square = [&](float sum, int64_t r, int64_t c) {
        float const g = t.grad[(e * R + r) * C + c];
        return std::fma(g, g, sum);
      };
      for (int64_t r = 0; r < R; ++r) {
        float const sum = row_sum(C, [&](float s, int64_t c) { return square(s, r, c); });
        if (t.row[e * R + r] != sum / static_cast<float>(C)) ++wrong_rows;
      }
      for (int64_t c = 0; c < C; ++c) {
        float const sum = column_sum(R, [&](float s, int64_t r) { return square(s, r, c); });
        if (t.col[e * C + c] != sum / static_cast<float>(R)) ++wrong_cols;
      }
    }
    INFO("E " << E << " R " << R << " C " << C);
    CHECK(wrong_rows == 0);
    CHECK(wrong_cols == 0);
  }
}

TEST_CASE("the norm of the update is added in the documented order", "[sums]") {
  for (auto const& shape : std::vector<std::vector<int64_t>>{
           {1, 1}, {3, 5}, {40, 255}, {128, 1024}, {129, 1025}, {300, 2600}, {3, 140, 1100}}) {
    testing::model<plain_norm, float> m{{shape}};
    auto& t = m.tensors[0];
    t.new_gradient(0);
    std::vector one{t.whole()};
    auto const plan = tieropt::make_plan<tieropt::tier_policy<plain_norm>>(one);
    REQUIRE(plan.has_value());
    testing::executor const x;
    testing::scratch workspace{plan->workspace_bytes()};
    REQUIRE(tieropt::prepare(x, *plan, workspace));
    tieropt::hyper const hypers[] = {{.lr = 0, .beta2 = 0, .eps = 1}};
    REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers, {}));

    int64_t const E = t.param.E(), R = t.param.R(), C = t.param.C();
    std::vector<float> tiles;  // matrices, tiles of rows, segments
    for (int64_t e = 0; e < E; ++e) {
      for (int64_t tile = 0; tile < R; tile += 128) {
        for (int64_t segment = 0; segment < C; segment += 1024) {
          int64_t const width = std::min<int64_t>(1024, C - segment);
          std::vector<float> leaves(8, 0.0f);
          for (int64_t r = tile; r < R && r < tile + 128; ++r) {
            leaves[static_cast<std::size_t>((r - tile) / 16)] +=
                row_sum(width, [&](float s, int64_t c) {
                  float const g = t.grad[(e * R + r) * C + segment + c];
                  return std::fma(g, g, s);
                });
          }
          tiles.push_back(tree(leaves));
        }
      }
    }
    float const sum = row_sum(static_cast<int64_t>(tiles.size()), [&](float s, int64_t i) {
      return s + tiles[static_cast<std::size_t>(i)];
    });
    float const want = std::sqrt(sum / static_cast<float>(E * R * C));
    auto const* rms =
        tieropt::update_rms(*plan, workspace, cuda::std::integral_constant<std::size_t, 0>{}, 0);
    INFO("E " << E << " R " << R << " C " << C);
    CHECK(testing::read(rms) == want);
  }
}
