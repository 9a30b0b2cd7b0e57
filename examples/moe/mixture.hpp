// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The mixture-of-experts layer: top-2 softmax routing over SwiGLU experts.
#pragma once

#include "moe/layers.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moe {

/// y_t = sum over the two chosen experts of gate * expert(x_t).
///
/// The gates are the two largest router probabilities, scaled to sum to one: that is the softmax of
/// the two chosen logits alone. Tokens are sorted by expert into 2 N *slots*, so that an expert is
/// plain products over its own contiguous rows, and one task.
///
/// A step calls, in this order: route(s), sort(), run_expert(e), combine(s), then backward
/// split(s), run_expert_backward(e), backward(s).
template <class S>
class mixture {
 public:
  static constexpr int top = 2;

  mixture(configuration const& c, int router, swiglu_ids ids)
      : c_{c},
        router_{router},
        ids_{ids},
        chance_(c.tokens(), c.experts),
        choices_(static_cast<std::size_t>(c.tokens())),
        token_(static_cast<std::size_t>(top * c.tokens())),
        first_(static_cast<std::size_t>(c.experts)),
        counts_(static_cast<std::size_t>(c.experts)),
        input_(top * c.tokens(), c.width),
        output_(top * c.tokens(), c.width),
        saved_(top * c.tokens(), c.expert_hidden),
        dgate_(top * c.tokens()),
        dlogits_(c.tokens(), c.experts) {}

  /// Router probabilities and choices of a sequence.
  void route(tensor_values<S> const& w, std::int64_t s, matrix<S> const& x) {
    sequence(c_, chance_, s).noalias() = sequence(c_, x, s) * w(router_).transpose();
    for (auto t = s * c_.context; t < (s + 1) * c_.context; ++t) {
      auto p = chance_.row(t).array();
      auto& [a, b] = choice(t);
      a.expert = largest(t, -1);
      b.expert = largest(t, a.expert);
      a.gate = 1 / (1 + std::exp(p(b.expert) - p(a.expert)));
      b.gate = 1 - a.gate;
      p = (p - p(a.expert)).exp();
      p /= p.sum();
    }
  }

  /// Gives every choice its slot: by expert, then by token.
  void sort() {
    counts_.assign(counts_.size(), 0);
    for (auto& choices : choices_) {
      for (chosen& one : choices) one.slot = counts_[static_cast<std::size_t>(one.expert)]++;
    }
    for (std::size_t e = 1; e < counts_.size(); ++e) first_[e] = first_[e - 1] + counts_[e - 1];
    for (int t = 0; t < c_.tokens(); ++t) {
      for (chosen& one : choice(t)) {
        one.slot += first_[static_cast<std::size_t>(one.expert)];
        token_[static_cast<std::size_t>(one.slot)] = t;
      }
    }
  }

  /// output = expert e of its tokens
  void run_expert(tensor_values<S> const& w, std::int64_t e, matrix<S> const& x) {
    auto in = of_expert(input_, e);
    for (std::int64_t i = 0; i < in.rows(); ++i) {
      in.row(i) = x.row(token_[static_cast<std::size_t>(first(e) + i)]);
    }
    swiglu_forward<S>(in, w(ids_.w1, e), w(ids_.w3, e), saved_, first(e));
    of_expert(output_, e).noalias() = of_expert(saved_.hidden, e) * w(ids_.w2, e).transpose();
  }

  /// residual += mixture(x)
  void combine(std::int64_t s, matrix<S>& residual) const {
    for (auto t = s * c_.context; t < (s + 1) * c_.context; ++t) {
      auto const& [a, b] = choice(t);
      residual.row(t) += a.gate * output_.row(a.slot) + b.gate * output_.row(b.slot);
    }
  }

  /// Turns outputs into their gradients, gate dY, and keeps dgate = <dY, output>.
  void split(std::int64_t s, matrix<S> const& dy) {
    for (auto t = s * c_.context; t < (s + 1) * c_.context; ++t) {
      for (chosen const& one : choice(t)) {
        dgate_(one.slot) = dy.row(t).dot(output_.row(one.slot));
        output_.row(one.slot) = one.gate * dy.row(t);
      }
    }
  }

  /// Weight gradients of expert e; turns its d(output) into d(input).
  void run_expert_backward(tensor_values<S> const& w, std::int64_t e, tensor_values<S>& dw) {
    auto out = of_expert(output_, e), in = of_expert(input_, e);
    dw(ids_.w2, e).noalias() = out.transpose() * of_expert(saved_.hidden, e);
    matrix<S> din(out.rows(), out.cols());
    swiglu_backward<S>(out, w(ids_.w1, e), w(ids_.w3, e), w(ids_.w2, e), saved_, first(e), din);
    out = din;
    dw(ids_.w1, e).noalias() = of_expert(saved_.gate, e).transpose() * in;
    dw(ids_.w3, e).noalias() = of_expert(saved_.up, e).transpose() * in;
  }

  /// dx = ...: through the experts, and through the router.
  ///
  /// The gates depend on the two chosen logits only, d(gate a) = gate a gate b (d(logit a) -
  /// d(logit b)). The balance loss reaches all logits through P_e, with f_e constant.
  void backward(tensor_values<S> const& w, std::int64_t s, matrix<S>& dx) {
    S const weight = static_cast<S>(c_.balance_weight * c_.experts / c_.tokens());
    Eigen::Array<S, 1, Eigen::Dynamic> f(c_.experts);
    for (int e = 0; e < c_.experts; ++e) f(e) = static_cast<S>(share(e));
    for (auto t = s * c_.context; t < (s + 1) * c_.context; ++t) {
      auto const p = chance_.row(t).array();
      auto const& [a, b] = choice(t);
      dlogits_.row(t).array() = weight * p * (f - (p * f).sum());
      S const d = a.gate * b.gate * (dgate_(a.slot) - dgate_(b.slot));
      dlogits_(t, a.expert) += d;
      dlogits_(t, b.expert) -= d;
      dx.row(t) = output_.row(a.slot) + output_.row(b.slot);
    }
    sequence(c_, dx, s).noalias() += sequence(c_, dlogits_, s) * w(router_);
  }

  void add_weight_gradients(task_list& tasks, matrix<S> const& x, tensor_values<S>& dw) {
    add_weight_gradient(tasks, dlogits_, x, dw(router_));
  }

  /// Load balance of the last batch, E sum_e f_e P_e: share of choices times mean probability.
  /// 1 when all experts are equally busy, E / 2 when two take everything.
  double balance() const {
    double sum = 0;
    for (int e = 0; e < c_.experts; ++e) {
      sum += share(e) * static_cast<double>(chance_.col(e).mean());
    }
    return c_.experts * sum;
  }

  /// Tokens of each expert in the last batch, (E); the same vector for ever.
  std::vector<int> const& counts() const { return counts_; }

 private:
  struct chosen {
    int expert;
    int slot;
    S gate;
  };

  int largest(std::int64_t t, int but) const {
    int best = but == 0 ? 1 : 0;
    for (int e = 0; e < c_.experts; ++e) {
      if (e != but && chance_(t, e) > chance_(t, best)) best = e;
    }
    return best;
  }
  auto& choice(std::int64_t t) { return choices_[static_cast<std::size_t>(t)]; }
  auto const& choice(std::int64_t t) const { return choices_[static_cast<std::size_t>(t)]; }
  int first(std::int64_t e) const { return first_[static_cast<std::size_t>(e)]; }
  auto of_expert(matrix<S>& m, std::int64_t e) const {
    return m.middleRows(first(e), counts_[static_cast<std::size_t>(e)]);
  }
  double share(int e) const {
    return static_cast<double>(counts_[static_cast<std::size_t>(e)]) / (top * c_.tokens());
  }

  configuration c_;
  int router_;
  swiglu_ids ids_;
  matrix<S> chance_;                              // (N, E) router probabilities
  std::vector<std::array<chosen, top>> choices_;  // (N)
  std::vector<int> token_;                        // (2 N) token of each slot
  std::vector<int> first_;                        // (E) first slot of each expert
  std::vector<int> counts_;                       // (E)
  matrix<S> input_, output_;                      // (2 N, D)
  swiglu_saved<S> saved_;                         // (2 N, F)
  Eigen::Array<S, Eigen::Dynamic, 1> dgate_;      // (2 N)
  matrix<S> dlogits_;                             // (N, E)
};

}  // namespace moe
