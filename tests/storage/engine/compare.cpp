// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compares what a step stored with the reference.

#include "support/storage_engine.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace testing::stored {

namespace {

/// The carry bit of an element.
int carry_of(bundle const& b, int64_t i) {
  int64_t const C = b.C();
  return static_cast<int>(b.carry.raw(i / C * b.groups(8) + i % C / 8) >> (i % C % 8)) & 1;
}
double scale_of(bundle const& b, cells const& scales, int64_t i) {
  int64_t const C = b.C();
  if (scales.size() == 0) return 1;
  return decode(kind::f32, scales.at(i / C * b.groups(group_size) + i % C / group_size));
}
/// The weight that a step reads.
double weight_of(row const& what, bundle const& b, int64_t i) {
  switch (what.master) {
    case master_kind::none: return decode(what.param, b.param.at(i));
    case master_kind::weights: return decode(kind::f32, b.master.at(i));
    case master_kind::remainder: {
      auto const low = static_cast<std::uint16_t>(b.master.raw(i));
      return join(static_cast<std::uint16_t>(b.param.raw(i)), low, low >= 0x8000);
    }
    default:
      return join(static_cast<std::uint16_t>(b.param.raw(i)),
                  static_cast<std::uint16_t>(b.master.raw(i)), carry_of(b, i));
  }
}

/// Values of a state; those of a quantised one come out of two roundings.
template <class Real>
std::vector<bounded<Real>> values_of(kind k, bundle const& b, cells const& elements,
                                     cells const& scales) {
  std::vector<bounded<Real>> all;
  for (int64_t i = 0; i < elements.size(); ++i) {
    auto const x = static_cast<Real>(decode(k, elements.at(i), scale_of(b, scales, i)));
    bool const rounded = is_quantised(k) && x != 0 && std::isfinite(x);
    all.push_back({x, rounded ? 3 * Real(0x1p-24) * std::fabs(x) + Real(0x1p-149L) : Real{0}});
  }
  return all;
}

/// One comparison after the other; remembers the first that fails.
template <class Real>
class checker {
 public:
  checker(row const& what, report& r) : what_{what}, report_{r} {}
  std::string const& wrong() const { return wrong_; }
  void fail(std::string const& text) {
    if (wrong_.empty()) wrong_ = text;
  }
  /// Whether an element of a buffer is what `want` is rounded to.
  void stored(char const* name, std::size_t i, kind k, Real got, bounded<Real> want, bool nearest,
              Real scale = 1) {
    ++report_.checked;
    if (!std::isfinite(want.value)) {
      // Quantised states have one code for all of these, e4m3 no infinity.
      bool const may_be_nan = is_quantised(k) || k == kind::e4m3 || std::isnan(want.value);
      if (got != want.value && !(may_be_nan && std::isnan(got))) {
        fail(text(name, i, got, want) + " and not a fault");
      }
      return;
    }
    if (!std::isfinite(want.error)) {
      ++report_.unbounded;
      return;
    }
    // Double passes through float where it is rounded stochastically.
    Real slack = bounded<Real>::narrow ? Real(0x1p-145) : Real{0};
    if (!bounded<Real>::narrow && !is_wide(k)) slack = Real(0x1p-24) * std::fabs(want.value);
    Real const low = want.value - want.error - slack, high = want.value + want.error + slack;
    if (is_wide(k)) {
      Real const bound = want.error + format_of(k).quantum(want.value) / 2;
      report_.worst_wide =
          std::fmax(report_.worst_wide, static_cast<double>(std::fabs(got - want.value) / bound));
    }
    if (!may_hold(k, got, low, high, nearest, scale)) fail(text(name, i, got, want));
  }
  /// A state whose elements may have scales.
  void state(char const* name, kind k, bundle const& b, cells const& elements, cells const& scales,
             std::vector<std::uint64_t> const& before, std::vector<bounded<Real>> const& old,
             std::vector<bounded<Real>> const& want, tensor<Real> const& t) {
    int64_t const C = b.C(), per_matrix = b.R() * C;
    for (int64_t i = 0; i < elements.size(); ++i) {
      std::size_t const n = static_cast<std::size_t>(i);
      bool const rests = t.rests[static_cast<std::size_t>(i / per_matrix)];
      bool const masked = what_.fault == fault_kind::element && t.faulty[n];
      if (rests || (masked && !is_quantised(k))) {
        if (elements.raw(i) != before[n])
          fail(std::string{name} + "[" + std::to_string(i) + "] does not rest");
        continue;
      }
      auto const scale = static_cast<Real>(scale_of(b, scales, i));
      auto const got = static_cast<Real>(decode(k, elements.at(i), static_cast<double>(scale)));
      stored(name, n, k, got, masked ? old[n] : want[n], what_.nearest_state, scale);
    }
    for (int64_t g = 0; g < scales.size(); ++g) {
      int64_t const groups = b.groups(group_size), first = g / groups * C + g % groups * group_size;
      if (t.rests[static_cast<std::size_t>(first / per_matrix)]) continue;
      Real low = 0, high = 0;
      for (int64_t c = g % groups * group_size, i = first; c < C && i < first + group_size;
           ++c, ++i) {
        std::size_t const n = static_cast<std::size_t>(i);
        bounded<Real> x = what_.fault == fault_kind::element && t.faulty[n] ? old[n] : want[n];
        if (!std::isfinite(x.value) || std::fabs(x.value) > Real(0x1.fffffep127)) continue;
        if (k == kind::root && x.value < 0) x.value = 0;
        low = std::fmax(low, std::fabs(x.value) - x.error);
        high = std::fmax(high, std::fabs(x.value) + x.error);
      }
      auto const got = static_cast<Real>(decode(kind::f32, scales.at(g)));
      if (std::isfinite(high) && !may_scale(k, got, low, high)) {
        fail(text(name, static_cast<std::size_t>(g), got, {(low + high) / 2, (high - low) / 2}) +
             ", a scale");
      }
    }
  }
  static std::string text(char const* name, std::size_t i, Real got, bounded<Real> want) {
    char digits[120];
    std::snprintf(digits, sizeof digits, "[%zu] is %.17g, wanted %.17g +- %.3g", i,
                  static_cast<double>(got), static_cast<double>(want.value),
                  static_cast<double>(want.error));
    return name + std::string{digits};
  }

 private:
  row const& what_;
  report& report_;
  std::string wrong_;
};

}  // namespace

template <class Real>
tensor<Real> tensor_of(row const& what, bundle& b) {
  tensor<Real> t;
  t.E = b.E(), t.R = b.R(), t.C = b.C(), t.factored = b.factored;
  cells const none;
  if (b.present) t.grad.reserve(static_cast<std::size_t>(b.grad.size()));
  for (int64_t i = 0; i < b.param.size(); ++i) {
    if (b.present) t.grad.push_back(static_cast<Real>(decode(what.grad, b.grad.at(i))));
    t.weight.push_back({static_cast<Real>(weight_of(what, b, i))});
  }
  if (b.masked) {
    for (int64_t e = 0; e < b.E(); ++e) t.active.push_back(b.active.raw(e) != 0);
  }
  kind const v = what.variance_as();
  if (what.computes_double()) {
    t.momentum_unit = what.momentum == kind::f32 ? 0x1p-24 : 0;
    t.variance_unit = v == kind::f32 ? 0x1p-24 : 0;
  }
  t.momentum = values_of<Real>(what.momentum, b, b.momentum, b.momentum_scale);
  t.exact = values_of<Real>(v, b, b.exact, b.exact_scale);
  t.row = values_of<Real>(v, b, b.row, none);
  t.col = values_of<Real>(v, b, b.col, none);
  for (int64_t e = 0; e < b.E(); ++e) t.step.push_back(static_cast<int64_t>(b.step.raw(e)));
  for (int64_t e = 0; b.counts_missed && e < b.E(); ++e) {
    t.missed.push_back(static_cast<int64_t>(b.missed.raw(e)));
  }
  return t;
}

template <class Real>
std::string compare(row const& what, bundle& b, snapshot const& before, tensor<Real> const& old,
                    tensor<Real> const& want, report& r) {
  checker<Real> c{what, r};
  enum { param, momentum, momentum_scale, row_state, col_state, exact, exact_scale, master, carry };
  kind const v = what.variance_as();
  for (int64_t e = 0; e < b.E(); ++e) {
    std::size_t const n = static_cast<std::size_t>(e);
    if (static_cast<int64_t>(b.step.raw(e)) != want.step[n])
      c.fail("step[" + std::to_string(e) + "]");
    if (b.counts_missed && static_cast<int64_t>(b.missed.raw(e)) != want.missed[n])
      c.fail("missed");
  }
  if (b.param.size() == 0) return c.wrong();
  c.state("momentum", what.momentum, b, b.momentum, b.momentum_scale, before[momentum],
          old.momentum, want.momentum, want);
  c.state("exact", v, b, b.exact, b.exact_scale, before[exact], old.exact, want.exact, want);
  auto const factor = [&](char const* name, cells const& state,
                          std::vector<bounded<Real>> const& x) {
    for (int64_t i = 0; i < state.size(); ++i) {
      std::size_t const n = static_cast<std::size_t>(i);
      if (want.rests[static_cast<std::size_t>(i / (state.size() / b.E()))]) continue;
      c.stored(name, n, v, static_cast<Real>(decode(v, state.at(i))), x[n], what.nearest_state);
    }
  };
  factor("row", b.row, want.row);
  factor("col", b.col, want.col);
  for (int64_t i = 0; i < b.param.size(); ++i) {
    std::size_t const n = static_cast<std::size_t>(i);
    bool const rests = want.rests[static_cast<std::size_t>(i / (b.R() * b.C()))] ||
                       (what.fault == fault_kind::element && want.faulty[n]);
    bool const same = b.param.raw(i) == before[param][n] &&
                      (b.master.size() == 0 || b.master.raw(i) == before[master][n]);
    if (rests) {
      if (!same) c.fail("param[" + std::to_string(i) + "] does not rest");
      if (static_cast<Real>(weight_of(what, b, i)) != old.weight[n].value &&
          !std::isnan(old.weight[n].value)) {
        c.fail("weight[" + std::to_string(i) + "] does not rest");
      }
      continue;
    }
    r.moved += same ? 0 : 1;
    double const got = weight_of(what, b, i);
    bool const own = what.master == master_kind::none;
    c.stored("weight", n, own ? what.param : kind::f32, static_cast<Real>(got), want.weight[n],
             !own || what.nearest);
    std::uint64_t const high = b.param.raw(i);
    if (what.master == master_kind::weights && high != encode(what.param, got)) {
      c.fail("param[" + std::to_string(i) + "] is no copy of its master");
    }
    if (what.master >= master_kind::remainder) {
      auto const h = split(static_cast<float>(got), what.master == master_kind::remainder);
      bool const sound = high == h.high && b.master.raw(i) == h.low &&
                         (what.master == master_kind::remainder || carry_of(b, i) == h.carry);
      if (!sound) c.fail("the halves of weight[" + std::to_string(i) + "] do not fit");
    }
  }
  return c.wrong();
}

template tensor<double> tensor_of<double>(row const&, bundle&);
template tensor<long double> tensor_of<long double>(row const&, bundle&);
template std::string compare(row const&, bundle&, snapshot const&, tensor<double> const&,
                             tensor<double> const&, report&);
template std::string compare(row const&, bundle&, snapshot const&, tensor<long double> const&,
                             tensor<long double> const&, report&);

}  // namespace testing::stored
