// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step as simple loops in double, from the formulas; includes nothing of the library.
#include "reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

namespace bench {
namespace {

struct form {
  int fraction_bits, least_exponent;  // of normal numbers
};

form form_of(number_format f) {
  switch (f) {
    case number_format::bf16: return {7, -126};
    case number_format::fp16: return {10, -14};
    default: return {23, -126};
  }
}

using value_table = std::array<double, 65536>;

// The value of each 16-bit pattern, by its sign, exponent and fraction.
value_table const& table_of(number_format f) {
  auto const make = [](form const shape) {
    auto table = std::make_unique<value_table>();
    int const exponents = 1 << (15 - shape.fraction_bits), ones = 1 << shape.fraction_bits;
    for (int raw = 0; raw < 65536; ++raw) {
      int const exponent = raw >> shape.fraction_bits & (exponents - 1),
                fraction = raw & (ones - 1);
      int const scale = std::max(exponent, 1) - 1 + shape.least_exponent - shape.fraction_bits;
      double value = std::ldexp(exponent == 0 ? fraction : ones + fraction, scale);
      if (exponent == exponents - 1) value = fraction == 0 ? INFINITY : NAN;
      (*table)[static_cast<std::size_t>(raw)] = raw & 0x8000 ? -value : value;
    }
    return table;
  };
  static auto const bf16 = make(form_of(number_format::bf16));
  static auto const fp16 = make(form_of(number_format::fp16));
  return f == number_format::bf16 ? *bf16 : *fp16;
}

class reader {
 public:
  reader(number_format f, void const* data)
      : data_{data}, table_{f == number_format::fp32 ? nullptr : &table_of(f)} {}
  double operator()(std::int64_t i) const {
    if (table_ == nullptr) return static_cast<float const*>(data_)[i];
    return (*table_)[static_cast<std::uint16_t const*>(data_)[i]];
  }

 private:
  void const* data_;
  value_table const* table_;
};

// Distance between the neighbours of x in a format.
double ulp(form const& f, double x) {
  int exponent = f.least_exponent;
  if (x != 0) exponent = std::max(exponent, std::ilogb(x));
  return std::ldexp(1.0, exponent - f.fraction_bits);
}

std::string at(char const* what, std::int64_t i, double got, double wanted) {
  return std::string{what} + " " + std::to_string(i) + " is " + std::to_string(got) + ", not " +
         std::to_string(wanted);
}

bool close(double got, double wanted) {
  return std::abs(got - wanted) <= 0x1p-17 * std::abs(wanted) + 1e-37;
}

}  // namespace

std::string check_step(recipe const& r, numbers const& h, step_record const& s,
                       rounding_count& count) {
  std::int64_t const E = s.E, R = s.R, C = s.C, n = R * C;
  auto const k = static_cast<double>(s.step);
  bool const factored = r.variance == second_moment::factored;
  bool const of_update = r.momentum == momentum_rule::update;
  bool const averages = r.momentum == momentum_rule::gradient;
  bool const leads = r.momentum == momentum_rule::lion;
  double const beta1 = h.beta1, beta2 = r.rises ? 1 - std::pow(k, -h.beta2_decay) : h.beta2;
  double const left2 = r.corrects && !r.rises ? 1 - std::pow(beta2, k) : 1;
  double const gain1 = r.corrects && averages ? 1 / (1 - std::pow(beta1, k)) : 1;
  double const eps1 = r.eps == eps_place::inside ? h.eps : 0;
  double const l2 = r.decay == decay_place::gradient ? h.weight_decay : 0;
  double const fused = r.decay == decay_place::gradient ? 0 : h.weight_decay;
  reader const raw{s.format, s.grad}, p{s.format, s.before.param}, q{s.format, s.after.param};

  auto const g = [&](std::int64_t x) { return raw(x) + l2 * p(x); };
  auto const m = [&](std::int64_t x) {
    return s.before.momentum ? static_cast<double>(s.before.momentum[x]) : 0.0;
  };
  auto const mix = [](double beta, double old, double x) { return beta * old + (1 - beta) * x; };
  auto const numerator = [&](double old, double x) {
    return averages || leads ? mix(beta1, old, x) : x;
  };
  auto const stored = [&](double old, double x) { return mix(leads ? beta2 : beta1, old, x); };
  auto const blend = [&](double v, double square) { return mix(beta2, v, square + eps1); };
  auto const root = [&](double v) {
    return std::sqrt(r.eps == eps_place::floored ? std::max(v, h.eps) : v);
  };
  // The sizes of what the gradient and the numerator add up: their errors are relative to these,
  // not to the sums.
  auto const size_of_g = [&](std::int64_t x) { return std::abs(raw(x)) + l2 * std::abs(p(x)); };
  auto const size = [&](std::int64_t x) { return numerator(std::abs(m(x)), size_of_g(x)); };

  // Factored: 1 / root of each row's ratio and of each column.
  std::vector<double> rows(static_cast<std::size_t>(factored ? E * R : 0));
  std::vector<double> cols(static_cast<std::size_t>(factored ? E * C : 0));
  for (std::int64_t e = 0; e < E && factored; ++e) {
    double* const row = rows.data() + e * R;
    double* const col = cols.data() + e * C;
    for (std::int64_t i = 0; i < R; ++i) {
      for (std::int64_t j = 0; j < C; ++j) {
        double const x = g(e * n + i * C + j);
        row[i] += x * x;
        col[j] += x * x;
      }
    }
    double mean = 0;
    for (std::int64_t i = 0; i < R; ++i) {
      row[i] = blend(s.before.row[e * R + i], row[i] / static_cast<double>(C));
      if (!close(s.after.row[e * R + i], row[i]))
        return at("row", i, s.after.row[e * R + i], row[i]);
      mean += row[i] / static_cast<double>(R);
    }
    if (r.eps == eps_place::floored) mean = std::max(mean, 1e-15);
    for (std::int64_t i = 0; i < R; ++i) row[i] = 1 / root(row[i] / mean);
    for (std::int64_t j = 0; j < C; ++j) {
      col[j] = blend(s.before.col[e * C + j], col[j] / static_cast<double>(R));
      if (!close(s.after.col[e * C + j], col[j]))
        return at("col", j, s.after.col[e * C + j], col[j]);
      col[j] = 1 / root(col[j]);
    }
  }
  // The update of a numerator.
  auto const update_of = [&](double value, std::int64_t e, std::int64_t i, std::int64_t j) {
    std::int64_t const x = e * n + i * C + j;
    double const gain2 = std::sqrt(left2);
    double u = gain1 * value;
    if (factored) {
      u *= gain2 * rows[static_cast<std::size_t>(e * R + i)] *
           cols[static_cast<std::size_t>(e * C + j)];
    } else if (r.variance == second_moment::exact) {
      double const v = blend(s.before.exact[x], g(x) * g(x));
      u *= r.eps == eps_place::added ? 1 / (std::sqrt(v) / gain2 + h.eps) : gain2 / root(v);
    }
    return r.sign ? static_cast<double>((u > 0) - (u < 0)) : u;
  };
  auto const update = [&](std::int64_t e, std::int64_t i, std::int64_t j) {
    std::int64_t const x = e * n + i * C + j;
    return update_of(numerator(m(x), g(x)), e, i, j);
  };

  // Of each matrix, or of all of them, the root mean square of f.
  auto const rms_of = [&](auto const& f) {
    std::vector<double> rms(static_cast<std::size_t>(E));
    double all = 0;
    for (std::int64_t e = 0; e < E; ++e) {
      double sum = 0;
      for (std::int64_t i = 0; i < R; ++i) {
        for (std::int64_t j = 0; j < C; ++j) {
          double const u = f(e, i, j);
          sum += u * u;
        }
      }
      all += sum;
      rms[static_cast<std::size_t>(e)] = std::sqrt(sum / static_cast<double>(n));
    }
    if (r.whole_tensor) rms.assign(rms.size(), std::sqrt(all / static_cast<double>(E * n)));
    return rms;
  };
  // The learning rate of each matrix, and its clip factor.
  double const rate = r.relative ? std::min(1e-2, 1 / std::sqrt(k)) : h.lr;
  std::vector<double> lr(static_cast<std::size_t>(E), rate), factor(lr.size(), 1.0);
  if (r.scales) {
    lr = rms_of([&](auto e, auto i, auto j) { return p(e * n + i * C + j); });
    for (double& x : lr) x = rate * std::max(h.eps2, x);
  }
  if (r.clips) {
    factor = rms_of(update);
    for (double& x : factor) x = 1 / std::max(1.0, x / h.clip);
  }

  form const shape = form_of(s.format);
  for (std::int64_t e = 0; e < E; ++e) {
    double const own_lr = lr[static_cast<std::size_t>(e)];
    double const gain = own_lr * factor[static_cast<std::size_t>(e)];
    for (std::int64_t i = 0; i < R; ++i) {
      for (std::int64_t j = 0; j < C; ++j) {
        std::int64_t const x = e * n + i * C + j;
        double step = gain * update(e, i, j);
        double error = 0x1p-16 * gain * std::abs(update_of(size(x), e, i, j));
        if (r.sign && std::abs(numerator(m(x), g(x))) < 0x1p-21 * size(x)) error = 2 * gain;
        if (r.momentum != momentum_rule::none) {
          double const next = stored(m(x), of_update ? step : g(x));
          double const slack =
              stored(0x1p-21 * std::abs(m(x)), of_update ? error : 0x1p-21 * size_of_g(x));
          if (!(std::abs(s.after.momentum[x] - next) <= slack)) {
            return at("momentum", x, s.after.momentum[x], next);
          }
          if (of_update) step = next, error = slack;
        }
        double decayed = p(x) * (1 - own_lr * fused);
        if (r.decay == decay_place::rounded) {
          double const unit = ulp(shape, decayed);
          decayed = std::nearbyint(decayed / unit) * unit;
        }
        double const exact = decayed - step, got = q(x), unit = ulp(shape, exact);
        double const slack = error + 0x1p-22 * std::abs(p(x));
        double const distance = std::abs(got - exact), reach = s.stochastic ? unit : unit / 2;
        if (!(distance <= reach + slack)) return at("param", x, got, exact);
        if (s.stochastic) {
          double const below = exact / unit - std::floor(exact / unit);
          double const share = std::min(below, 1 - below);
          count.farther += distance > unit / 2 ? 1 : 0;
          count.expected += share;
          count.variance += share * (1 - share);
        }
        if (r.variance == second_moment::exact) {
          double const v = blend(s.before.exact[x], g(x) * g(x));
          if (!close(s.after.exact[x], v)) return at("second moment", x, s.after.exact[x], v);
        }
      }
    }
  }
  return {};
}

std::string check_rounding(rounding_count const& count) {
  double const off = std::abs(count.farther - count.expected), sigma = std::sqrt(count.variance);
  if (off <= 5 * sigma + 1e-3 * count.expected) return {};
  return "the farther neighbour was taken " + std::to_string(count.farther) + " times, not " +
         std::to_string(count.expected);
}

}  // namespace bench
