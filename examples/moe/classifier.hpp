// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The mixture-of-experts classifier: a dense block, a mixture block, no attention.
#pragma once

#include "moe/layers.hpp"
#include "moe/mixture.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace moe {

/// The classifier's tensors; configuration::vocabulary is the number of classes.
class classifier_table : public tensor_table {
 public:
  classifier_table(configuration const& c, int inputs) {
    input = add_outer("input", c.width, inputs, 1 / std::sqrt(inputs));
    dense_norm = add_norm("block0.norm", c.width);
    dense = add_dense("block0.dense", c, residual_gain);
    mixture_norm = add_norm("block1.norm", c.width);
    router = add_router("block1.router", c.experts, c.width);
    experts = add_mixture("block1.experts", c, residual_gain);
    final_norm = add_norm("final_norm", c.width);
    output = add_outer("output", c.vocabulary, c.width, 0.02);
  }

  int input, output;  // (D, I), (classes, D)
  norm_ids dense_norm, mixture_norm, final_norm;
  swiglu_ids dense, experts;
  int router;

 private:
  static constexpr double residual_gain = 0.7;  // two sublayers add to the stream: 1 / sqrt(2)
};

/// Activations and their gradients for one batch; weights are passed in.
///
/// A batch is cut into `batch` parts of `context` examples, the tasks of the threads, which the
/// layers call sequences; nothing here depends on an example's place in its part.
template <class S>
class classifier {
 public:
  classifier(configuration const& c, classifier_table const& table)
      : c_{c},
        ids_{table},
        dense_norm_{c, table.dense_norm},
        mixture_norm_{c, table.mixture_norm},
        final_norm_{c, table.final_norm},
        dense_{c, table.dense},
        mixture_{c, table.router, table.experts},
        stream_(c.tokens(), c.width),
        logits_(c.tokens(), c.vocabulary),
        loss_(c.tokens()),
        dlogits_(c.tokens(), c.vocabulary),
        dstream_(c.tokens(), c.width),
        dlayer_(c.tokens(), c.width) {}

  /// @param[in] inputs (N, I), read again by `backward`
  losses forward(tensor_values<S> const& w, matrix<S> const& inputs,
                 std::vector<int> const& targets) {
    for_each_task(c_.batch, [&](auto s) {
      sequence(c_, stream_, s).noalias() = sequence(c_, inputs, s) * w(ids_.input).transpose();
      dense_norm_.forward(w, s, stream_);
      dense_.forward(w, s, dense_norm_.output(), stream_);
      mixture_norm_.forward(w, s, stream_);
      mixture_.route(w, s, mixture_norm_.output());
    });
    mixture_.sort();
    for_each_task(c_.experts, [&](auto e) { mixture_.run_expert(w, e, mixture_norm_.output()); });
    for_each_task(c_.batch, [&](auto s) {
      mixture_.combine(s, stream_);
      final_norm_.forward(w, s, stream_);
      sequence(c_, logits_, s).noalias() =
          sequence(c_, final_norm_.output(), s) * w(ids_.output).transpose();
      sequence(c_, dlogits_, s) = sequence(c_, logits_, s);
      cross_entropy(c_, s, dlogits_, targets, loss_);
    });
    return {loss_.mean(), mixture_.balance()};
  }

  /// Gradient of cross_entropy + balance_weight * balance; after `forward` of the same batch.
  void backward(tensor_values<S> const& w, matrix<S> const& inputs, tensor_values<S>& dw) {
    for_each_task(c_.batch, [&](auto s) {
      sequence(c_, dlayer_, s).noalias() = sequence(c_, dlogits_, s) * w(ids_.output);
      sequence(c_, dstream_, s).setZero();
      final_norm_.backward(w, s, dlayer_, dstream_);
      mixture_.split(s, dstream_);
    });
    for_each_task(c_.experts, [&](auto e) { mixture_.run_expert_backward(w, e, dw); });
    for_each_task(c_.batch, [&](auto s) {
      mixture_.backward(w, s, dlayer_);
      mixture_norm_.backward(w, s, dlayer_, dstream_);
      dense_.backward(w, s, dstream_, dlayer_);
      dense_norm_.backward(w, s, dlayer_, dstream_);
    });
    add_weight_gradient(tasks_, dlogits_, final_norm_.output(), dw(ids_.output));
    final_norm_.add_weight_gradients(tasks_, dw);
    mixture_.add_weight_gradients(tasks_, mixture_norm_.output(), dw);
    mixture_norm_.add_weight_gradients(tasks_, dw);
    dense_.add_weight_gradients(tasks_, dense_norm_.output(), dw);
    dense_norm_.add_weight_gradients(tasks_, dw);
    add_weight_gradient(tasks_, dstream_, inputs, dw(ids_.input));
    tasks_.run();
  }

  /// How many of the last batch have their class ahead of the others.
  std::int64_t correct(std::vector<int> const& targets) const {
    std::int64_t n = 0;
    for (int i = 0; i < c_.tokens(); ++i) {
      int best = 0;
      logits_.row(i).maxCoeff(&best);
      n += best == targets[static_cast<std::size_t>(i)];
    }
    return n;
  }

  /// Examples of each expert in the last batch, (E); the same vector for ever.
  std::vector<int> const& expert_tokens() const { return mixture_.counts(); }

 private:
  configuration c_;
  classifier_table const& ids_;
  layer_norm<S> dense_norm_, mixture_norm_, final_norm_;
  swiglu<S> dense_;
  mixture<S> mixture_;
  matrix<S> stream_;            // (N, D) the residual stream
  matrix<S> logits_;            // (N, classes)
  Eigen::VectorXd loss_;        // (N)
  matrix<S> dlogits_;           // (N, classes)
  matrix<S> dstream_, dlayer_;  // (N, D)
  task_list tasks_;
};

}  // namespace moe
