// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One training run: data, schedule, steps, evaluations, and what was measured.
#pragma once

#include "moe/optimizer.hpp"
#include "moe/process.hpp"
#include "moe/report.hpp"
#include "moe/schedule.hpp"
#include "moe/text.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace moe {

/// What all optimizers of a comparison share.
struct job {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path out;
  std::int64_t steps = 0;
  std::uint64_t seed = 0;
  configuration model{};
  double weight_decay = 0.05;  // none on the router
};

/// What a run measured; plain bytes, since it travels through a pipe.
struct training_result {
  std::array<std::int64_t, n_populations> state_bytes;
  std::int64_t peak_resident_bytes;
  double tokens_per_second;   // of training, evaluations left out
  double optimizer_share;     // of a training step's time
  double perplexity;          // on the validation text
  double unigram_perplexity;  // of the same bytes
  double balance;             // load-balance loss on the validation text
  std::int64_t train_bytes, validation_bytes, n_documents, validation_tokens;
};

/// Mean losses over some batches.
inline losses evaluate(language_model<float>& model, tensor_values<float> const& weights,
                       std::vector<token_batch> const& batches) {
  losses sum;
  for (token_batch const& batch : batches) {
    losses const l = model.forward(weights, batch);
    sum.cross_entropy += l.cross_entropy;
    sum.balance += l.balance;
  }
  auto const n = static_cast<double>(batches.size());
  return {sum.cross_entropy / n, sum.balance / n};
}

/// Trains a model from the job's seed with a recipe, and writes its curve.
template <class Recipe>
training_result train(job const& j, std::string_view name, double peak_lr) {
  constexpr int n_validation_batches = 32, n_evaluations = 10;
  configuration const& c = j.model;
  Eigen::setNbThreads(1);  // the model's tasks are the parallelism

  corpus const text = read_corpus(j.inputs, c.context + 1);
  batch_sampler sampler(c, text.train, j.seed);
  auto const validation = even_batches(c, text.validation, n_validation_batches);

  tensor_table const table(c);
  auto weights = initial_values<float>(table, j.seed);
  tensor_values<float> gradients(table);
  language_model<float> model(c, table);
  optimizer<Recipe> steps_with(table, model.expert_tokens(), weights, gradients);

  auto curve = open_csv(curve_path(j.out, name), "step,tokens,train_loss,validation_perplexity");
  progress_bar progress(name, j.steps);
  double training_seconds = 0, optimizer_seconds = 0;
  double loss_sum = 0, smooth_loss = 0;
  std::int64_t loss_count = 0;
  losses final_losses;
  for (std::int64_t step = 1; step <= j.steps; ++step) {
    double const start = seconds_now();
    token_batch const& batch = sampler.next();
    losses const l = model.forward(weights, batch);
    model.backward(weights, batch, gradients);
    optimizer_seconds +=
        steps_with.step(learning_rate(peak_lr, step, j.steps), j.weight_decay, j.seed);
    training_seconds += seconds_now() - start;

    loss_sum += l.cross_entropy;
    ++loss_count;
    smooth_loss = step == 1 ? l.cross_entropy : 0.95 * smooth_loss + 0.05 * l.cross_entropy;
    progress.show(step, smooth_loss, static_cast<double>(step * c.tokens()) / training_seconds);
    if (step * n_evaluations / j.steps != (step - 1) * n_evaluations / j.steps) {
      final_losses = evaluate(model, weights, validation);
      curve << format("%lld,%lld,%.5f,%.5f\n", static_cast<long long>(step),
                      static_cast<long long>(step * c.tokens()),
                      loss_sum / static_cast<double>(loss_count),
                      std::exp(final_losses.cross_entropy))
            << std::flush;
      loss_sum = 0;
      loss_count = 0;
    }
  }
  if (!curve) throw std::runtime_error(curve_path(j.out, name).string() + ": cannot be written");

  training_result r{};
  r.state_bytes = steps_with.state_bytes();
  r.peak_resident_bytes = peak_resident_bytes();
  r.tokens_per_second = static_cast<double>(j.steps * c.tokens()) / training_seconds;
  r.optimizer_share = optimizer_seconds / training_seconds;
  r.perplexity = std::exp(final_losses.cross_entropy);
  r.unigram_perplexity = unigram_perplexity(validation);
  r.balance = final_losses.balance;
  r.train_bytes = static_cast<std::int64_t>(text.train.size());
  r.validation_bytes = static_cast<std::int64_t>(text.validation.size());
  r.n_documents = text.n_documents;
  r.validation_tokens = std::int64_t{n_validation_batches} * c.tokens();
  return r;
}

}  // namespace moe
