// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A model's shape, the table of its tensors, and their values.
///
/// A table is the one place that names a tensor. Initialisation, the finite-difference test and
/// the optimizer's bindings all walk it.
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace moe {

template <class S>
using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class S>
using matrix_in = Eigen::Ref<matrix<S> const>;  // a matrix, a map or a block; rows contiguous
template <class S>
using matrix_out = Eigen::Ref<matrix<S>>;

/// Sizes of the model and of a batch.
struct configuration {
  int vocabulary = 256;
  int context = 128;  // T, tokens of one sequence
  int batch = 8;      // B, sequences of one batch
  int width = 128;    // D
  int heads = 4;
  int key_value_heads = 2;  // grouped-query attention: heads / key_value_heads queries share one
  int dense_hidden = 384;
  int experts = 16;  // E
  int expert_hidden = 256;
  double balance_weight = 0.01;  // of the load-balancing loss

  int tokens() const { return batch * context; }  // N
  int head_width() const { return width / heads; }
  int key_value_width() const { return key_value_heads * head_width(); }
};

enum class population { backbone, experts, router };
inline constexpr int n_populations = 3;

/// How the optimizer stores a tensor. The model itself computes on a widened working copy.
enum class element { bf16, fp32 };

/// One row of a table.
struct tensor {
  std::string name;
  population tier;
  element storage;
  bool hidden;                        // a matrix between hidden layers: no table, no head, no norm
  std::vector<std::int64_t> extents;  // (R, C), (E, R, C) or (C)
  double centre;                      // initial values: centre + spread * normal
  double spread;
  std::int64_t offset;  // first element in the working copy

  std::int64_t cols() const { return extents.back(); }
  std::int64_t rows() const { return extents.size() < 2 ? 1 : extents[extents.size() - 2]; }
  std::int64_t matrices() const { return extents.size() < 3 ? 1 : extents.front(); }
  std::int64_t size() const { return matrices() * rows() * cols(); }
};

struct norm_ids {
  int weight, bias;  // (D)
};
struct attention_ids {
  int query, key, value, output;  // (D, D), (K, D), (K, D), (D, D); K = key_value_width
};
struct swiglu_ids {
  int w1, w3, w2;  // gate and up (F, D), down (D, F); with a leading E for the experts
};

/// All tensors of a model in their order; each model's own table says where a layer finds its own.
class tensor_table {
 public:
  int count() const { return static_cast<int>(tensors_.size()); }
  tensor const& operator[](int id) const { return tensors_[static_cast<std::size_t>(id)]; }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

  /// Elements of a working copy, gaps included.
  std::int64_t extent() const { return extent_; }

 protected:
  tensor_table() = default;

  /// A table of rows that are looked up, or a matrix at an end of the model.
  int add_outer(std::string name, int rows, int cols, double spread) {
    return add(std::move(name), population::backbone, element::bf16, false, {rows, cols}, spread);
  }
  int add_router(std::string name, int n, int width) {
    return add(std::move(name), population::router, element::fp32, false, {n, width}, 0.02);
  }
  int add_linear(std::string name, int out, int in, double gain = 1) {
    return add(std::move(name), population::backbone, element::bf16, true, {out, in},
               gain / std::sqrt(in));
  }
  int add_experts(std::string name, int n, int out, int in, double gain = 1) {
    return add(std::move(name), population::experts, element::bf16, true, {n, out, in},
               gain / std::sqrt(in));
  }
  norm_ids add_norm(std::string const& name, int width) {
    return {add(name + ".weight", population::backbone, element::fp32, false, {width}, 0, 1),
            add(name + ".bias", population::backbone, element::fp32, false, {width}, 0)};
  }
  swiglu_ids add_dense(std::string const& name, configuration const& c, double residual_gain) {
    return {add_linear(name + ".w1", c.dense_hidden, c.width),
            add_linear(name + ".w3", c.dense_hidden, c.width),
            add_linear(name + ".w2", c.width, c.dense_hidden, residual_gain)};
  }
  swiglu_ids add_mixture(std::string const& name, configuration const& c, double residual_gain) {
    return {add_experts(name + ".w1", c.experts, c.expert_hidden, c.width),
            add_experts(name + ".w3", c.experts, c.expert_hidden, c.width),
            add_experts(name + ".w2", c.experts, c.width, c.expert_hidden, residual_gain)};
  }

 private:
  int add(std::string name, population tier, element storage, bool hidden,
          std::vector<std::int64_t> extents, double spread, double centre = 0) {
    tensors_.push_back(
        {std::move(name), tier, storage, hidden, std::move(extents), centre, spread, extent_});
    std::int64_t const line = 16;
    extent_ += (tensors_.back().size() + line - 1) / line * line;
    return count() - 1;
  }

  std::vector<tensor> tensors_;
  std::int64_t extent_ = 0;
};

/// The language model's tensors.
class language_table : public tensor_table {
 public:
  explicit language_table(configuration const& c) {
    token = add_outer("token", c.vocabulary, c.width, 0.02);
    position = add_outer("position", c.context, c.width, 0.02);
    for (int b = 0; b < 2; ++b) {
      std::string const block = "block" + std::to_string(b) + ".";
      attention_norm[b] = add_norm(block + "attention_norm", c.width);
      attention[b] = {add_linear(block + "query", c.width, c.width),
                      add_linear(block + "key", c.key_value_width(), c.width),
                      add_linear(block + "value", c.key_value_width(), c.width),
                      add_linear(block + "output", c.width, c.width, residual_gain)};
      feed_norm[b] = add_norm(block + "feed_norm", c.width);
    }
    dense = add_dense("block0.dense", c, residual_gain);
    router = add_router("block1.router", c.experts, c.width);
    experts = add_mixture("block1.experts", c, residual_gain);
    final_norm = add_norm("final_norm", c.width);
  }

  int token, position;  // the token table is the output head too
  norm_ids attention_norm[2], feed_norm[2], final_norm;
  attention_ids attention[2];
  swiglu_ids dense, experts;
  int router;

 private:
  // Two sublayers in each of two blocks add to the residual stream: their last product starts
  // smaller by sqrt(4), so that the stream's variance does not grow with depth.
  static constexpr double residual_gain = 0.5;
};

/// A value for every element of every tensor: weights, or their gradients.
template <class S>
class tensor_values {
 public:
  explicit tensor_values(tensor_table const& table)
      : table_{&table}, data_{Eigen::Matrix<S, Eigen::Dynamic, 1>::Zero(table.extent())} {}

  /// Matrix e of tensor id, (R, C).
  Eigen::Map<matrix<S>> operator()(int id, std::int64_t e = 0) {
    auto const& t = (*table_)[id];
    return {data_.data() + t.offset + e * t.rows() * t.cols(), t.rows(), t.cols()};
  }
  Eigen::Map<matrix<S> const> operator()(int id, std::int64_t e = 0) const {
    auto const& t = (*table_)[id];
    return {data_.data() + t.offset + e * t.rows() * t.cols(), t.rows(), t.cols()};
  }

  /// All elements of tensor id in row-major order.
  S* elements(int id) { return data_.data() + (*table_)[id].offset; }
  S const* elements(int id) const { return data_.data() + (*table_)[id].offset; }

  /// Everything; the gaps between tensors are zero.
  Eigen::Matrix<S, Eigen::Dynamic, 1> const& all() const { return data_; }

 private:
  tensor_table const* table_;
  Eigen::Matrix<S, Eigen::Dynamic, 1> data_;
};

/// Standard normal numbers by Box-Muller: std::normal_distribution differs between libraries.
class normal_numbers {
 public:
  explicit normal_numbers(std::uint64_t seed) : bits_{seed} {}

  double operator()() {
    double const radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// A whole number below n.
  std::uint64_t below(std::uint64_t n) { return bits_() % n; }

 private:
  double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }

  std::mt19937_64 bits_;
};

/// Initial weights: a function of the seed and the table alone.
template <class S>
tensor_values<S> initial_values(tensor_table const& table, std::uint64_t seed) {
  tensor_values<S> values(table);
  normal_numbers normal(seed);
  for (int id = 0; id < table.count(); ++id) {
    tensor const& t = table[id];
    for (std::int64_t i = 0; i < t.size(); ++i) {
      double const x = t.spread == 0 ? t.centre : t.centre + t.spread * normal();
      values.elements(id)[i] = static_cast<S>(x);
    }
  }
  return values;
}

}  // namespace moe
