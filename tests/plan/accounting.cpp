// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bytes of state, bytes moved, launches: what the library says against what is.

#include "support/catch.hpp"
#include "support/counting.hpp"
#include "support/model.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace corrected = tieropt::skewadam::corrected;
namespace published = tieropt::skewadam::published;
using tieropt::bf16;
using extents = std::vector<std::int64_t>;

template <class Tier>
tieropt::state_size state_of(extents const& e) {
  return tieropt::state_bytes<Tier>(cuda::std::span<std::int64_t const>{e.data(), e.size()});
}

template <class T>
std::int64_t bytes_of(testing::buffer<T> const& b) {
  return b.size() * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

TEST_CASE("state is counted by kind, from extents alone", "[accounting]") {
  struct {
    extents shape;
    std::int64_t elements, rows, columns;
  } const cases[] = {
      {{}, 1, 0, 0},      {{0}, 0, 0, 0},    {{7}, 7, 0, 0},           {{1, 7}, 7, 1, 7},
      {{5, 7}, 35, 5, 7}, {{0, 7}, 0, 0, 7}, {{3, 5, 7}, 105, 15, 21}, {{2, 3, 5, 7}, 210, 30, 42}};
  for (auto const& c : cases) {
    bool const vector = c.shape.size() < 2;
    INFO("rank " << c.shape.size() << ", " << c.elements << " elements");
    auto const b = state_of<corrected::backbone>(c.shape);
    CHECK(b.momentum == 4 * c.elements);
    CHECK(b.row == 4 * c.rows);
    CHECK(b.col == 4 * c.columns);
    CHECK(b.exact == (vector ? 4 * c.elements : 0));
    CHECK(b.total() == b.momentum + b.row + b.col + b.exact);
    auto const e = state_of<corrected::experts>(c.shape);
    CHECK(e.momentum == 0);
    CHECK(e.total() == b.total() - b.momentum);
    auto const r = state_of<corrected::router>(c.shape);
    CHECK(r.total() == 4 * c.elements);
    CHECK(r.exact == r.total());
    CHECK(state_of<tieropt::adamw::tensor>(c.shape).total() == 8 * c.elements);
    CHECK(state_of<corrected::backbone_as<double>>(c.shape).total() == 2 * b.total());
    CHECK(state_of<published::backbone>(c.shape).total() == b.total());
  }
}

TEST_CASE("a plan's state is what its tensors hold", "[accounting]") {
  testing::model<corrected::backbone, bf16> dense{{{5, 7}, {9}, {0, 4}, {2, 3, 4}}};
  testing::model<corrected::experts, bf16> stacks{{{4, 6, 3}}};
  std::vector<tieropt::bound_tensor<corrected::backbone, bf16>> a;
  std::vector<tieropt::bound_tensor<corrected::experts, bf16>> b;
  std::int64_t held = 0;
  for (auto& t : dense.tensors) {
    a.push_back(t.whole());
    held += bytes_of(t.momentum) + bytes_of(t.row) + bytes_of(t.col) + bytes_of(t.exact);
  }
  for (auto& t : stacks.tensors) {
    b.push_back(t.whole());
    held += bytes_of(t.row) + bytes_of(t.col) + bytes_of(t.exact);
  }
  auto const plan = tieropt::make_plan<corrected::policy>(a, b);
  REQUIRE(plan.has_value());
  CHECK(plan->state_bytes().total() == held);
  CHECK(plan->state_bytes().momentum == 4 * (35 + 9 + 24));
}

TEST_CASE("a plan launches what it says", "[accounting]") {
  testing::model<corrected::backbone, bf16> dense{{{5, 7}, {9}, {130, 30}}}, empty{{{0, 4}}};
  testing::model<tieropt::adamw::tensor, float> rest{{{5, 7}}};
  using policy = tieropt::tier_policy<corrected::backbone, tieropt::adamw::tensor>;
  std::vector<tieropt::bound_tensor<corrected::backbone, bf16>> a, none;
  std::vector<tieropt::bound_tensor<tieropt::adamw::tensor, float>> b;
  for (auto& t : dense.tensors) a.push_back(t.whole());
  for (auto& t : empty.tensors) none.push_back(t.whole());
  for (auto& t : rest.tensors) b.push_back(t.whole());
  auto const plan = tieropt::make_plan<policy>(a, b, none);
  REQUIRE(plan.has_value());
  std::int64_t launches = 0;
  testing::counting_executor const x{launches};
  testing::scratch workspace{plan->workspace_bytes()};
  REQUIRE(tieropt::prepare(x, *plan, workspace));
  CHECK(launches == 0);
  tieropt::hyper const hypers[] = {{}};
  REQUIRE(tieropt::enqueue(x, *plan, workspace, hypers));
  CHECK(launches == 7 + 3);
  CHECK(plan->launches() == launches);
}

TEST_CASE("a step stays inside its workspace", "[accounting]") {
  for (auto const& shape :
       std::vector<extents>{{1, 1}, {129, 1025}, {3, 33, 70}, {5000}, {2, 1, 2049}}) {
    testing::model<corrected::backbone, bf16> m{{shape, shape}};
    std::vector<tieropt::bound_tensor<corrected::backbone, bf16>> all;
    for (auto& t : m.tensors) t.new_gradient(0), all.push_back(t.whole());
    auto const plan = tieropt::make_plan<corrected::policy>(all);
    REQUIRE(plan.has_value());
    std::size_t const bytes = plan->workspace_bytes();
    testing::scratch memory{bytes + 4096};
    cuda::std::span<std::byte> const whole = memory;
    std::memset(whole.data(), 0x5A, whole.size());
    auto const mine = whole.subspan(2048, bytes);
    tieropt::serial_executor const x;
    REQUIRE(tieropt::prepare(x, *plan, mine));
    tieropt::hyper const hypers[] = {{}};
    REQUIRE(tieropt::enqueue(x, *plan, mine, hypers));
    bool untouched = true;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (i < 2048 || i >= 2048 + bytes) untouched = untouched && whole[i] == std::byte{0x5A};
    }
    CHECK(untouched);
  }
}

TEST_CASE("the partial results of a tensor do not share memory", "[accounting]") {
  struct scaled : corrected::backbone {
    using scale = tieropt::param_rms_scale<tieropt::scope::matrix>;
  };
  using parts = tieropt::tier_parts<scaled, bf16, bf16>;
  for (auto const& e :
       std::vector<extents>{{1, 1, 1}, {3, 64, 64}, {2, 129, 1025}, {64, 1, 7}, {5, 1024, 2}}) {
    tieropt::geometry const shape{e[0], e[1], e[2]};
    auto const at = tieropt::lay_out<parts>(shape);
    std::int64_t const row_tiles = (shape.R + 127) / 128, segments = (shape.C + 1023) / 1024;
    std::int64_t const columns = (shape.C + 7) / 8 * 8;
    std::map<std::int64_t, std::int64_t> const parts_at{
        {at.col_value, shape.E * columns},
        {at.row_value, shape.E * shape.R},
        {at.row_part, shape.E * segments * shape.R},
        {at.col_part, shape.E * row_tiles * columns},
        {at.norm_part, shape.E * row_tiles * segments},
        {at.param_part, shape.E * row_tiles * segments},
        {at.rms, shape.E},
        {at.factor, shape.E},
        {at.param_rms, shape.E}};
    INFO("E " << shape.E << " R " << shape.R << " C " << shape.C);
    CHECK(parts_at.size() == 9);
    std::int64_t end = 0;
    for (auto const& [begin, size] : parts_at) {
      CHECK(begin >= end);
      end = begin + size;
    }
    CHECK(at.total >= end);
    CHECK(at.total % 64 == 0);
  }
}

TEST_CASE("traffic per parameter is that of the passes", "[accounting]") {
  extents const square{4096, 4096};
  double const n = 4096.0 * 4096.0;
  cuda::std::span<std::int64_t const> const e{square.data(), square.size()};
  // Statistics of rows and columns and partial sums are below 1 % of a square matrix.
  auto const about = [&](std::int64_t bytes, double per_parameter) {
    INFO(static_cast<double>(bytes) / n << " bytes per parameter");
    CHECK(static_cast<double>(bytes) / n >= per_parameter);
    CHECK(static_cast<double>(bytes) / n < per_parameter + 0.3);
  };
  about(tieropt::traffic_bytes<corrected::experts, bf16>(e), 10);
  about(tieropt::traffic_bytes<corrected::backbone, bf16>(e), 20);
  about(tieropt::traffic_bytes<corrected::router, float>(e), 28);
  about(tieropt::traffic_bytes<tieropt::adafactor::tensor, bf16>(e), 12);
  about(tieropt::traffic_bytes<tieropt::adafactor::with_momentum, bf16>(e), 20);
  CHECK(tieropt::traffic_bytes<tieropt::lion::tensor, bf16>(e) == 14 * 4096 * 4096);
  CHECK(tieropt::traffic_bytes<tieropt::adam::tensor, bf16>(e) == 22 * 4096 * 4096);
  CHECK(tieropt::traffic_bytes<tieropt::adamw::tensor, bf16>(e) == 22 * 4096 * 4096);
  CHECK(tieropt::traffic_bytes<tieropt::adamw::tensor, float, bf16>(e) == 26 * 4096 * 4096);

  testing::model<tieropt::adamw::tensor, bf16> m{{{5, 7}, {3}}};
  std::vector<tieropt::bound_tensor<tieropt::adamw::tensor, bf16>> all;
  for (auto& t : m.tensors) all.push_back(t.whole());
  auto const plan = tieropt::make_plan<tieropt::adamw::policy>(all);
  REQUIRE(plan.has_value());
  CHECK(plan->traffic_bytes() == 22 * 38);
}

namespace {

/// Sums the state of a model's tensors by the tier that their names say.
template <class Backbone, class Router, class Expert>
std::map<std::string, tieropt::state_size> by_tier(nlohmann::json const& model) {
  std::map<std::string, tieropt::state_size> sums;
  for (auto const& t : model.at("tensors")) {
    auto const shape = t.at("shape").get<extents>();
    auto const tier = t.at("tier").get<std::string>();
    auto const size = tier == "backbone" ? state_of<Backbone>(shape)
                      : tier == "router" ? state_of<Router>(shape)
                                         : state_of<Expert>(shape);
    sums[tier] = sums[tier] + size;
  }
  return sums;
}

void check_totals(std::map<std::string, tieropt::state_size> const& sums,
                  nlohmann::json const& expected) {
  std::int64_t total = 0;
  for (auto const& [tier, size] : sums) {
    INFO(tier);
    CHECK(size.total() == expected.at("bytes_by_tier").at(tier).get<std::int64_t>());
    total += size.total();
  }
  CHECK(sums.size() == 3);
  CHECK(total == expected.at("bytes").get<std::int64_t>());
}

}  // namespace

TEST_CASE("the state of the published 6.78 B parameter model is right to the byte",
          "[accounting]") {
  char const* const folder = std::getenv("TIEROPT_GOLDEN_DIR");
  if (folder == nullptr) {
    WARN("skipped: TIEROPT_GOLDEN_DIR does not name the folder of moe_6_78b.json");
    return;
  }
  std::ifstream file{std::string{folder} + "/moe_6_78b.json"};
  REQUIRE(file.good());
  auto const model = nlohmann::json::parse(file);
  auto const& expected = model.at("expected_state");
  auto const mine = by_tier<corrected::backbone, corrected::router, corrected::experts>(model);
  check_totals(mine, expected.at("skewadam"));
  check_totals(by_tier<published::backbone, published::router, published::experts>(model),
               expected.at("skewadam"));
  using adamw = tieropt::adamw::tensor;
  check_totals(by_tier<adamw, adamw, adamw>(model), expected.at("adamw"));
  using lion = tieropt::lion::tensor;
  check_totals(by_tier<lion, lion, lion>(model), expected.at("lion"));
  using muon = tieropt::muon::matrix;
  check_totals(by_tier<muon, muon, muon>(model), expected.at("muon"));
  using adafactor = tieropt::adafactor::tensor;
  check_totals(by_tier<adafactor, adafactor, adafactor>(model), expected.at("adafactor"));

  tieropt::state_size sum;
  for (auto const& [tier, size] : mine) sum = sum + size;
  auto const& split = expected.at("skewadam").at("split");
  CHECK(sum.momentum == split.at("momentum_bytes").get<std::int64_t>());
  CHECK(sum.row == split.at("factored_row_bytes").get<std::int64_t>());
  CHECK(sum.col == split.at("factored_col_bytes").get<std::int64_t>());
  CHECK(sum.exact == split.at("exact_bytes").get<std::int64_t>());
}
