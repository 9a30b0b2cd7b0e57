// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dense layers, forward and backward: linear map, layer norm, causal attention, SwiGLU.
///
/// Conventions: a row is a token; a weight is (out, in), so y = x W^T. dX names the gradient of the
/// loss by X. `forward` keeps what `backward` needs; weight gradients are written, not accumulated.
#pragma once

#include "moe/parallel.hpp"
#include "moe/tensors.hpp"

#include <cmath>
#include <cstdint>

namespace moe {

// --- linear map ---------------------------------------------------------------------------------

/// y = x W^T
template <class S> void project(matrix_in<S> const& x, matrix_in<S> const& w, matrix_out<S> y) {
  for_each_panel(x.rows(), token_panel, [&](auto r, auto n) {
    y.middleRows(r, n).noalias() = x.middleRows(r, n) * w.transpose();
  });
}

/// y += x W^T
template <class S> void project_add(matrix_in<S> const& x, matrix_in<S> const& w, matrix_out<S> y) {
  for_each_panel(x.rows(), token_panel, [&](auto r, auto n) {
    y.middleRows(r, n).noalias() += x.middleRows(r, n) * w.transpose();
  });
}

/// dW = dY^T x
template <class S>
void project_weight(matrix_in<S> const& dy, matrix_in<S> const& x, matrix_out<S> dw) {
  for_each_panel(dw.rows(), weight_panel, [&](auto r, auto n) {
    dw.middleRows(r, n).noalias() = dy.middleCols(r, n).transpose() * x;
  });
}

// --- layer norm ---------------------------------------------------------------------------------

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, over each row.
template <class S> class layer_norm {
 public:
  layer_norm(configuration const& c, norm_ids ids)
      : ids_{ids}, unit_(c.tokens(), c.width), inverse_(c.tokens()), y_(c.tokens(), c.width) {}

  matrix<S> const& forward(tensor_values<S> const& w, matrix<S> const& x) {
    auto const weight = w(ids_.weight), bias = w(ids_.bias);
    for_each_panel(x.rows(), token_panel, [&](auto first, auto n) {
      for (auto r = first; r < first + n; ++r) {
        unit_.row(r) = x.row(r).array() - x.row(r).mean();
        S const variance = unit_.row(r).squaredNorm() / static_cast<S>(x.cols());
        inverse_(r) = 1 / std::sqrt(variance + S(1e-5));
        unit_.row(r) *= inverse_(r);
        y_.row(r) = unit_.row(r).cwiseProduct(weight.row(0)) + bias.row(0);
      }
    });
    return y_;
  }

  matrix<S> const& output() const { return y_; }

  /// dX += ... ; with u the normalised row and h = dY weight: dX = (h - mean(h) - u mean(h u)) /
  /// sigma.
  void backward(tensor_values<S> const& w, matrix<S> const& dy, matrix<S>& dx,
                tensor_values<S>& dw) {
    auto const weight = w(ids_.weight);
    S const cols = static_cast<S>(dy.cols());
    for_each_panel(dy.rows(), token_panel, [&](auto first, auto n) {
      matrix<S> h(1, dy.cols());
      for (auto r = first; r < first + n; ++r) {
        h = dy.row(r).cwiseProduct(weight.row(0));
        S const mean = h.sum() / cols;
        S const along = h.row(0).dot(unit_.row(r)) / cols;
        dx.row(r).array() += inverse_(r) * (h.row(0).array() - mean - along * unit_.row(r).array());
      }
    });
    dw(ids_.weight).row(0) = dy.cwiseProduct(unit_).colwise().sum();
    dw(ids_.bias).row(0) = dy.colwise().sum();
  }

 private:
  norm_ids ids_;
  matrix<S> unit_;                               // (N, D) rows of mean 0 and variance 1
  Eigen::Matrix<S, Eigen::Dynamic, 1> inverse_;  // (N) 1 / sigma
  matrix<S> y_;                                  // (N, D)
};

// --- attention ----------------------------------------------------------------------------------

/// Causal grouped-query attention; tasks are (sequence, key-value head) pairs.
template <class S> class attention {
 public:
  attention(configuration const& c, attention_ids ids)
      : c_{c},
        ids_{ids},
        query_(c.tokens(), c.width),
        key_(c.tokens(), c.key_value_width()),
        value_(c.tokens(), c.key_value_width()),
        mixed_(c.tokens(), c.width),
        chance_(c.tokens() * c.heads, c.context),
        dquery_(c.tokens(), c.width),
        dkey_(c.tokens(), c.key_value_width()),
        dvalue_(c.tokens(), c.key_value_width()) {}

  /// residual += attention(x)
  void forward(tensor_values<S> const& w, matrix<S> const& x, matrix<S>& residual) {
    project<S>(x, w(ids_.query), query_);
    project<S>(x, w(ids_.key), key_);
    project<S>(x, w(ids_.value), value_);
    S const scale = 1 / std::sqrt(static_cast<S>(c_.head_width()));
    for_each_head([&](auto sequence, auto group, auto head) {
      auto const k = part(key_, sequence, group), v = part(value_, sequence, group);
      auto p = chance(sequence, head);  // (T, T): softmax of each row's first t + 1 scores
      p.noalias() = part(query_, sequence, head) * k.transpose();
      for (int t = 0; t < c_.context; ++t) {
        auto seen = p.row(t).head(t + 1).array();
        seen = ((seen - seen.maxCoeff()) * scale).exp();
        seen /= seen.sum();
        p.row(t).tail(c_.context - t - 1).setZero();
      }
      part(mixed_, sequence, head).noalias() = p * v;
    });
    project_add<S>(mixed_, w(ids_.output), residual);
  }

  /// From d(residual) to dX. A softmax p of scores s has ds = p (dp - sum(p dp)).
  void backward(tensor_values<S> const& w, matrix<S> const& x, matrix<S> const& dy, matrix<S>& dx,
                tensor_values<S>& dw) {
    project_weight<S>(dy, mixed_, dw(ids_.output));
    matrix<S>& dmixed = mixed_;  // its values have served
    for_each_panel(dy.rows(), token_panel, [&](auto r, auto n) {
      dmixed.middleRows(r, n).noalias() = dy.middleRows(r, n) * w(ids_.output);
    });
    dkey_.setZero();
    dvalue_.setZero();
    S const scale = 1 / std::sqrt(static_cast<S>(c_.head_width()));
    for_each_head([&](auto sequence, auto group, auto head) {
      auto const q = part(query_, sequence, head), k = part(key_, sequence, group);
      auto const v = part(value_, sequence, group), dout = part(dmixed, sequence, head);
      auto const p = chance(sequence, head);
      part(dvalue_, sequence, group).noalias() += p.transpose() * dout;
      matrix<S> ds(c_.context, c_.context);
      ds.noalias() = dout * v.transpose();  // dp
      for (int t = 0; t < c_.context; ++t) {
        S const along = p.row(t).dot(ds.row(t));
        ds.row(t).array() = scale * p.row(t).array() * (ds.row(t).array() - along);
      }
      part(dquery_, sequence, head).noalias() = ds * k;
      part(dkey_, sequence, group).noalias() += ds.transpose() * q;
    });
    project_weight<S>(dquery_, x, dw(ids_.query));
    project_weight<S>(dkey_, x, dw(ids_.key));
    project_weight<S>(dvalue_, x, dw(ids_.value));
    for_each_panel(dy.rows(), token_panel, [&](auto r, auto n) {
      auto rows = dx.middleRows(r, n);
      rows.noalias() = dquery_.middleRows(r, n) * w(ids_.query);
      rows.noalias() += dkey_.middleRows(r, n) * w(ids_.key);
      rows.noalias() += dvalue_.middleRows(r, n) * w(ids_.value);
    });
  }

 private:
  // Query heads of one group run in one task: they add to the same dK and dV.
  template <class F> void for_each_head(F const& f) const {
    int const sharing = c_.heads / c_.key_value_heads;
    for_each_task(c_.batch * c_.key_value_heads, [&](auto task) {
      auto const sequence = task / c_.key_value_heads, group = task % c_.key_value_heads;
      for (int i = 0; i < sharing; ++i) {
        f(sequence, group, group * sharing + i);
      }
    });
  }
  auto part(matrix<S>& m, std::int64_t sequence, std::int64_t head) const {
    return m.block(sequence * c_.context, head * c_.head_width(), c_.context, c_.head_width());
  }
  auto chance(std::int64_t sequence, std::int64_t head) {
    return chance_.middleRows((sequence * c_.heads + head) * c_.context, c_.context);
  }

  configuration c_;
  attention_ids ids_;
  matrix<S> query_, key_, value_, mixed_;  // (N, D), (N, K), (N, K), (N, D)
  matrix<S> chance_;                       // (B heads T, T) attention probabilities
  matrix<S> dquery_, dkey_, dvalue_;
};

// --- SwiGLU -------------------------------------------------------------------------------------

/// What SwiGLU keeps of n tokens; `backward` turns gate and up into their gradients in place.
template <class S> struct swiglu_saved {
  matrix<S> gate, up, hidden;  // (n, F)

  swiglu_saved(int n, int f) : gate(n, f), up(n, f), hidden(n, f) {}
};

/// hidden = silu(x W1^T) (x W3^T) on rows first … first + n of `saved`; x has n rows.
template <class S>
void swiglu_forward(matrix_in<S> const& x, matrix_in<S> const& w1, matrix_in<S> const& w3,
                    swiglu_saved<S>& saved, std::int64_t first) {
  auto gate = saved.gate.middleRows(first, x.rows()), up = saved.up.middleRows(first, x.rows());
  gate.noalias() = x * w1.transpose();
  up.noalias() = x * w3.transpose();
  auto const g = gate.array();
  saved.hidden.middleRows(first, x.rows()).array() = g / (1 + (-g).exp()) * up.array();
}

/// dX from dhidden = dY W2; silu'(g) = s (1 + g (1 - s)) with s = 1 / (1 + exp(-g)).
template <class S>
void swiglu_backward(matrix_in<S> const& dy, matrix_in<S> const& w1, matrix_in<S> const& w3,
                     matrix_in<S> const& w2, swiglu_saved<S>& saved, std::int64_t first,
                     matrix_out<S> dx) {
  matrix<S> dhidden(dy.rows(), w2.cols());
  dhidden.noalias() = dy * w2;
  for (std::int64_t r = 0; r < dy.rows(); ++r) {
    auto g = saved.gate.row(first + r).array(), u = saved.up.row(first + r).array();
    auto dh = dhidden.row(r).array();
    Eigen::Array<S, 1, Eigen::Dynamic> const s = 1 / (1 + (-g).exp());
    Eigen::Array<S, 1, Eigen::Dynamic> const dg = dh * u * s * (1 + g * (1 - s));
    u = dh * g * s;
    g = dg;
  }
  dx.noalias() = saved.gate.middleRows(first, dy.rows()) * w1;
  dx.noalias() += saved.up.middleRows(first, dy.rows()) * w3;
}

/// The dense feed-forward layer.
template <class S> class swiglu {
 public:
  swiglu(configuration const& c, swiglu_ids ids) : ids_{ids}, saved_(c.tokens(), c.dense_hidden) {}

  /// residual += swiglu(x)
  void forward(tensor_values<S> const& w, matrix<S> const& x, matrix<S>& residual) {
    for_each_panel(x.rows(), token_panel, [&](auto r, auto n) {
      swiglu_forward<S>(x.middleRows(r, n), w(ids_.w1), w(ids_.w3), saved_, r);
      residual.middleRows(r, n).noalias() +=
          saved_.hidden.middleRows(r, n) * w(ids_.w2).transpose();
    });
  }

  void backward(tensor_values<S> const& w, matrix<S> const& x, matrix<S> const& dy, matrix<S>& dx,
                tensor_values<S>& dw) {
    for_each_panel(x.rows(), token_panel, [&](auto r, auto n) {
      swiglu_backward<S>(dy.middleRows(r, n), w(ids_.w1), w(ids_.w3), w(ids_.w2), saved_, r,
                         dx.middleRows(r, n));
    });
    project_weight<S>(dy, saved_.hidden, dw(ids_.w2));
    project_weight<S>(saved_.gate, x, dw(ids_.w1));
    project_weight<S>(saved_.up, x, dw(ids_.w3));
  }

 private:
  swiglu_ids ids_;
  swiglu_saved<S> saved_;
};

}  // namespace moe
