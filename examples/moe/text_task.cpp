// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The language model on text.

#include "moe/model.hpp"
#include "moe/task.hpp"
#include "moe/text.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace moe {
namespace {

class text_task final : public task {
 public:
  explicit text_task(job const& j)
      : text_{read_corpus(j.inputs, c_.context + 1)},
        sampler_{c_, text_.train, j.seed},
        validation_{even_batches(c_, text_.validation, n_validation_batches)} {}

  tensor_table const& table() const override { return table_; }
  std::vector<int> const& expert_tokens() const override { return model_.expert_tokens(); }

  losses train_batch(tensor_values<float> const& weights,
                     tensor_values<float>& gradients) override {
    token_batch const& batch = sampler_.next();
    losses const l = model_.forward(weights, batch);
    model_.backward(weights, batch, gradients);
    return l;
  }

  evaluation evaluate(tensor_values<float> const& weights) override {
    losses sum;
    for (token_batch const& batch : validation_) {
      losses const l = model_.forward(weights, batch);
      sum.cross_entropy += l.cross_entropy;
      sum.balance += l.balance;
    }
    auto const n = static_cast<double>(validation_.size());
    return {std::exp(sum.cross_entropy / n), sum.balance / n};
  }

  double baseline() const override { return unigram_perplexity(validation_); }
  std::int64_t batch_size() const override { return c_.tokens(); }
  std::int64_t held_out() const override {
    return static_cast<std::int64_t>(validation_.size()) * c_.tokens();
  }

 private:
  static constexpr int n_validation_batches = 32;

  configuration c_{};
  language_table table_{c_};
  language_model<float> model_{c_, table_};
  corpus text_;
  batch_sampler sampler_;
  std::vector<token_batch> validation_;
};

}  // namespace

std::unique_ptr<task> open_text(job const& j) { return std::make_unique<text_task>(j); }

}  // namespace moe
