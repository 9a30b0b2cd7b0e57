// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The mixture-of-experts layer: top-2 softmax routing over SwiGLU experts.
#pragma once

#include "moe/layers.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace moe {

/// y_t = sum over the two chosen experts of gate * expert(x_t).
///
/// The gates are the two largest router probabilities, scaled to sum to one: that is the softmax of
/// the two chosen logits alone. Tokens are sorted by expert into 2 N *slots*, so that every expert
/// is three plain products over its own contiguous rows, and one task.
template <class S> class mixture {
 public:
  static constexpr int top = 2;

  mixture(configuration const& c, int router, swiglu_ids ids)
      : c_{c},
        router_{router},
        ids_{ids},
        chance_(c.tokens(), c.experts),
        choices_(static_cast<std::size_t>(c.tokens())),
        token_(static_cast<std::size_t>(top * c.tokens())),
        first_(static_cast<std::size_t>(c.experts) + 1),
        counts_(static_cast<std::size_t>(c.experts)),
        input_(top * c.tokens(), c.width),
        output_(top * c.tokens(), c.width),
        saved_(top * c.tokens(), c.expert_hidden),
        dgate_(top * c.tokens()),
        dlogits_(c.tokens(), c.experts) {}

  /// residual += mixture(x)
  void forward(tensor_values<S> const& w, matrix<S> const& x, matrix<S>& residual) {
    route(w, x);
    for_each_task(c_.experts, [&](auto e) {
      auto const first = begin(e), n = count(e);
      auto rows = input_.middleRows(first, n);
      for (std::int64_t i = 0; i < n; ++i) {
        rows.row(i) = x.row(token_[static_cast<std::size_t>(first + i)]);
      }
      swiglu_forward<S>(rows, w(ids_.w1, e), w(ids_.w3, e), saved_, first);
      output_.middleRows(first, n).noalias() =
          saved_.hidden.middleRows(first, n) * w(ids_.w2, e).transpose();
    });
    for_each_panel(x.rows(), token_panel, [&](auto first, auto n) {
      for (auto t = first; t < first + n; ++t) {
        auto const& [a, b] = choice(t);
        residual.row(t) += a.gate * output_.row(a.slot) + b.gate * output_.row(b.slot);
      }
    });
  }

  void backward(tensor_values<S> const& w, matrix<S> const& x, matrix<S> const& dy, matrix<S>& dx,
                tensor_values<S>& dw) {
    scatter(dy);
    for_each_task(c_.experts, [&](auto e) {
      auto const first = begin(e), n = count(e);
      auto out = output_.middleRows(first, n);  // d(output), then d(input)
      dw(ids_.w2, e).noalias() = out.transpose() * saved_.hidden.middleRows(first, n);
      matrix<S> din(n, c_.width);
      swiglu_backward<S>(out, w(ids_.w1, e), w(ids_.w3, e), w(ids_.w2, e), saved_, first, din);
      out = din;
      auto const in = input_.middleRows(first, n);
      dw(ids_.w1, e).noalias() = saved_.gate.middleRows(first, n).transpose() * in;
      dw(ids_.w3, e).noalias() = saved_.up.middleRows(first, n).transpose() * in;
    });
    differentiate_routing();
    project_weight<S>(dlogits_, x, dw(router_));
    for_each_panel(x.rows(), token_panel, [&](auto first, auto n) {
      dx.middleRows(first, n).noalias() = dlogits_.middleRows(first, n) * w(router_);
      for (auto t = first; t < first + n; ++t) {
        auto const& [a, b] = choice(t);
        dx.row(t) += output_.row(a.slot) + output_.row(b.slot);
      }
    });
  }

  /// Load balance of the last batch, E sum_e f_e P_e: share of choices times mean probability.
  /// 1 when all experts are equally busy, E when one takes everything (E / 2 is the most for top
  /// 2).
  double balance() const {
    auto const mean = chance_.colwise().mean();
    double sum = 0;
    for (int e = 0; e < c_.experts; ++e) {
      sum += share(e) * static_cast<double>(mean(e));
    }
    return c_.experts * sum;
  }

  /// Tokens of each expert in the last batch, (E).
  std::vector<int> const& counts() const { return counts_; }

 private:
  struct chosen {
    int expert;
    int slot;
    S gate;
  };

  void route(tensor_values<S> const& w, matrix<S> const& x) {
    project<S>(x, w(router_), chance_);
    counts_.assign(counts_.size(), 0);
    for (std::int64_t t = 0; t < c_.tokens(); ++t) {
      auto p = chance_.row(t).array();
      auto& [a, b] = choice(t);
      a.expert = largest(t, -1);
      b.expert = largest(t, a.expert);
      a.gate = 1 / (1 + std::exp(p(b.expert) - p(a.expert)));
      b.gate = 1 - a.gate;
      a.slot = counts_[static_cast<std::size_t>(a.expert)]++;
      b.slot = counts_[static_cast<std::size_t>(b.expert)]++;
      p = (p - p(a.expert)).exp();
      p /= p.sum();
    }
    first_[0] = 0;
    for (std::size_t e = 0; e < counts_.size(); ++e) {
      first_[e + 1] = first_[e] + counts_[e];
    }
    for (std::int64_t t = 0; t < c_.tokens(); ++t) {
      for (chosen& one : choice(t)) {
        one.slot += static_cast<int>(begin(one.expert));
        token_[static_cast<std::size_t>(one.slot)] = static_cast<int>(t);
      }
    }
  }

  /// Turns output_ into d(output_) = gate dY, and fills dgate_ = <dY, output>.
  void scatter(matrix<S> const& dy) {
    for_each_panel(dy.rows(), token_panel, [&](auto first, auto n) {
      for (auto t = first; t < first + n; ++t) {
        for (chosen const& one : choice(t)) {
          dgate_(one.slot) = dy.row(t).dot(output_.row(one.slot));
          output_.row(one.slot) = one.gate * dy.row(t);
        }
      }
    });
  }

  /// d(logits): the gates reach the two chosen logits only, d(gate a)/d(logit a) = gate a gate b;
  /// the balance loss reaches all through P_e, with f_e constant.
  void differentiate_routing() {
    S const weight = static_cast<S>(c_.balance_weight * c_.experts / c_.tokens());
    Eigen::Array<S, 1, Eigen::Dynamic> f(c_.experts);
    for (int e = 0; e < c_.experts; ++e) {
      f(e) = static_cast<S>(share(e));
    }
    for (std::int64_t t = 0; t < c_.tokens(); ++t) {
      auto const p = chance_.row(t).array();
      dlogits_.row(t).array() = weight * p * (f - (p * f).sum());
      auto const& [a, b] = choice(t);
      S const d = a.gate * b.gate * (dgate_(a.slot) - dgate_(b.slot));
      dlogits_(t, a.expert) += d;
      dlogits_(t, b.expert) -= d;
    }
  }

  int largest(std::int64_t t, int but) const {
    int best = but == 0 ? 1 : 0;
    for (int e = 0; e < c_.experts; ++e) {
      best = e != but && chance_(t, e) > chance_(t, best) ? e : best;
    }
    return best;
  }
  std::array<chosen, top>& choice(std::int64_t t) { return choices_[static_cast<std::size_t>(t)]; }
  std::int64_t begin(std::int64_t e) const { return first_[static_cast<std::size_t>(e)]; }
  std::int64_t count(std::int64_t e) const { return counts_[static_cast<std::size_t>(e)]; }
  double share(int e) const { return static_cast<double>(count(e)) / (top * c_.tokens()); }

  configuration c_;
  int router_;
  swiglu_ids ids_;
  matrix<S> chance_;                              // (N, E) router probabilities
  std::vector<std::array<chosen, top>> choices_;  // (N)
  std::vector<int> token_;                        // (2 N) token of each slot
  std::vector<std::int64_t> first_;               // (E + 1) first slot of each expert
  std::vector<int> counts_;                       // (E)
  matrix<S> input_, output_;                      // (2 N, D)
  swiglu_saved<S> saved_;                         // (2 N, F)
  Eigen::Array<S, Eigen::Dynamic, 1> dgate_;      // (2 N)
  matrix<S> dlogits_;                             // (N, E)
};

}  // namespace moe
