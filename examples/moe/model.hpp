// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The decoder-only language model: one dense block, one mixture block, tied output head.
#pragma once

#include "moe/layers.hpp"
#include "moe/mixture.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace moe {

/// B sequences of T tokens, and for each token the one that follows it.
struct token_batch {
  std::vector<int> inputs, targets;  // (B T)
};

struct losses {
  double cross_entropy = 0;  // mean over the batch, nats per token
  double balance = 0;        // E sum f P of the mixture, 1 = even
};

/// Activations and their gradients for one batch; weights are passed in.
template <class S> class language_model {
 public:
  language_model(configuration const& c, tensor_table const& table)
      : c_{c},
        ids_{table},
        attention_norm_{{c, table.attention_norm[0]}, {c, table.attention_norm[1]}},
        feed_norm_{{c, table.feed_norm[0]}, {c, table.feed_norm[1]}},
        final_norm_{c, table.final_norm},
        attention_{{c, table.attention[0]}, {c, table.attention[1]}},
        dense_{c, table.dense},
        mixture_{c, table.router, table.experts},
        stream_(c.tokens(), c.width),
        logits_(c.tokens(), c.vocabulary),
        token_loss_(c.tokens()),
        dstream_(c.tokens(), c.width),
        dlayer_(c.tokens(), c.width) {}

  losses forward(tensor_values<S> const& w, token_batch const& batch) {
    embed(w, batch);
    attention_[0].forward(w, attention_norm_[0].forward(w, stream_), stream_);
    dense_.forward(w, feed_norm_[0].forward(w, stream_), stream_);
    attention_[1].forward(w, attention_norm_[1].forward(w, stream_), stream_);
    mixture_.forward(w, feed_norm_[1].forward(w, stream_), stream_);
    project<S>(final_norm_.forward(w, stream_), w(ids_.token), logits_);
    return {cross_entropy(batch), mixture_.balance()};
  }

  /// Gradient of cross_entropy + balance_weight * balance; after `forward` of the same batch.
  void backward(tensor_values<S> const& w, token_batch const& batch, tensor_values<S>& dw) {
    project_weight<S>(logits_, final_norm_.output(), dw(ids_.token));
    for_each_panel(c_.tokens(), token_panel, [&](auto r, auto n) {
      dlayer_.middleRows(r, n).noalias() = logits_.middleRows(r, n) * w(ids_.token);
    });
    dstream_.setZero();
    final_norm_.backward(w, dlayer_, dstream_, dw);
    mixture_.backward(w, feed_norm_[1].output(), dstream_, dlayer_, dw);
    feed_norm_[1].backward(w, dlayer_, dstream_, dw);
    attention_[1].backward(w, attention_norm_[1].output(), dstream_, dlayer_, dw);
    attention_norm_[1].backward(w, dlayer_, dstream_, dw);
    dense_.backward(w, feed_norm_[0].output(), dstream_, dlayer_, dw);
    feed_norm_[0].backward(w, dlayer_, dstream_, dw);
    attention_[0].backward(w, attention_norm_[0].output(), dstream_, dlayer_, dw);
    attention_norm_[0].backward(w, dlayer_, dstream_, dw);
    embed_backward(batch, dw);
  }

  /// Loss of each token of the last batch, (N).
  Eigen::VectorXd const& token_losses() const { return token_loss_; }

  /// Tokens of each expert in the last batch, (E).
  std::vector<int> const& expert_tokens() const { return mixture_.counts(); }

 private:
  void embed(tensor_values<S> const& w, token_batch const& batch) {
    auto const token = w(ids_.token), position = w(ids_.position);
    for (int i = 0; i < c_.tokens(); ++i) {
      stream_.row(i) =
          token.row(batch.inputs[static_cast<std::size_t>(i)]) + position.row(i % c_.context);
    }
  }

  /// The head wrote the token table's gradient already: the input side adds to it.
  void embed_backward(token_batch const& batch, tensor_values<S>& dw) {
    auto token = dw(ids_.token), position = dw(ids_.position);
    position.setZero();
    for (int i = 0; i < c_.tokens(); ++i) {
      token.row(batch.inputs[static_cast<std::size_t>(i)]) += dstream_.row(i);
      position.row(i % c_.context) += dstream_.row(i);
    }
  }

  /// Mean of -log softmax(logits)[target]; leaves its gradient (softmax - target) / N in logits_.
  double cross_entropy(token_batch const& batch) {
    for_each_panel(c_.tokens(), token_panel, [&](auto first, auto n) {
      for (auto t = first; t < first + n; ++t) {
        auto row = logits_.row(t).array();
        int const target = batch.targets[static_cast<std::size_t>(t)];
        row -= row.maxCoeff();
        S const own = row(target);
        row = row.exp();
        S const sum = row.sum();
        token_loss_(t) = std::log(static_cast<double>(sum)) - static_cast<double>(own);
        row /= sum * static_cast<S>(c_.tokens());
        row(target) -= 1 / static_cast<S>(c_.tokens());
      }
    });
    return token_loss_.mean();
  }

  configuration c_;
  tensor_table const& ids_;
  layer_norm<S> attention_norm_[2], feed_norm_[2], final_norm_;
  attention<S> attention_[2];
  swiglu<S> dense_;
  mixture<S> mixture_;
  matrix<S> stream_;            // (N, D) the residual stream
  matrix<S> logits_;            // (N, V)
  Eigen::VectorXd token_loss_;  // (N)
  matrix<S> dstream_, dlayer_;  // (N, D)
};

}  // namespace moe
