// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dense layers, forward and backward: layer norm, causal attention, SwiGLU, cross-entropy.
///
/// A row is a token and a weight is (out, in), so y = x W^T; dX names the gradient of the loss by
/// X. `forward` and `backward` work on one sequence s, so that a thread can take a sequence through
/// many layers. Weight gradients sum over all sequences: they are collected as tasks afterwards.
#pragma once

#include "moe/parallel.hpp"
#include "moe/tensors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moe {

/// The rows of sequence s, (T, ·).
template <class M>
auto sequence(configuration const& c, M& m, std::int64_t s) {
  return m.middleRows(s * c.context, c.context);
}

/// Tasks for dW = dY^T x; dy and x are read when they run.
template <class S>
void add_weight_gradient(task_list& tasks, matrix<S> const& dy, matrix<S> const& x,
                         Eigen::Map<matrix<S>> dw) {
  std::int64_t const panel = 64;
  for (std::int64_t r = 0; r < dw.rows(); r += panel) {
    std::int64_t const n = std::min(panel, dw.rows() - r);
    tasks.add([&dy, &x, dw, r, n]() mutable {
      dw.middleRows(r, n).noalias() = dy.middleCols(r, n).transpose() * x;
    });
  }
}

// --- layer norm ---------------------------------------------------------------------------------

/// y = u weight + bias with u = (x - mean) / sigma, sigma^2 = variance + eps, over each row.
template <class S>
class layer_norm {
 public:
  layer_norm(configuration const& c, norm_ids ids)
      : c_{c},
        ids_{ids},
        unit_(c.tokens(), c.width),
        inverse_(c.tokens()),
        y_(c.tokens(), c.width),
        dweight_(c.batch, c.width),
        dbias_(c.batch, c.width) {}

  void forward(tensor_values<S> const& w, std::int64_t s, matrix<S> const& x) {
    auto const weight = w(ids_.weight), bias = w(ids_.bias);
    for (auto r = s * c_.context; r < (s + 1) * c_.context; ++r) {
      unit_.row(r) = x.row(r).array() - x.row(r).mean();
      S const variance = unit_.row(r).squaredNorm() / static_cast<S>(c_.width);
      inverse_(r) = 1 / std::sqrt(variance + S(1e-5));
      unit_.row(r) *= inverse_(r);
      y_.row(r) = unit_.row(r).cwiseProduct(weight.row(0)) + bias.row(0);
    }
  }

  matrix<S> const& output() const { return y_; }

  /// dx += ...: with h = dy weight, dX = (h - mean(h) - u mean(h u)) / sigma.
  void backward(tensor_values<S> const& w, std::int64_t s, matrix<S> const& dy, matrix<S>& dx) {
    auto const weight = w(ids_.weight);
    auto const width = static_cast<S>(c_.width);
    Eigen::Array<S, 1, Eigen::Dynamic> h(c_.width);
    for (auto r = s * c_.context; r < (s + 1) * c_.context; ++r) {
      auto const u = unit_.row(r).array();
      h = dy.row(r).array() * weight.row(0).array();
      S const mean = h.sum() / width, along = (h * u).sum() / width;
      dx.row(r).array() += inverse_(r) * (h - mean - along * u);
    }
    dweight_.row(s) = sequence(c_, dy, s).cwiseProduct(sequence(c_, unit_, s)).colwise().sum();
    dbias_.row(s) = sequence(c_, dy, s).colwise().sum();
  }

  void add_weight_gradients(task_list& tasks, tensor_values<S>& dw) {
    tasks.add([this, &dw] {
      dw(ids_.weight) = dweight_.colwise().sum();
      dw(ids_.bias) = dbias_.colwise().sum();
    });
  }

 private:
  configuration c_;
  norm_ids ids_;
  matrix<S> unit_;                               // (N, D) u
  Eigen::Matrix<S, Eigen::Dynamic, 1> inverse_;  // (N) 1 / sigma
  matrix<S> y_;                                  // (N, D)
  matrix<S> dweight_, dbias_;                    // (B, D) each sequence's share
};

// --- attention ----------------------------------------------------------------------------------

/// Causal grouped-query attention.
template <class S>
class attention {
 public:
  attention(configuration const& c, attention_ids ids)
      : c_{c},
        ids_{ids},
        query_(c.tokens(), c.width),
        key_(c.tokens(), c.key_value_width()),
        value_(c.tokens(), c.key_value_width()),
        mixed_(c.tokens(), c.width),
        chance_(c.tokens() * c.heads, c.context),
        dout_(c.tokens(), c.width),
        dquery_(c.tokens(), c.width),
        dkey_(c.tokens(), c.key_value_width()),
        dvalue_(c.tokens(), c.key_value_width()) {}

  /// residual += attention(x)
  void forward(tensor_values<S> const& w, std::int64_t s, matrix<S> const& x, matrix<S>& residual) {
    auto const in = sequence(c_, x, s);
    sequence(c_, query_, s).noalias() = in * w(ids_.query).transpose();
    sequence(c_, key_, s).noalias() = in * w(ids_.key).transpose();
    sequence(c_, value_, s).noalias() = in * w(ids_.value).transpose();
    for (int h = 0; h < c_.heads; ++h) {
      auto p = chance(s, h);  // (T, T): softmax of each row's first t + 1 scores
      p.noalias() = head(query_, s, h) * head(key_, s, shared(h)).transpose();
      for (int t = 0; t < c_.context; ++t) {
        auto seen = p.row(t).head(t + 1).array();
        seen = ((seen - seen.maxCoeff()) * scale()).exp();
        seen /= seen.sum();
        p.row(t).tail(c_.context - t - 1).setZero();
      }
      head(mixed_, s, h).noalias() = p * head(value_, s, shared(h));
    }
    sequence(c_, residual, s).noalias() += sequence(c_, mixed_, s) * w(ids_.output).transpose();
  }

  /// dx = ... from dy = d(residual). A softmax p of scores z has dz = p (dp - sum(p dp)).
  void backward(tensor_values<S> const& w, std::int64_t s, matrix<S> const& dy, matrix<S>& dx) {
    sequence(c_, dout_, s) = sequence(c_, dy, s);
    matrix<S> dmixed(c_.context, c_.width), dscore(c_.context, c_.context);
    dmixed.noalias() = sequence(c_, dy, s) * w(ids_.output);
    sequence(c_, dkey_, s).setZero();
    sequence(c_, dvalue_, s).setZero();
    for (int h = 0; h < c_.heads; ++h) {
      auto const p = chance(s, h);
      auto const d = dmixed.middleCols(h * c_.head_width(), c_.head_width());
      head(dvalue_, s, shared(h)).noalias() += p.transpose() * d;
      dscore.noalias() = d * head(value_, s, shared(h)).transpose();  // dp
      for (int t = 0; t < c_.context; ++t) {
        S const along = p.row(t).dot(dscore.row(t));
        dscore.row(t).array() = scale() * p.row(t).array() * (dscore.row(t).array() - along);
      }
      head(dquery_, s, h).noalias() = dscore * head(key_, s, shared(h));
      head(dkey_, s, shared(h)).noalias() += dscore.transpose() * head(query_, s, h);
    }
    auto out = sequence(c_, dx, s);
    out.noalias() = sequence(c_, dquery_, s) * w(ids_.query);
    out.noalias() += sequence(c_, dkey_, s) * w(ids_.key);
    out.noalias() += sequence(c_, dvalue_, s) * w(ids_.value);
  }

  void add_weight_gradients(task_list& tasks, matrix<S> const& x, tensor_values<S>& dw) {
    add_weight_gradient(tasks, dquery_, x, dw(ids_.query));
    add_weight_gradient(tasks, dkey_, x, dw(ids_.key));
    add_weight_gradient(tasks, dvalue_, x, dw(ids_.value));
    add_weight_gradient(tasks, dout_, mixed_, dw(ids_.output));
  }

 private:
  int shared(int h) const { return h * c_.key_value_heads / c_.heads; }
  S scale() const { return 1 / std::sqrt(static_cast<S>(c_.head_width())); }
  auto head(matrix<S>& m, std::int64_t s, int h) const {
    return m.block(s * c_.context, h * c_.head_width(), c_.context, c_.head_width());
  }
  auto chance(std::int64_t s, int h) {
    return chance_.middleRows((s * c_.heads + h) * c_.context, c_.context);
  }

  configuration c_;
  attention_ids ids_;
  matrix<S> query_, key_, value_, mixed_;  // (N, D), (N, K), (N, K), (N, D)
  matrix<S> chance_;                       // (B heads T, T) attention probabilities
  matrix<S> dout_, dquery_, dkey_, dvalue_;
};

// --- SwiGLU -------------------------------------------------------------------------------------

/// What SwiGLU keeps of n tokens; `backward` turns gate and up into their gradients in place.
template <class S>
struct swiglu_saved {
  matrix<S> gate, up, hidden;  // (n, F)

  swiglu_saved(int n, int f) : gate(n, f), up(n, f), hidden(n, f) {}
};

/// y = (silu(x W1^T) (x W3^T)) W2^T without its last product: fills rows first … of `saved`.
template <class S>
void swiglu_forward(matrix_in<S> const& x, matrix_in<S> const& w1, matrix_in<S> const& w3,
                    swiglu_saved<S>& saved, std::int64_t first) {
  auto gate = saved.gate.middleRows(first, x.rows()), up = saved.up.middleRows(first, x.rows());
  gate.noalias() = x * w1.transpose();
  up.noalias() = x * w3.transpose();
  auto const g = gate.array();
  saved.hidden.middleRows(first, x.rows()).array() = g / (1 + (-g).exp()) * up.array();
}

/// dx = ... from dy; silu'(g) = sigma (1 + g (1 - sigma)) with sigma = 1 / (1 + exp(-g)).
template <class S>
void swiglu_backward(matrix_in<S> const& dy, matrix_in<S> const& w1, matrix_in<S> const& w3,
                     matrix_in<S> const& w2, swiglu_saved<S>& saved, std::int64_t first,
                     matrix_out<S> dx) {
  matrix<S> dhidden(dy.rows(), w2.cols());
  dhidden.noalias() = dy * w2;
  Eigen::Array<S, 1, Eigen::Dynamic> sigma(w2.cols()), dgate(w2.cols());
  for (std::int64_t r = 0; r < dy.rows(); ++r) {
    auto g = saved.gate.row(first + r).array(), u = saved.up.row(first + r).array();
    auto const dh = dhidden.row(r).array();
    sigma = 1 / (1 + (-g).exp());
    dgate = dh * u * sigma * (1 + g * (1 - sigma));
    u = dh * g * sigma;
    g = dgate;
  }
  dx.noalias() = saved.gate.middleRows(first, dy.rows()) * w1;
  dx.noalias() += saved.up.middleRows(first, dy.rows()) * w3;
}

/// The dense feed-forward layer.
template <class S>
class swiglu {
 public:
  swiglu(configuration const& c, swiglu_ids ids)
      : c_{c}, ids_{ids}, saved_(c.tokens(), c.dense_hidden), dout_(c.tokens(), c.width) {}

  /// residual += swiglu(x)
  void forward(tensor_values<S> const& w, std::int64_t s, matrix<S> const& x, matrix<S>& residual) {
    swiglu_forward<S>(sequence(c_, x, s), w(ids_.w1), w(ids_.w3), saved_, s * c_.context);
    sequence(c_, residual, s).noalias() += sequence(c_, saved_.hidden, s) * w(ids_.w2).transpose();
  }

  /// dx = ... from dy = d(residual)
  void backward(tensor_values<S> const& w, std::int64_t s, matrix<S> const& dy, matrix<S>& dx) {
    sequence(c_, dout_, s) = sequence(c_, dy, s);
    swiglu_backward<S>(sequence(c_, dy, s), w(ids_.w1), w(ids_.w3), w(ids_.w2), saved_,
                       s * c_.context, sequence(c_, dx, s));
  }

  void add_weight_gradients(task_list& tasks, matrix<S> const& x, tensor_values<S>& dw) {
    add_weight_gradient(tasks, saved_.gate, x, dw(ids_.w1));
    add_weight_gradient(tasks, saved_.up, x, dw(ids_.w3));
    add_weight_gradient(tasks, dout_, saved_.hidden, dw(ids_.w2));
  }

 private:
  configuration c_;
  swiglu_ids ids_;
  swiglu_saved<S> saved_;
  matrix<S> dout_;  // (N, D)
};

// --- loss ---------------------------------------------------------------------------------------

struct losses {
  double cross_entropy = 0;  // mean over the batch, nats
  double balance = 0;        // E sum f P of the mixture, 1 = even
};

/// -log softmax(logits)[target] of the rows of sequence s; leaves the mean's gradient by the
/// logits, (softmax - target) / N, in their place.
template <class S>
void cross_entropy(configuration const& c, std::int64_t s, matrix<S>& logits,
                   std::vector<int> const& targets, Eigen::VectorXd& row_loss) {
  auto const n = static_cast<S>(c.tokens());
  for (auto i = s * c.context; i < (s + 1) * c.context; ++i) {
    auto z = logits.row(i).array();
    int const target = targets[static_cast<std::size_t>(i)];
    z -= z.maxCoeff();
    S const own = z(target);
    z = z.exp();
    S const sum = z.sum();
    row_loss(i) = std::log(static_cast<double>(sum)) - static_cast<double>(own);
    z /= sum * n;
    z(target) -= 1 / n;
  }
}

}  // namespace moe
