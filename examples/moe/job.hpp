// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a training run is told, and what it measured.
#pragma once

#include "moe/schedule.hpp"
#include "moe/stepper.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace moe {

/// What a model is trained to do, in words.
struct task_words {
  std::string_view name, summary;
  std::string_view unit;    // of what it is trained on
  std::string_view metric;  // of its held-out data; in files, without blanks
  char const* pattern;      // printf's, of the metric
  bool higher_is_better;
  std::string_view metric_is;  // a sentence
  std::string_view baseline;   // a sentence, behind a number
};

enum class task_kind { text, teachers };
inline constexpr task_words tasks[] = {
    {"text", "a byte-level language model on the text of the files", "token", "perplexity", "%.2f",
     false, "perplexity: per byte, over the validation text",
     "unigram perplexity of the same validation text (entropy of its own byte frequencies,\n"
     "the best that any guess without context can do)"},
    {"teachers",
     "a classifier of generated inputs: 16 clusters, each labelled by a teacher of its own",
     "example", "accuracy", "%.2f", true, "accuracy: percent of the held-out examples",
     "percent of the held-out examples are of the most frequent class (the best that any guess\n"
     "without the input can do)"},
};
constexpr task_words const& words_of(task_kind t) { return tasks[static_cast<std::size_t>(t)]; }

/// A training run; the same job and the same optimizer give the same result.
struct job {
  task_kind task = task_kind::text;
  std::vector<std::filesystem::path> inputs;  // of the task text
  std::int64_t steps = 0;
  std::uint64_t seed = 1;       // of weights, batches and rounding
  std::uint64_t data_seed = 1;  // of generated data
  schedule plan = schedule::cosine;
  rates lr;                    // after the warm-up
  double weight_decay = 0.05;  // none on the router
  int evaluations = 10;        // evenly over the run, the last at its end
  stepper_factory optimizer = nullptr;
  std::string name;             // in front of the progress bar
  std::filesystem::path curve;  // a CSV file, or empty for none
};

/// What a run measured; plain bytes, since it travels through a pipe.
struct training_result {
  std::array<std::int64_t, 3> state_bytes;  // of backbone, experts, router
  std::int64_t peak_resident_bytes;
  double per_second;       // tokens or examples of training, evaluations left out
  double optimizer_share;  // of a training step's time
  double metric, baseline;
  double balance;         // load-balance loss on the held-out data
  std::int64_t held_out;  // tokens or examples
  double seconds;         // of the whole run
};

/// Trains a model from the job's seed, and writes its curve.
training_result train(job const& j);

}  // namespace moe
