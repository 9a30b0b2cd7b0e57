// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The classifier on generated examples.

#include "moe/classifier.hpp"
#include "moe/task.hpp"
#include "moe/teachers.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace moe {
namespace {

configuration sizes(teacher_configuration const& t) {
  configuration c;
  c.vocabulary = t.classes;
  c.context = 64;
  c.batch = 8;
  c.width = 64;
  c.dense_hidden = 128;
  c.experts = 16;
  c.expert_hidden = 64;
  return c;
}

class teacher_task final : public task {
 public:
  explicit teacher_task(job const& j)
      : data_{t_, j.data_seed}, normal_{j.seed}, batch_{empty_batch()} {}

  tensor_table const& table() const override { return table_; }
  std::vector<int> const& expert_tokens() const override { return model_.expert_tokens(); }

  losses train_batch(tensor_values<float> const& weights,
                     tensor_values<float>& gradients) override {
    for (std::int64_t i = 0; i < c_.tokens(); ++i) {
      copy(data_.train, static_cast<std::int64_t>(normal_.below(data_.train.targets.size())), i);
    }
    losses const l = model_.forward(weights, batch_.inputs, batch_.targets);
    model_.backward(weights, batch_.inputs, gradients);
    return l;
  }

  evaluation evaluate(tensor_values<float> const& weights) override {
    std::int64_t right = 0;
    double balance = 0;
    std::int64_t const n = held_out() / c_.tokens();  // whole batches
    for (std::int64_t b = 0; b < n; ++b) {
      for (std::int64_t i = 0; i < c_.tokens(); ++i) copy(data_.held_out, b * c_.tokens() + i, i);
      balance += model_.forward(weights, batch_.inputs, batch_.targets).balance;
      right += model_.correct(batch_.targets);
    }
    return {100 * static_cast<double>(right) / static_cast<double>(held_out()),
            balance / static_cast<double>(n)};
  }

  double baseline() const override {
    return 100 * majority_share(data_.held_out.targets, t_.classes);
  }
  std::int64_t batch_size() const override { return c_.tokens(); }
  std::int64_t held_out() const override {
    return static_cast<std::int64_t>(data_.held_out.targets.size());
  }

 private:
  labelled empty_batch() const {
    return {matrix<float>(c_.tokens(), t_.inputs),
            std::vector<int>(static_cast<std::size_t>(c_.tokens()))};
  }
  void copy(labelled const& from, std::int64_t example, std::int64_t place) {
    batch_.inputs.row(place) = from.inputs.row(example);
    batch_.targets[static_cast<std::size_t>(place)] =
        from.targets[static_cast<std::size_t>(example)];
  }

  teacher_configuration t_{};
  configuration c_ = sizes(t_);
  classifier_table table_{c_, t_.inputs};
  classifier<float> model_{c_, table_};
  teacher_data data_;
  normal_numbers normal_;
  labelled batch_;
};

}  // namespace

std::unique_ptr<task> open_teachers(job const& j) { return std::make_unique<teacher_task>(j); }

}  // namespace moe
