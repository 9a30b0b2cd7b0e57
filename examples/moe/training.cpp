// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// One training run: steps, evaluations, and what was measured.

#include "moe/job.hpp"
#include "moe/process.hpp"
#include "moe/report.hpp"
#include "moe/task.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace moe {

training_result train(job const& j) {
  double const start = seconds_now();
  Eigen::setNbThreads(1);  // the model's tasks are the parallelism
  task_words const& words = words_of(j.task);
  auto const task = j.task == task_kind::text ? open_text(j) : open_teachers(j);
  auto weights = initial_values<float>(task->table(), j.seed);
  tensor_values<float> gradients(task->table());
  auto const optimizer = j.optimizer({task->table(), task->expert_tokens(), weights, gradients});

  std::ofstream curve;
  if (!j.curve.empty()) {
    curve =
        open_csv(j.curve, format("step,%ss,train_loss,held_out_%s", std::string(words.unit).c_str(),
                                 std::string(words.metric).c_str()));
  }
  progress_bar progress(j.name, words.unit, j.steps, j.evaluations);
  double training_seconds = 0, optimizer_seconds = 0;
  double loss_sum = 0, smooth_loss = 0;
  std::int64_t loss_count = 0;
  evaluation last{};
  for (std::int64_t step = 1; step <= j.steps; ++step) {
    double const begin = seconds_now();
    losses const l = task->train_batch(weights, gradients);
    double const factor = learning_rate(j.plan, 1, step, j.steps);
    optimizer_seconds += optimizer->step(factor * j.lr, j.weight_decay, j.seed);
    training_seconds += seconds_now() - begin;

    loss_sum += l.cross_entropy;
    ++loss_count;
    smooth_loss = step == 1 ? l.cross_entropy : 0.95 * smooth_loss + 0.05 * l.cross_entropy;
    progress.show(step, smooth_loss,
                  static_cast<double>(step * task->batch_size()) / training_seconds);
    if (step * j.evaluations / j.steps != (step - 1) * j.evaluations / j.steps) {
      last = task->evaluate(weights);
      if (curve.is_open())
        curve << format("%lld,%lld,%.5f,%.5f\n", static_cast<long long>(step),
                        static_cast<long long>(step * task->batch_size()),
                        loss_sum / static_cast<double>(loss_count), last.metric)
              << std::flush;
      loss_sum = 0;
      loss_count = 0;
    }
  }
  if (curve.is_open() && !curve) throw std::runtime_error(j.curve.string() + ": cannot be written");

  training_result r{};
  r.state_bytes = optimizer->state_bytes();
  r.peak_resident_bytes = peak_resident_bytes();
  r.per_second = static_cast<double>(j.steps * task->batch_size()) / training_seconds;
  r.optimizer_share = optimizer_seconds / training_seconds;
  r.metric = last.metric;
  r.baseline = task->baseline();
  r.balance = last.balance;
  r.held_out = task->held_out();
  r.seconds = seconds_now() - start;
  return r;
}

}  // namespace moe
