// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The decoder-only language model: one dense block, one mixture block, tied output head.
#pragma once

#include "moe/layers.hpp"
#include "moe/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moe {

/// B sequences of T tokens, and for each token the one that follows it.
struct token_batch {
  std::vector<int> inputs, targets;  // (B T)
};

/// Activations and their gradients for one batch; weights are passed in.
///
/// Sequences meet only in the experts and in the weight gradients, so each pass is a few rounds of
/// tasks: all sequences, all experts, all sequences, all weights.
template <class S>
class language_model {
 public:
  language_model(configuration const& c, language_table const& table)
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
    for_each_task(c_.batch, [&](auto s) {
      embed(w, s, batch);
      attention_norm_[0].forward(w, s, stream_);
      attention_[0].forward(w, s, attention_norm_[0].output(), stream_);
      feed_norm_[0].forward(w, s, stream_);
      dense_.forward(w, s, feed_norm_[0].output(), stream_);
      attention_norm_[1].forward(w, s, stream_);
      attention_[1].forward(w, s, attention_norm_[1].output(), stream_);
      feed_norm_[1].forward(w, s, stream_);
      mixture_.route(w, s, feed_norm_[1].output());
    });
    mixture_.sort();
    for_each_task(c_.experts, [&](auto e) { mixture_.run_expert(w, e, feed_norm_[1].output()); });
    for_each_task(c_.batch, [&](auto s) {
      mixture_.combine(s, stream_);
      final_norm_.forward(w, s, stream_);
      sequence(c_, logits_, s).noalias() =
          sequence(c_, final_norm_.output(), s) * w(ids_.token).transpose();
      cross_entropy(c_, s, logits_, batch.targets, token_loss_);
    });
    return {token_loss_.mean(), mixture_.balance()};
  }

  /// Gradient of cross_entropy + balance_weight * balance; after `forward` of the same batch.
  void backward(tensor_values<S> const& w, token_batch const& batch, tensor_values<S>& dw) {
    for_each_task(c_.batch, [&](auto s) {
      sequence(c_, dlayer_, s).noalias() = sequence(c_, logits_, s) * w(ids_.token);
      sequence(c_, dstream_, s).setZero();
      final_norm_.backward(w, s, dlayer_, dstream_);
      mixture_.split(s, dstream_);
    });
    for_each_task(c_.experts, [&](auto e) { mixture_.run_expert_backward(w, e, dw); });
    for_each_task(c_.batch, [&](auto s) {
      mixture_.backward(w, s, dlayer_);
      feed_norm_[1].backward(w, s, dlayer_, dstream_);
      attention_[1].backward(w, s, dstream_, dlayer_);
      attention_norm_[1].backward(w, s, dlayer_, dstream_);
      dense_.backward(w, s, dstream_, dlayer_);
      feed_norm_[0].backward(w, s, dlayer_, dstream_);
      attention_[0].backward(w, s, dstream_, dlayer_);
      attention_norm_[0].backward(w, s, dlayer_, dstream_);
    });
    add_weight_gradients(batch, dw);
    tasks_.run();
  }

  /// Loss of each token of the last batch, (N).
  Eigen::VectorXd const& token_losses() const { return token_loss_; }

  /// Tokens of each expert in the last batch, (E); the same vector for ever.
  std::vector<int> const& expert_tokens() const { return mixture_.counts(); }

 private:
  void embed(tensor_values<S> const& w, std::int64_t s, token_batch const& batch) {
    auto const token = w(ids_.token), position = w(ids_.position);
    for (int t = 0; t < c_.context; ++t) {
      auto const i = s * c_.context + t;
      stream_.row(i) = token.row(batch.inputs[static_cast<std::size_t>(i)]) + position.row(t);
    }
  }

  void add_weight_gradients(token_batch const& batch, tensor_values<S>& dw) {
    for (int b = 0; b < 2; ++b) {
      attention_[b].add_weight_gradients(tasks_, attention_norm_[b].output(), dw);
      attention_norm_[b].add_weight_gradients(tasks_, dw);
      feed_norm_[b].add_weight_gradients(tasks_, dw);
    }
    dense_.add_weight_gradients(tasks_, feed_norm_[0].output(), dw);
    mixture_.add_weight_gradients(tasks_, feed_norm_[1].output(), dw);
    final_norm_.add_weight_gradients(tasks_, dw);
    tasks_.add([this, &dw] {
      auto position = dw(ids_.position);
      position = sequence(c_, dstream_, 0);
      for (int s = 1; s < c_.batch; ++s) position += sequence(c_, dstream_, s);
    });
    // The token table is used twice: as the head's weight, and row by row as input.
    int const panel = 64;
    for (int r = 0; r < c_.vocabulary; r += panel) {
      tasks_.add([this, &batch, &dw, r, n = std::min(panel, c_.vocabulary - r)] {
        auto token = dw(ids_.token);
        token.middleRows(r, n).noalias() =
            logits_.middleCols(r, n).transpose() * final_norm_.output();
        for (int i = 0; i < c_.tokens(); ++i) {
          int const row = batch.inputs[static_cast<std::size_t>(i)];
          if (row >= r && row < r + n) token.row(row) += dstream_.row(i);
        }
      });
    }
  }

  configuration c_;
  language_table const& ids_;
  layer_norm<S> attention_norm_[2], feed_norm_[2], final_norm_;
  attention<S> attention_[2];
  swiglu<S> dense_;
  mixture<S> mixture_;
  matrix<S> stream_;            // (N, D) the residual stream
  matrix<S> logits_;            // (N, V)
  Eigen::VectorXd token_loss_;  // (N)
  matrix<S> dstream_, dlayer_;  // (N, D)
  task_list tasks_;
};

}  // namespace moe
