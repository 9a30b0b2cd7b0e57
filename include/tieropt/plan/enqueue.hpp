// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One step of a plan, pass by pass over all ranges. Layer: plan.
#pragma once

#include <tieropt/kernel/apply.hpp>
#include <tieropt/kernel/begin_step.hpp>
#include <tieropt/kernel/squares.hpp>
#include <tieropt/kernel/survey.hpp>
#include <tieropt/plan/prepare.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Whether a number is finite in everything that a plan computes in. @tparam Plan a plan
/// @param[in] x number @return true if so
template <class Plan>
TIEROPT_HOST bool fits(double x) {
  return is_finite(Plan::computes_in_float ? widen(narrow(x)) : x);
}

/// Checks host hyperparameters against what a plan needs.
/// @tparam Plan a plan @param[in] p the plan @param[in] hypers one per group
/// @return ok, or hyper_groups, hyper_group, hyper_not_finite, hyper_beta, hyper_eps, hyper_clip,
/// hyper_adafactor with the group as status::tensor
template <class Plan>
TIEROPT_HOST status check_hypers(Plan const& p, cuda::std::span<hyper const> hypers) {
  if (hypers.size() > static_cast<size_t>(max_groups)) return {errc::hyper_groups};
  for (int i = 0; i < Plan::n_ranges; ++i) {
    if (p.size(i).max_group >= static_cast<int>(hypers.size())) {
      return {errc::hyper_group, 0, i, p.size(i).max_group};
    }
  }
  for (size_t g = 0; g < hypers.size(); ++g) {
    hyper const& h = hypers[g];
    auto const refuse_with = [&](errc code) {
      return status{code, 0, -1, static_cast<int64_t>(g)};
    };
    for (double const x : {h.lr, h.beta1, h.beta2, h.eps, h.clip, h.weight_decay,
                           h.lr * h.weight_decay, h.beta2_decay, h.eps2}) {
      if (!fits<Plan>(x)) return refuse_with(errc::hyper_not_finite);
    }
    if (!(h.beta1 >= 0 && h.beta1 < 1 && h.beta2 >= 0 && h.beta2 < 1)) {
      return refuse_with(errc::hyper_beta);
    }
    if (h.eps != default_eps && !(h.eps >= 0x1p-126)) return refuse_with(errc::hyper_eps);
    auto const positive = [](double x) { return Plan::computes_in_float ? narrow(x) > 0 : x > 0; };
    if (!positive(h.clip)) return refuse_with(errc::hyper_clip);
    if (!(h.beta2_decay > 0 && positive(h.eps2))) return refuse_with(errc::hyper_adafactor);
  }
  return {};
}

/// Checks host inputs. @tparam Plan a plan @param[in] in inputs
/// @return ok, hyper_not_finite, input_scale or input_norm
template <class Plan>
TIEROPT_HOST status check_inputs(step_inputs const& in) {
  if (!is_finite(in.grad_scale) || !is_finite(in.clip_factor) || !is_finite(in.max_grad_norm)) {
    return {errc::hyper_not_finite};
  }
  if (in.max_grad_norm < 0) return {errc::input_norm};
  bool const positive = in.grad_scale > 0 && in.clip_factor > 0;
  if (!positive || !fits<Plan>(in.clip_factor / in.grad_scale)) return {errc::input_scale};
  return {};
}

/// Checks that no launch is beyond what an executor takes.
/// @tparam X an executor @tparam Plan a plan @param[in] p the plan @return ok, or too_large with
/// the range
template <executor X, class Plan>
TIEROPT_HOST status check_launches(Plan const& p) {
  for (int i = 0; i < Plan::n_ranges; ++i) {
    range_size const& size = p.size(i);
    int64_t const matrices = ceil_div(size.matrices, matrices_per_block);
    if (size.largest > max_blocks_of<X>() || matrices > max_blocks_of<X>()) {
      return {errc::too_large, 0, i};
    }
  }
  return {};
}

/// Where the hyperparameters and inputs of a step lie: on the host, or resident.
struct step_source {
  cuda::std::span<hyper const> hypers;           ///< on the host
  step_inputs inputs;                            ///< on the host
  hyper const* resident_hypers = nullptr;        ///< read by the bodies instead
  step_inputs const* resident_inputs = nullptr;  ///< read by the bodies instead
};

/// Launches one pass over a group of a range's matrices, where the tier needs the pass.
/// @tparam Pass a pass @tparam X an executor @tparam Parts see kernel/tensor.hpp
/// @param[in] x the executor @param[in] table tensors of the range @param[in] group its blocks
/// @param[in] stage of an orthogonal tier @return ok, too_large or device
template <template <class> class Pass, executor X, class Parts>
TIEROPT_HOST status launch(X const& x, tensor_table<Parts> const& table, group_window const& group,
                           stage_window<Parts> const& stage = {}) {
  if constexpr (Pass<Parts>::wanted) {
    using entry = tensor_entry<Parts>;
    constexpr auto first = Pass<Parts>::first;
    block_window const& window = first == &entry::first_tile   ? group.tiles
                                 : first == &entry::first_fold ? group.folds
                                 : first == &entry::first_clip ? group.clips
                                                               : group.judges;
    return x.launch(window.count, table_body<Pass<Parts>, Parts>{table, window.first, stage});
  } else {
    return {};
  }
}

/// Launches the survey of a group of a range's matrices: their gradients' squares, and what follows
/// from them. @tparam X an executor @tparam Parts see kernel/tensor.hpp @param[in] x the executor
/// @param[in] table tensors of the range @param[in] group its blocks @return ok, too_large or
/// device
template <executor X, class Parts>
TIEROPT_HOST status survey(X const& x, tensor_table<Parts> const& table,
                           group_window const& group) {
  if constexpr (!needs<Parts>::surveys) {
    return {};
  } else {
    status s;
    if constexpr (needs<Parts>::norm_pass) {
      s = launch<norm_pass>(x, table, group);
    } else {
      s = launch<squares_pass>(x, table, group);
    }
    return s ? launch<judge_pass>(x, table, group) : s;
  }
}

/// Launches the squares, unless a survey did. @tparam X an executor
/// @tparam Parts see kernel/tensor.hpp @param[in] x the executor
/// @param[in] table tensors of the range @param[in] group its blocks @return ok, too_large or
/// device
template <executor X, class Parts>
TIEROPT_HOST status launch_squares(X const& x, tensor_table<Parts> const& table,
                                   group_window const& group) {
  if constexpr (needs<Parts>::surveys && !needs<Parts>::norm_pass) {
    return {};
  } else {
    return launch<squares_pass>(x, table, group);
  }
}

/// Launches the passes of a cache-resident range group by group.
/// @tparam X an executor @tparam Parts see kernel/tensor.hpp @tparam Bound a bound_tensor
/// @param[in] x the executor @param[in] table tensors of the range
/// @param[in] tensors the same, as bound @param[in] cache_bytes that a group should fit
/// @return ok, too_large or device
template <executor X, class Parts, class Bound>
TIEROPT_HOST status launch_groups(X const& x, tensor_table<Parts> const& table,
                                  cuda::std::span<Bound const> tensors, int64_t cache_bytes) {
  return for_each_group(tensors, cache_bytes, [&](group_window const& group, int64_t) {
    status s;
    if constexpr (!surveys_first<Parts>) s = survey(x, table, group);
    if (s) s = launch<weigh_pass>(x, table, group);
    if (s) s = launch_squares(x, table, group);
    if (s) s = launch<fold_pass>(x, table, group);
    if (s) s = launch<measure_pass>(x, table, group);
    if (s) s = launch<find_factors_pass>(x, table, group);
    if (s) s = launch<apply_pass>(x, table, group);
    return s;
  });
}

/// Launches the passes of an orthogonal range batch by batch: the update is measured, staged,
/// multiplied and applied.
/// @tparam X an executor that multiplies @tparam Parts see kernel/tensor.hpp
/// @tparam Bound a bound_tensor @param[in] x the executor @param[in] table tensors of the range
/// @param[in] tensors the same, as bound @param[in] limit of the scratch, in bytes
/// @param[in,out] scratch that all ranges share @return ok, too_large, device or product
template <executor X, class Parts, class Bound>
TIEROPT_HOST status launch_batches(X const& x, tensor_table<Parts> const& table,
                                   cuda::std::span<Bound const> tensors, int64_t limit,
                                   byte* scratch) {
  using element = stage_element<Parts>;
  static_assert(multiplying_executor<X, element>,
                "[tieropt-executor-gemm] this policy multiplies matrices: enqueue it with "
                "with_gemm(executor, gemm), where gemm takes a matrix_product of newton_schulz's "
                "element type and returns a status; see tieropt/executor/gemm.hpp");
  return for_each_batch(tensors, limit, [&](matrix_batch const& batch) -> status {
    group_window const& group = batch.window;
    batch_scratch<element> buffers{scratch, batch};
    status s = launch<measure_pass>(x, table, group);
    if (s) s = launch<find_factors_pass>(x, table, group);
    if (s) s = launch<stage_pass>(x, table, group, {buffers.x, batch.first_matrix});
    if (s) s = orthogonalize<typename Parts::orthogonal>(x, batch, buffers);
    if (s) s = launch<apply_pass>(x, table, group, {buffers.x, batch.first_matrix});
    return s;
  });
}

/// Adds up what was surveyed of a range. @tparam X an executor @tparam Plan a plan
/// @tparam I which range @param[in] x the executor @param[in] p the plan
/// @param[in,out] workspace a prepared one @return ok or device
template <executor X, class Plan, size_t I>
TIEROPT_HOST status tally_range(X const& x, Plan const& p, cuda::std::span<byte> workspace,
                                cuda::std::integral_constant<size_t, I>) {
  using parts = typename Plan::template bound_type<I>::parts;
  if constexpr (Plan::template tallies<parts>) {
    int64_t const n = p.size(static_cast<int>(I)).matrices;
    return x.launch(n == 0 ? 0 : 1, tally_body<parts>{workspace_of<I>(p, workspace).scalars, n,
                                                      records_of(p, workspace) + I});
  } else {
    return {};
  }
}

/// Lets a range rest, or scales its gradients. @tparam X an executor @tparam Plan a plan
/// @tparam I which range @param[in] x the executor @param[in] p the plan
/// @param[in,out] workspace a prepared one @param[in] source inputs @return ok or device
template <executor X, class Plan, size_t I>
TIEROPT_HOST status settle_range(X const& x, Plan const& p, cuda::std::span<byte> workspace,
                                 cuda::std::integral_constant<size_t, I>,
                                 step_source const& source) {
  using parts = typename Plan::template bound_type<I>::parts;
  if constexpr (Plan::template settles<parts>) {
    int64_t const n = p.size(static_cast<int>(I)).matrices;
    return x.launch(ceil_div(n, matrices_per_block),
                    settle_body<parts>{workspace_of<I>(p, workspace).scalars, n,
                                       records_of(p, workspace), Plan::n_ranges,
                                       static_cast<int>(I), source.resident_inputs, source.inputs});
  } else {
    return {};
  }
}

/// Adds a range's faults to its counts. @tparam X an executor @tparam Plan a plan
/// @tparam I which range @param[in] x the executor @param[in] p the plan
/// @param[in,out] workspace a prepared one @return ok or device
template <executor X, class Plan, size_t I>
TIEROPT_HOST status count_range(X const& x, Plan const& p, cuda::std::span<byte> workspace,
                                cuda::std::integral_constant<size_t, I>) {
  using parts = typename Plan::template bound_type<I>::parts;
  if constexpr (count_body<parts>::wanted) {
    range_size const& size = p.size(static_cast<int>(I));
    auto const work = workspace_of<I>(p, workspace);
    return x.launch(size.matrices == 0 ? 0 : 1,
                    count_body<parts>{work.scalars, size.matrices, work.faulty,
                                      fault_leaves<parts>(size), records_of(p, workspace) + I});
  } else {
    return {};
  }
}

/// Launches one step of a plan whose inputs were checked; see enqueue.
///
/// begin_step; where gradients are surveyed, norm or squares, judge, tally, settle; then weigh,
/// squares, fold, measure, find_factors, apply as far as a tier needs them; then commit_steps, and
/// count where faults are. Streaming ranges go pass by pass together, cache-resident ones group by
/// group, orthogonal ones batch by batch.
/// @tparam X an executor @tparam Plan a plan @param[in] x the executor @param[in] p the plan
/// @param[in,out] workspace a prepared one @param[in] source hyperparameters and inputs
/// @return ok, too_large or device
template <executor X, class Plan>
TIEROPT_HOST status launch_step(X const& x, Plan const& p, cuda::std::span<byte> workspace,
                                step_source const& source) {
  // Calls f(table, size, tensors) for every range.
  auto const each = [&](auto const& f) {
    return for_each_range(p, [&](auto range) -> status {
      constexpr size_t i = decltype(range)::value;
      range_size const& size = p.size(static_cast<int>(i));
      status s =
          f(workspace_of<i>(p, workspace).table(size.tensors), size, p.template tensors<i>());
      if (!s && s.range < 0) s.range = static_cast<int>(i);
      return s;
    });
  };
  // Calls f(table, group) for every streaming range: all of it is one group.
  auto const together = [&](auto const& f) {
    return each([&]<class Parts>(tensor_table<Parts> const& table, range_size const& size,
                                 auto const&) -> status {
      if (needs<Parts>::orthogonal || size.groups != 0) return {};
      return f(table, whole_range(size));
    });
  };

  status s = each([&]<class Parts>(tensor_table<Parts> const& table, range_size const& size,
                                   auto const&) {
    begin_step_body<Parts> body{
        table, size.matrices, source.resident_hypers, source.resident_inputs, source.inputs, {}};
    for (size_t g = 0; g < source.hypers.size(); ++g) body.hypers[g] = source.hypers[g];
    return x.launch(ceil_div(size.matrices, matrices_per_block), body);
  });
  // What the plan waits for.
  if (s) {
    s = each([&]<class Parts>(tensor_table<Parts> const& table, range_size const& size,
                              auto const&) -> status {
      if (!surveys_first<Parts> && size.groups != 0) return {};
      return survey(x, table, whole_range(size));
    });
  }
  if (s) s = for_each_range(p, [&](auto range) { return tally_range(x, p, workspace, range); });
  if (s) {
    s = for_each_range(p, [&](auto range) { return settle_range(x, p, workspace, range, source); });
  }
  if (s) s = together([&](auto const& t, auto const& g) { return launch<weigh_pass>(x, t, g); });
  if (s) s = together([&](auto const& t, auto const& g) { return launch_squares(x, t, g); });
  if (s) s = together([&](auto const& t, auto const& g) { return launch<fold_pass>(x, t, g); });
  if (s) s = together([&](auto const& t, auto const& g) { return launch<measure_pass>(x, t, g); });
  if (s)
    s = together([&](auto const& t, auto const& g) { return launch<find_factors_pass>(x, t, g); });
  if (s) s = together([&](auto const& t, auto const& g) { return launch<apply_pass>(x, t, g); });
  if (s)
    s = each([&]<class Parts>(tensor_table<Parts> const& table, range_size const& size,
                              auto const& tensors) -> status {
      if constexpr (needs<Parts>::orthogonal) {
        return launch_batches(x, table, tensors, p.how().workspace_limit,
                              workspace.data() + p.scratch_offset());
      } else if (size.groups != 0) {
        return launch_groups(x, table, tensors, p.how().cache_bytes);
      } else {
        return {};
      }
    });
  if (!s) return s;
  s = each([&]<class Parts>(tensor_table<Parts> const& table, range_size const& size, auto const&) {
    return x.launch(ceil_div(size.matrices, matrices_per_block),
                    commit_steps_body<Parts>{table, size.matrices});
  });
  if (s) s = for_each_range(p, [&](auto range) { return count_range(x, p, workspace, range); });
  return s;
}

/// One optimizer step over all tensors of a prepared plan.
///
/// Everything is checked before the first launch: after an error other than device or product
/// nothing was written; after one of those the step is half done, its states and weights are not to
/// be used. All launches go to the executor's stream, in order; nothing is allocated or waited for.
/// A matrix rests (state, step and weight untouched) when its gradient is absent, its active entry
/// is 0, found_inf is set, or a resident number is not finite.
///
/// The order, whatever the tier: the gradient is unscaled, negated where the tier maximises, judged
/// by the fault part, clipped by the norm of all gradients, and gets its L2 term; the moments take
/// it in; the update is formed, transformed, clipped (and orthogonalised); the weight decays; the
/// learning rate times the update, or the momentum of that, is subtracted; and the result is
/// rounded once. Gradients are never written.
/// @tparam X an executor @tparam Plan a plan
/// @param[in] x the executor @param[in] p the plan @param[in,out] workspace a prepared one
/// @param[in] hypers one per group, at most 32
/// @param[in] inputs seed, scales, found_inf
/// @return ok, workspace_size, workspace_alignment, hyper_*, input_scale, too_large, device,
/// product
template <executor X, class Plan>
TIEROPT_HOST status enqueue(X const& x, Plan const& p, cuda::std::span<byte> workspace,
                            cuda::std::span<hyper const> hypers, step_inputs const& inputs = {}) {
  status s = check_workspace(p, workspace);
  if (s) s = check_launches<X>(p);
  if (s) s = check_hypers(p, hypers);
  if (s) s = check_inputs<Plan>(inputs);
  return s ? launch_step(x, p, workspace, {hypers, inputs}) : s;
}

/// One step with hyperparameters and inputs that are read when it runs: a captured step replays
/// with new values. @pre betas in [0, 1), eps, clip, beta2_decay and eps2 positive, one hyper per
/// group that is named.
/// @tparam X an executor @tparam Plan a plan
/// @param[in] x the executor @param[in] p the plan @param[in,out] workspace a prepared one
/// @param[in] hypers (groups), where the executor's bodies read
/// @param[in] inputs one, where the executor's bodies read
/// @return ok, null_buffer, workspace_size, workspace_alignment, too_large, device or product
template <executor X, class Plan>
TIEROPT_HOST status enqueue(X const& x, Plan const& p, cuda::std::span<byte> workspace,
                            resident<hyper> hypers, resident<step_inputs> inputs) {
  if (hypers.data == nullptr || inputs.data == nullptr) return {errc::null_buffer};
  status s = check_workspace(p, workspace);
  if (s) s = check_launches<X>(p);
  return s ? launch_step(x, p, workspace, {{}, {}, hypers.data, inputs.data}) : s;
}

}  // namespace v0_1
}  // namespace tieropt
