// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Puts the tables of a plan where the executor's bodies read them. Layer: plan.
#pragma once

#include <tieropt/executor/executor.hpp>
#include <tieropt/plan/plan.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The workspace of one range.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
struct range_workspace {
  tensor_entry<Parts>* entries;                    ///< (tensors)
  typename Parts::grad const** grads;              ///< (tensors)
  step_scalars<typename Parts::compute>* scalars;  ///< (matrices)
  matrix_place* places;                            ///< (matrices)
  typename Parts::compute* elements;               ///< partial results of all tensors
  int* faulty;                                     ///< (tiles, leaves) where elements are counted

  /// What the passes are given. @param[in] n tensors @return the table
  TIEROPT_HOST tensor_table<Parts> table(int64_t n) const { return {entries, grads, n}; }
};

/// The workspace of a range within that of its plan. @tparam I which range @tparam Plan a plan
/// @param[in] p the plan @param[in] workspace of the plan @return addresses
template <size_t I, class Plan>
TIEROPT_HOST auto workspace_of(Plan const& p, cuda::std::span<byte> workspace) {
  using parts = typename Plan::template bound_type<I>::parts;
  range_size const& size = p.size(static_cast<int>(I));
  byte* at = workspace.data() + p.template workspace_offset<I>();
  auto const take = [&](int64_t n, size_t element) {
    byte* const begin = at;
    at += padded_bytes(static_cast<size_t>(n) * element);
    return begin;
  };
  range_workspace<parts> w;
  w.entries = reinterpret_cast<tensor_entry<parts>*>(take(size.tensors, sizeof(*w.entries)));
  w.grads = reinterpret_cast<typename parts::grad const**>(take(size.tensors, sizeof(*w.grads)));
  w.scalars = reinterpret_cast<step_scalars<typename parts::compute>*>(
      take(size.matrices, sizeof(*w.scalars)));
  w.places = reinterpret_cast<matrix_place*>(take(size.matrices, sizeof(matrix_place)));
  w.elements = reinterpret_cast<typename parts::compute*>(take(size.elements, sizeof(*w.elements)));
  w.faulty = reinterpret_cast<int*>(take(fault_leaves<parts>(size), sizeof(int)));
  return w;
}

/// Calls f(integral_constant I) for every range of a plan until one fails.
/// @tparam Plan a plan @tparam F callable that returns a status
/// @param[in] f called once per range @return the first status that is not ok
template <class Plan, class F>
TIEROPT_HOST status for_each_range(Plan const&, F const& f) {
  status s;
  [&]<size_t... I>(cuda::std::index_sequence<I...>) {
    ((s = s ? f(cuda::std::integral_constant<size_t, I>{}) : s), ...);
  }
  (cuda::std::make_index_sequence<static_cast<size_t>(Plan::n_ranges)>{});
  return s;
}

/// Whether a workspace suits a plan. @tparam Plan a plan @param[in] p the plan
/// @param[in] workspace memory @return ok, workspace_size or workspace_alignment
template <class Plan>
TIEROPT_HOST status check_workspace(Plan const& p, cuda::std::span<byte> workspace) {
  if (workspace.size() < p.workspace_bytes()) return {errc::workspace_size};
  if (reinterpret_cast<uintptr_t>(workspace.data()) % workspace_alignment != 0) {
    return {errc::workspace_alignment};
  }
  return {};
}

/// The records of all ranges. @tparam Plan a plan @param[in] p the plan
/// @param[in] workspace of the plan @return one for each range, where the executor's bodies write
template <class Plan>
TIEROPT_HOST range_record* records_of(Plan const& p, cuda::std::span<byte> workspace) {
  return reinterpret_cast<range_record*>(workspace.data() + p.records_offset());
}

/// Uploads the tables of a plan; needed once, and again when the bound tensors' addresses change.
///
/// The tables are formed in chunks on the stack. The bound tensors are read again and must be as
/// they were in make_plan. Runs on the executor's stream; no synchronisation.
/// @tparam X an executor @tparam Plan a plan
/// @param[in] x the executor @param[in] p the plan @param[out] workspace where its bodies read
/// @return ok, workspace_size, workspace_alignment, capturing or device
template <executor X, class Plan>
TIEROPT_HOST status prepare(X const& x, Plan const& p, cuda::std::span<byte> workspace) {
  if (status const s = check_workspace(p, workspace); !s) return s;
  if constexpr (Plan::has_records) {
    range_record const records[Plan::n_ranges]{};
    if (status const s = x.upload(records_of(p, workspace), records, sizeof records); !s) return s;
  }
  return for_each_range(p, [&](auto range) {
    using bound = typename Plan::template bound_type<decltype(range)::value>;
    using parts = typename bound::parts;
    auto const to = workspace_of<decltype(range)::value>(p, workspace);
    constexpr int chunk = 32;
    tensor_entry<parts> entries[chunk];
    typename parts::grad const* grads[chunk];
    range_size at;  // what the tensors so far add up to: the places of the next one
    int64_t uploaded = 0;
    status s;
    auto const flush = [&] {
      auto const n = static_cast<size_t>(at.tensors - uploaded);
      if (s && n > 0) s = x.upload(to.entries + uploaded, entries, n * sizeof(entries[0]));
      if (s && n > 0) s = x.upload(to.grads + uploaded, grads, n * sizeof(grads[0]));
      uploaded = at.tensors;
    };
    for (bound const& tensor : p.template tensors<decltype(range)::value>()) {
      tensor_form form;
      (void)check_tensor(tensor, form);
      int64_t const i = at.tensors - uploaded;
      auto entry = make_entry(tensor, form);
      entry.work = work_of<parts>(to.elements + at.elements, entry.shape);
      entry.scalars = to.scalars + at.matrices;
      entry.places = to.places + at.matrices;
      entry.first_matrix = at.matrices;
      entry.first_tile = at.tiles;
      entry.first_fold = at.folds;
      entry.first_clip = at.clips;
      entry.first_judge = at.judges;
      entry.faulty = needs<parts>::counts_elements ? to.faulty + at.tiles * leaves : nullptr;
      entries[i] = entry;
      grads[i] = tensor.grad ? tensor.grad.data : nullptr;
      (void)count_tensor<parts>(at, form, tensor.group);
      if (at.tensors - uploaded == chunk) flush();
    }
    flush();
    return s;
  });
}

/// Replaces the addresses of the gradients; their strides stay those that were bound.
/// @pre a new gradient overlaps no buffer that the step writes; a tensor bound without a gradient
/// takes gradients laid out like its parameter
/// @tparam X an executor @tparam Policy a tier_policy @tparam Bound a bound_tensor type per range
/// @tparam Lists contiguous containers of addresses
/// @param[in] x the executor @param[in] p the plan @param[out] workspace a prepared one
/// @param[in] lists one per range of make_plan, in the order of binding; null: the tensor rests
/// @return ok, grad_list, misaligned_buffer, workspace_size, workspace_alignment, capturing, device
template <executor X, class Policy, class... Bound, class... Lists>
  requires(sizeof...(Bound) == sizeof...(Lists))
TIEROPT_HOST status rebind_grads(X const& x, plan<Policy, Bound...> const& p,
                                 cuda::std::span<byte> workspace, Lists const&... lists) {
  if (status const s = check_workspace(p, workspace); !s) return s;
  auto const all =
      cuda::std::tuple{cuda::std::span<typename Bound::grad_type const* const>(lists)...};
  status const checked = for_each_range(p, [&](auto range) -> status {
    constexpr size_t i = decltype(range)::value;
    auto const list = cuda::std::get<i>(all);
    auto const number = static_cast<int>(i);
    if (list.size() != p.template tensors<i>().size()) return {errc::grad_list, 0, number};
    for (size_t k = 0; k < list.size(); ++k) {
      if (reinterpret_cast<uintptr_t>(list[k]) % alignof(decltype(*list[k])) != 0) {
        return {errc::misaligned_buffer, 0, number, static_cast<int64_t>(k)};
      }
    }
    return {};
  });
  if (!checked) return checked;
  return for_each_range(p, [&](auto range) -> status {
    constexpr size_t i = decltype(range)::value;
    auto const list = cuda::std::get<i>(all);
    if (list.empty()) return {};
    return x.upload(workspace_of<i>(p, workspace).grads, list.data(), list.size_bytes());
  });
}

/// Calls f(elements, layout) for the partial results of one tensor.
/// @tparam I which range @tparam Plan a plan @tparam F callable @param[in] p the plan
/// @param[in] workspace a prepared one @param[in] tensor of the range @param[in] f called once
/// @return what f returns
template <size_t I, class Plan, class F>
TIEROPT_HOST auto with_work(Plan const& p, cuda::std::span<byte> workspace, int64_t tensor,
                            F const& f) {
  using parts = typename Plan::template bound_type<I>::parts;
  range_size at;
  auto const tensors = p.template tensors<I>();
  for (int64_t i = 0; i < tensor; ++i) {
    tensor_form form;
    auto const& b = tensors[static_cast<size_t>(i)];
    form.param = canonical(b.param, b.dims);
    (void)count_tensor<parts>(at, form, 0);
  }
  auto const& b = tensors[static_cast<size_t>(tensor)];
  auto const shape = canonical(b.param, b.dims).shape;
  typename parts::compute const* const elements =
      workspace_of<I>(p, workspace).elements + at.elements;
  return f(elements, lay_out<parts>(shape));
}

/// The level of the update before the clip, as the last step measured it: its RMS for rms_clip, its
/// norm for unit_norm, the share that is not 0 for cautious_scale.
/// @tparam I which range, of a clipped tier @tparam Plan a plan
/// @param[in] p the plan @param[in] workspace a prepared one @param[in] tensor of the range
/// @return its (E) or, for a tensor-wide clip, (1) values, where the executor's bodies wrote them;
/// values of matrices that rested are stale
template <size_t I, class Plan>
TIEROPT_HOST auto update_rms(Plan const& p, cuda::std::span<byte> workspace,
                             cuda::std::integral_constant<size_t, I>, int64_t tensor) {
  static_assert(needs<typename Plan::template bound_type<I>::parts>::measures,
                "[tieropt-plan-rms] only a tier with a clip measures its update");
  return with_work<I>(p, workspace, tensor, [](auto const* elements, work_layout const& at) {
    return elements + at.rms;
  });
}

/// The RMS of the parameter before the last step, which scaled its learning rate.
/// @tparam I which range, of a scaled tier @tparam Plan a plan
/// @param[in] p the plan @param[in] workspace a prepared one @param[in] tensor of the range
/// @return its (E) or, for a tensor-wide scale, (1) values, where the executor's bodies wrote them;
/// values of matrices that rested are stale
template <size_t I, class Plan>
TIEROPT_HOST auto param_rms(Plan const& p, cuda::std::span<byte> workspace,
                            cuda::std::integral_constant<size_t, I>, int64_t tensor) {
  static_assert(needs<typename Plan::template bound_type<I>::parts>::scales,
                "[tieropt-plan-param-rms] only a tier with param_rms_scale measures its parameter");
  return with_work<I>(p, workspace, tensor, [](auto const* elements, work_layout const& at) {
    return elements + at.param_rms;
  });
}

/// What was faulty in a range since prepare, as its tier's fault part counts.
/// @tparam I which range, of a tier that counts or clips the norm @tparam Plan a plan
/// @param[in] p the plan @param[in] workspace a prepared one
/// @return the counts, where the executor's bodies write them
template <size_t I, class Plan>
TIEROPT_HOST fault_counts const* faults(Plan const& p, cuda::std::span<byte> workspace,
                                        cuda::std::integral_constant<size_t, I>) {
  static_assert(count_body<typename Plan::template bound_type<I>::parts>::wanted,
                "[tieropt-plan-faults] only a tier with a fault part that counts, or with "
                "global_norm_clip, has counts");
  return &records_of(p, workspace)[I].counts;
}

/// The norm of all gradients under global_norm_clip in the last step, before it was limited.
/// @tparam I which range, of a tier with global_norm_clip @tparam Plan a plan
/// @param[in] p the plan @param[in] workspace a prepared one
/// @return the norm, where the executor's bodies write it; the same in all such ranges
template <size_t I, class Plan>
TIEROPT_HOST double const* grad_norm(Plan const& p, cuda::std::span<byte> workspace,
                                     cuda::std::integral_constant<size_t, I>) {
  static_assert(needs<typename Plan::template bound_type<I>::parts>::clips_norm,
                "[tieropt-plan-grad-norm] only a tier with global_norm_clip measures the norm of "
                "its gradients");
  return &records_of(p, workspace)[I].grad_norm;
}

}  // namespace v0_1
}  // namespace tieropt
