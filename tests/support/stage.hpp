// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One tensor of a scenario with its buffers and its plan, stepped on some executor.
#pragma once

#include "support/buffers.hpp"
#include "support/reference.hpp"

#include <tieropt/tieropt.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing {

/// The buffers of a tensor.
enum class part { none, param, grad, momentum, row, col, exact, step, active };
inline constexpr int n_parts = 9;

/// One run of a tier: all that is chosen at run time.
struct scenario {
  std::vector<int64_t> extents;
  layout param_layout = layout::row_major;
  layout grad_layout = layout::row_major;
  layout state_layout = layout::row_major;
  part shifted = part::none;  // this buffer is dense and starts one element late
  reference::hyper hyper;     // eps < 0: the part's own default
  int64_t first_step = 0;     // steps taken before; the states are zero only where it is 0
  int active = 0;             // 0 no mask, 1 all ones, 2 one matrix in three rests, 3 takes turns
  int absent = -1;            // the step without a gradient, -1 none
  double magnitude = 1e-2;    // of the gradients
  // 0 normal, 1 rows and columns of very different scale, 2 zeros, 3 rank 1, 4 from 2^-70 up,
  // 5 subnormal, 6 NaN and infinities in the first matrix, 7 one in 1,031 is not zero
  int grad_kind = 0;
  double param_magnitude = 0.25;
  double grad_scale = 1;
  double clip_factor = 1;
  std::uint64_t seed = 1;
  int steps = 3;
  tieropt::schedule how;
};

/// Whether two buffers hold the same elements, however they lie in memory.
template <class T>
bool same_bits(buffer<T> const& a, buffer<T> const& b) {
  if (a.size() != b.size()) return false;
  for (int64_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return false;
  }
  return true;
}

/// A tensor that an executor steps.
template <class Tier, class Param, class Grad, class X>
class stage {
 public:
  using bound = tieropt::bound_tensor<Tier, Param, Grad>;
  using parts = typename bound::parts;
  using compute = typename parts::compute;
  static constexpr bool keeps = tieropt::keeps_momentum<typename parts::momentum>;
  using momentum_type = std::conditional_t<keeps, typename bound::momentum_type, float>;
  using need = tieropt::needs<parts>;
  using variance_type = std::conditional_t<need::divides, typename bound::variance_type, float>;

  scenario const s;
  bool const is_vector = s.extents.size() < 2;
  bool const factored = Tier::variance::factored && !is_vector;
  buffer<Param> param;
  buffer<Grad> grad;
  int64_t const E = param.E(), R = param.R(), C = param.C();
  buffer<momentum_type> momentum;
  buffer<variance_type> exact, row, col;
  buffer<int64_t> taken;
  buffer<int> active;

  explicit stage(scenario const& given, X const& executor = {})
      : s{given},
        param{s.extents, how(part::param, s.param_layout)},
        grad{s.extents, how(part::grad, s.grad_layout)},
        momentum{s.extents, how(part::momentum, s.state_layout)},
        // A factored tier keeps a vector's exact moment dense.
        exact{s.extents,
              how(part::exact, Tier::variance::factored ? layout::row_major : s.state_layout)},
        row{{E, R}, how(part::row, layout::row_major)},
        col{{E, C}, how(part::col, layout::row_major)},
        taken{{Tier::step_scope == tieropt::scope::tensor ? 1 : E},
              how(part::step, layout::row_major)},
        active{{E}, how(part::active, layout::row_major)},
        x_{executor},
        tensors_{bind()},
        plan_{tieropt::make_plan<tieropt::tier_policy<Tier>>(s.how, tensors_)},
        workspace_{x_, plan_ ? plan_->workspace_bytes() : 0} {
    param.fill([&](int64_t i) { return s.param_magnitude * normal(s.seed, i); });
    for (int64_t i = 0; i < taken.size(); ++i) taken[i] = s.first_step;
    if (s.first_step > 0) {
      momentum.fill([&](int64_t i) { return 1e-2 * normal(s.seed + 1, i); });
      exact.fill([&](int64_t i) { return 1e-4 * std::exp(2 * normal(s.seed + 2, i)); });
      row.fill([&](int64_t i) { return 1e-4 * std::exp(2 * normal(s.seed + 3, i)); });
      col.fill([&](int64_t i) { return 1e-4 * std::exp(2 * normal(s.seed + 4, i)); });
    }
  }
  stage(stage const&) = delete;

  /// Uploads the tables. @return the message of what failed, or ""
  std::string prepare() {
    if (!plan_) return std::string{"make_plan: "} + tieropt::message(plan_.error());
    return text("prepare: ", tieropt::prepare(x_, *plan_, workspace_));
  }
  bool present(int k) const { return k != s.absent; }
  bool rests(int64_t e) const { return s.active != 0 && active[e] == 0; }
  std::vector<int> mask() const { return s.active == 0 ? std::vector<int>{} : all(active); }
  std::vector<int64_t> steps() const { return all(taken); }

  /// Gradients and mask of step k.
  void new_gradient(int k) {
    std::uint64_t const seed = s.seed + 100 + static_cast<std::uint64_t>(k);
    double const least = element<Grad>::format.template smallest<double>();
    grad.fill([&](int64_t i) {
      int64_t const c = C > 0 ? i % C : 0, r = C > 0 ? i / C % R : 0;
      double const one = normal(seed, i), value = s.magnitude * one * s.grad_scale;
      switch (s.grad_kind) {
        case 1: return value * std::exp2(uniform(7, r) * 4 + uniform(8, c) * 3);
        case 2: return r % 3 == 1 || c % 5 == 2 ? 0.0 : value;
        case 3: return s.magnitude * s.grad_scale * normal(seed, r) * normal(seed + 50, C + c);
        case 4: return std::ldexp(one, static_cast<int>((i + r) % 70) - 70);
        case 5: return 8 * least * one;
        case 6:
          if (i >= R * C || i % 97 < 95) return value;
          return i % 97 == 95 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
        case 7: return i % 1031 == 5 ? value : 0.0;
        default: return value;
      }
    });
    for (int64_t e = 0; e < E; ++e) {
      active[e] = s.active == 1 || (s.active == 2 ? e % 3 != 1 : (e + k) % 2 == 0) ? 7 : 0;
    }
  }
  /// Takes step k. @return the message of what failed, or ""
  std::string step(int k) {
    Grad const* const addresses[] = {present(k) ? std::as_const(grad).data() : nullptr};
    auto const bound_anew = tieropt::rebind_grads(x_, *plan_, workspace_, addresses);
    if (!bound_anew) return text("rebind_grads: ", bound_anew);
    tieropt::hyper const hypers[] = {{.lr = s.hyper.lr,
                                      .beta1 = s.hyper.beta1,
                                      .beta2 = s.hyper.beta2,
                                      .eps = s.hyper.eps < 0 ? -1 : s.hyper.eps,
                                      .clip = s.hyper.clip,
                                      .weight_decay = s.hyper.weight_decay,
                                      .beta2_decay = s.hyper.beta2_decay,
                                      .eps2 = s.hyper.eps2}};
    tieropt::step_inputs const inputs{
        .seed = s.seed, .grad_scale = s.grad_scale, .clip_factor = s.clip_factor};
    return text("enqueue: ", tieropt::enqueue(x_, *plan_, workspace_, hypers, inputs));
  }
  /// What the last step measured of the update, n values.
  std::vector<compute> rms(std::size_t n) {
    return several(n, tieropt::update_rms(*plan_, workspace_, first_range{}, 0));
  }
  /// The RMS of the parameter before the last step, n values.
  std::vector<compute> param_rms(std::size_t n) {
    return several(n, tieropt::param_rms(*plan_, workspace_, first_range{}, 0));
  }
  bool gaps_untouched() const {
    return param.gaps_untouched() && grad.gaps_untouched() && momentum.gaps_untouched() &&
           exact.gaps_untouched() && row.gaps_untouched() && col.gaps_untouched() &&
           taken.gaps_untouched() && active.gaps_untouched();
  }

  /// The first buffer with other bits than that of another stage, or "".
  template <class Other>
  std::string difference(Other const& o) const {
    if (!same_bits(taken, o.taken)) return "step";
    if (!same_bits(row, o.row)) return "row";
    if (!same_bits(col, o.col)) return "col";
    if (!same_bits(exact, o.exact)) return "exact";
    if (!same_bits(momentum, o.momentum)) return "momentum";
    if (!same_bits(param, o.param)) return "param";
    return gaps_untouched() ? "" : "what is between the elements";
  }
  /// The first partial result of the last step with other bits, or "": matrices that rested have
  /// none, and a NaN on the way has no pattern.
  template <class Other>
  std::string workspace_difference(Other& o) {
    if (param.size() == 0) return "";
    auto const mine = workspace_.bytes(), theirs = o.workspace_.bytes();
    if (mine.size() != theirs.size()) return "size of the workspace";
    cuda::std::span<std::byte> const memory = workspace_;
    auto const places = tieropt::workspace_of<0>(*plan_, memory);
    auto const scalars = reinterpret_cast<std::byte*>(places.scalars) - memory.data();
    auto const elements = reinterpret_cast<std::byte*>(places.elements) - memory.data();
    std::string differs;
    auto const compare = [&](int64_t at, int64_t bytes, char const* what) {
      auto const first = static_cast<std::size_t>(at), n = static_cast<std::size_t>(bytes);
      if (differs.empty() && std::memcmp(&mine[first], &theirs[first], n) != 0) differs = what;
    };
    tieropt::geometry const g{E, R, C};
    tieropt::work_layout const at = tieropt::lay_out<parts>(g);
    bool const per_matrix = !need::spans_tensor;
    using scalar = tieropt::step_scalars<compute>;
    for (int64_t e = 0; e < E; ++e) {
      // The numbers up to eps2, and after what may be a gap the rest.
      int64_t const at_e = scalars + e * static_cast<int64_t>(sizeof(scalar));
      constexpr int64_t key = offsetof(scalar, rounding_key);
      compare(at_e, offsetof(scalar, eps2) + sizeof(compute), "scalars");
      compare(at_e + key, offsetof(scalar, active) + 1 - key, "rounding key, step, activity");
      if (rests(e) || (s.grad_kind == 6 && e == 0)) continue;
      // n elements of this matrix, which come every pitch elements.
      auto const compare_part = [&](int64_t offset, int64_t pitch, int64_t n, char const* what) {
        constexpr auto size = static_cast<int64_t>(sizeof(compute));
        compare(elements + (offset + e * pitch) * size, n * size, what);
      };
      if (factored) {
        int64_t const pitch = tieropt::padded_columns(C), tiles = g.row_tiles();
        compare_part(at.col_value, pitch, C, "column values");
        compare_part(at.row_value, R, R, "row values");
        compare_part(at.row_part, g.segments() * R, g.segments() * R, "row sums");
        for (int64_t i = 0; i < tiles; ++i) {
          compare_part(at.col_part + i * pitch, tiles * pitch, C, "column sums");
        }
      }
      bool const folds = (e == 0 || per_matrix) && (s.grad_kind != 6 || per_matrix);
      if (need::measures) {
        compare_part(at.norm_part, g.matrix_tiles(), g.matrix_tiles(), "norms");
        if (folds) compare_part(at.rms, 1, 1, "RMS of the update");
        if (folds) compare_part(at.factor, 1, 1, "clip factor");
      }
      if (need::scales) {
        compare_part(at.param_part, g.matrix_tiles(), g.matrix_tiles(), "norms of the parameter");
        if (folds) compare_part(at.param_rms, 1, 1, "RMS of the parameter");
      }
    }
    return differs;
  }

 private:
  template <class, class, class, class>
  friend class stage;

  using first_range = cuda::std::integral_constant<std::size_t, 0>;
  static std::vector<compute> several(std::size_t n, compute const* first) {
    std::vector<compute> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(read(first + i));
    return values;
  }
  layout how(part p, layout usual) const { return s.shifted == p ? layout::shifted : usual; }
  static std::string text(char const* where, tieropt::status const& status) {
    return status ? "" : where + std::string{tieropt::message(status)};
  }
  template <class T>
  static std::vector<T> all(buffer<T> const& b) {
    std::vector<T> values;
    for (int64_t i = 0; i < b.size(); ++i) values.push_back(b[i]);
    return values;
  }
  std::vector<bound> bind() {
    bound t;
    t.param = param.view();
    t.grad = std::as_const(grad).view();
    if constexpr (keeps) t.momentum = momentum.view();
    if (factored) {
      if constexpr (need::factored) t.variance = {.row = row.view(), .col = col.view()};
    } else if constexpr (need::divides) {
      t.variance = {.exact = exact.view()};
    }
    t.step = taken.view();
    if (s.active != 0) t.active = std::as_const(active).view();
    t.key = 5;
    return {t};
  }

  X const x_;
  std::vector<bound> tensors_;
  decltype(tieropt::make_plan<tieropt::tier_policy<Tier>>(tieropt::schedule{}, tensors_)) plan_;
  scratch workspace_;
};

/// The same scenario where everything is dense and streaming, stepped on the host alone: whatever
/// differs from that in executor, layout and schedule has the same bits.
template <class Tier, class Param, class Grad>
class twin {
 public:
  explicit twin(scenario const& s) : host_{plain(s)} {}
  std::string prepare() { return host_.prepare(); }
  /// Takes the step that another stage has taken. @return what differs, or ""
  template <class Stage>
  std::string follow(Stage& other, int k) {
    host_.new_gradient(k);
    if (auto const e = host_.step(k); !e.empty()) return e;
    std::string what = other.difference(host_);
    if (what.empty() && other.present(k)) what = other.workspace_difference(host_);
    return what.empty() ? "" : "step " + std::to_string(k + 1) + ": other bits, " + what;
  }

 private:
  static scenario plain(scenario s) {
    s.param_layout = s.grad_layout = s.state_layout = layout::row_major;
    s.shifted = part::none;
    s.how = {};
    return s;
  }
  stage<Tier, Param, Grad, tieropt::serial_executor> host_;
};

/// Runs a scenario next to its twin. @return what differs, or ""
template <class Tier, class Param, class Grad>
std::string run_against_host(scenario const& s) {
  stage<Tier, Param, Grad, executor> here{s};
  twin<Tier, Param, Grad> there{s};
  std::string wrong = here.prepare();
  if (wrong.empty()) wrong = there.prepare();
  for (int k = 0; k < s.steps && wrong.empty(); ++k) {
    here.new_gradient(k);
    wrong = here.step(k);
    if (wrong.empty()) wrong = there.follow(here, k);
  }
  return wrong;
}

}  // namespace testing
