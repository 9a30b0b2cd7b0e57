// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The first launch of a step derives every matrix's scalars; the last commits the steps. Layer:
/// kernel.
#pragma once

#include <tieropt/functor/needs.hpp>
#include <tieropt/functor/rates.hpp>
#include <tieropt/kernel/tensor.hpp>
#include <tieropt/precision/random.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Matrices of one block in the passes over matrices.
inline constexpr int matrices_per_block = 256;

/// The eps of a step. @tparam Eps eps part @param[in] h hyperparameters @return eps, or its default
template <class Eps>
TIEROPT_HOST_DEVICE double eps_of(hyper const& h) {
  return h.eps == default_eps ? Eps::default_value : h.eps;
}

/// What a step leaves of a weight, and the steps before that the matrix missed.
/// @tparam Parts see kernel/tensor.hpp @param[in] h hyperparameters @param[in] k number of the step
/// @param[in] n decays @return (1 - lr weight_decay)^n
template <class Parts>
TIEROPT_HOST_DEVICE typename Parts::compute decay_of(hyper const& h, int64_t k, int64_t n) {
  double const once = fma(-Parts::rate::lr(h, k), h.weight_decay, 1.0);
  return to<typename Parts::compute>(n == 1 ? once : power(once, n));
}

/// Forms the scalars of one matrix in double and rounds each once.
/// @tparam Parts see kernel/tensor.hpp
/// @param[in] h hyperparameters of its group
/// @param[in] in inputs of the step
/// @param[in] k number of the step, from 1
/// @param[in] key the tensor's key
/// @return the scalars; active unless found_inf is set or a number is not finite in T
template <class Parts>
TIEROPT_HOST_DEVICE step_scalars<typename Parts::compute> derive_scalars(hyper const& h,
                                                                         step_inputs const& in,
                                                                         int64_t k, uint64_t key) {
  using T = typename Parts::compute;
  using eps = typename Parts::eps;
  using betas = typename Parts::betas;
  using correction = typename Parts::bias_correction;
  double const beta1 = betas::beta1(h, k), beta2 = betas::beta2(h, k);
  double const power1 = correction::first ? betas::beta1_power(h, k) : 0.0;
  double const power2 = correction::second ? betas::beta2_power(h, k) : 0.0;
  double const left2 = add(1.0, -power2), lr = Parts::rate::lr(h, k);
  double const gain1 = momentum_gain<typename Parts::momentum>(beta1, power1);
  double const gain2 = needs<Parts>::divides ? eps::update_gain(power2) : 1.0;
  double const scale = div(in.clip_factor, in.grad_scale);
  step_scalars<T> s;
  s.beta1 = to<T>(beta1);
  s.one_minus_beta1 = to<T>(add(1.0, -beta1));
  s.beta2 = to<T>(beta2);
  s.one_minus_beta2 = to<T>(add(1.0, -beta2));
  s.correction2 = to<T>(div(1.0, left2));
  s.root_correction2 = to<T>(div(1.0, sqrt(left2)));
  s.update_gain = to<T>(needs<Parts>::of_update ? gain2 : mul(gain1, gain2));
  s.outer_gain = to<T>(needs<Parts>::of_update ? gain1 : 1.0);
  s.eps = to<T>(eps_of<eps>(h));
  s.clip = to<T>(h.clip);
  s.lr = to<T>(lr);
  s.decay = decay_of<Parts>(h, k, 1);
  s.weight_decay = to<T>(h.weight_decay);
  s.eps2 = to<T>(h.eps2);
  s.grad_gain = to<T>(Parts::maximize ? neg(scale) : scale);
  s.norm_gain = T(1);
  s.unscaling = s.grad_gain;
  s.squared_norm = T(0);
  s.rounding_key = rounding_key(in.seed, key, static_cast<uint64_t>(k));
  s.next_step = k;
  s.idle = false;
  s.faulty = false;
  s.active = in.found_inf == 0;
  for (double const x :
       {beta1, beta2, h.beta2_decay, in.grad_scale, in.clip_factor, in.max_grad_norm,
        to<double>(s.lr), to<double>(s.eps), to<double>(s.clip), to<double>(s.decay),
        to<double>(s.weight_decay), to<double>(s.eps2), to<double>(s.grad_gain)}) {
    s.active = s.active && is_finite(x);
  }
  return s;
}

/// Derives the scalars of all matrices of a range from their own steps.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct begin_step_body {
  using storage = byte[16];                               ///< no use
  static constexpr tuning tune = tune_for<Parts>(16, 2);  ///< mapping
  tensor_table<Parts> table;                              ///< the tensors
  int64_t n_matrices;                                     ///< of the range
  hyper const* resident_hypers;                           ///< read instead of hypers unless null
  step_inputs const* resident_inputs;                     ///< read instead of inputs unless null
  step_inputs inputs;                                     ///< of the step
  hyper hypers[max_groups];                               ///< by group

  /// Runs one block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    int64_t const base = block.index() * matrices_per_block;
    block.for_each(clamp_count(n_matrices - base, matrices_per_block), [&](int64_t i) {
      int64_t const found = table.find(&tensor_entry<Parts>::first_matrix, base + i);
      auto const& tensor = table.entries[found];
      int64_t const e = base + i - tensor.first_matrix;
      int64_t const step = tensor.step[Parts::step_scope == scope::tensor ? 0 : e];
      hyper const h = resident_hypers ? resident_hypers[tensor.group] : hypers[tensor.group];
      step_inputs const in = resident_inputs ? *resident_inputs : inputs;
      auto s = derive_scalars<Parts>(h, in, step + 1, tensor.key);
      if constexpr (needs<Parts>::orthogonal) {
        s.outer_gain = to<typename Parts::compute>(
            Parts::orthogonal::scale::factor(tensor.shape.R, tensor.shape.C));
      }
      bool const wanted = tensor.active == nullptr || tensor.active[e] != 0;
      bool const ready = s.active && table.grads[found] != nullptr;
      if constexpr (needs<Parts>::can_catch_up) {
        if (tensor.missed != nullptr && tensor.missed[e] > 0) {
          s.decay = decay_of<Parts>(h, step + 1, tensor.missed[e] + 1);
        }
      }
      s.active = ready && wanted;
      s.idle = ready && !wanted;
      tensor.scalars[e] = s;
      tensor.places[e] = tensor.find(e);
    });
  }
};

/// Commits the steps that were taken, after their last reader.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct commit_steps_body {
  using storage = byte[16];                               ///< no use
  static constexpr tuning tune = tune_for<Parts>(16, 2);  ///< mapping
  tensor_table<Parts> table;                              ///< the tensors
  int64_t n_matrices;                                     ///< of the range

  /// Runs one block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    int64_t const base = block.index() * matrices_per_block;
    block.for_each(clamp_count(n_matrices - base, matrices_per_block), [&](int64_t i) {
      auto const& tensor = table.entries[table.find(&tensor_entry<Parts>::first_matrix, base + i)];
      int64_t const e = base + i - tensor.first_matrix;
      auto const& s = tensor.scalars[e];
      bool const writes = Parts::step_scope == scope::matrix || e == 0;
      if (writes && s.active) tensor.step[e] = s.next_step;
      if constexpr (needs<Parts>::can_catch_up) {
        if (tensor.missed != nullptr && (s.active || s.idle)) {
          tensor.missed[e] = s.active ? 0 : tensor.missed[e] + 1;
        }
      }
    });
  }
};

}  // namespace v0_1
}  // namespace tieropt
