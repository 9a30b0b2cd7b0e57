// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the passes of a step go over the tensors: all of them per pass, or group by group. Layer:
/// plan.
#pragma once

#include <tieropt/kernel/fold.hpp>
#include <tieropt/kernel/measure.hpp>
#include <tieropt/kernel/survey.hpp>
#include <tieropt/plan/checks.hpp>
#include <tieropt/status.hpp>

#include <cuda/std/span>

namespace tieropt {
inline namespace v0_1 {

/// The order of a step's launches; it never changes a bit of a result.
struct schedule {
  /// What the planner does.
  enum class kind {
    streaming,       ///< a pass goes over all tensors before the next one: fewest launches
    cache_resident,  ///< the passes go over one group of matrices before the next: fewest bytes
    automatic        ///< cache_resident where the bytes that it saves outweigh its launches
  };
  kind order = kind::streaming;  ///< what the planner does
  int64_t cache_bytes = 0;       ///< of the cache that a group should stay in
  /// Scratch for matrix products, in bytes: more matrices than fit are multiplied batch by batch.
  int64_t workspace_limit = int64_t{2} << 30;

  /// The same with another limit. @param[in] bytes of scratch for matrix products
  /// @return the schedule
  TIEROPT_HOST constexpr schedule with_workspace_limit(int64_t bytes) const {
    return {order, cache_bytes, bytes};
  }
};

/// A pass goes over all tensors before the next one. @return the default schedule
TIEROPT_HOST constexpr schedule streaming() { return {}; }

/// Groups of matrices whose gradient, momentum and weights fit a cache take their passes together.
/// @param[in] cache_bytes of the device's last-level cache @return the schedule
TIEROPT_HOST constexpr schedule cache_resident(int64_t cache_bytes) {
  return {schedule::kind::cache_resident, cache_bytes};
}

/// The planner chooses. @param[in] cache_bytes of the device's last-level cache @return the
/// schedule
TIEROPT_HOST constexpr schedule automatic(int64_t cache_bytes) {
  return {schedule::kind::automatic, cache_bytes};
}

/// Bytes that a device moves in the time that a launch costs: what automatic weighs a launch with.
inline constexpr int64_t launch_bytes = int64_t{8} << 20;

/// Consecutive blocks of one pass.
struct block_window {
  int64_t first = 0;  ///< the first of them
  int64_t count = 0;  ///< how many

  /// The empty window behind this one. @return where the next group starts
  TIEROPT_HOST constexpr block_window next() const { return {first + count, 0}; }
};

/// The blocks of one group of matrices, by the kind of pass.
struct group_window {
  block_window tiles;   ///< passes over tiles
  block_window folds;   ///< fold
  block_window clips;   ///< find_factors
  block_window judges;  ///< judge

  /// Blocks of its largest launch. @return blocks
  TIEROPT_HOST constexpr int64_t largest() const {
    int64_t n = tiles.count > folds.count ? tiles.count : folds.count;
    n = n > judges.count ? n : judges.count;
    return n > clips.count ? n : clips.count;
  }
  /// The empty group behind this one. @return where the next group starts
  TIEROPT_HOST constexpr group_window next() const {
    return {tiles.next(), folds.next(), clips.next(), judges.next()};
  }
};

/// Passes that a range takes as a whole before all others: the survey of what the plan waits for,
/// and of an orthogonal tier. @tparam Parts see kernel/tensor.hpp @return whether there are such
template <class Parts>
inline constexpr bool surveys_first = needs<Parts>::surveys &&
                                      (needs<Parts>::waits || needs<Parts>::orthogonal);

/// Launches of a survey: the squares, unless a norm pass takes their place, and the judgement.
/// @tparam Parts see kernel/tensor.hpp @return launches
template <class Parts>
TIEROPT_HOST constexpr int survey_passes_of() {
  return needs<Parts>::surveys ? 2 : 0;
}

/// Launches of one group. @tparam Parts see kernel/tensor.hpp @return passes that the tier needs,
/// matrix products left out
template <class Parts>
TIEROPT_HOST constexpr int passes_of() {
  using need = needs<Parts>;
  int const all = 1 + (need::factored ? 2 : 0) + (need::measures ? 1 : 0) + (need::scales ? 1 : 0) +
                  (need::measures || need::scales ? 1 : 0) + (need::orthogonal ? 1 : 0) +
                  (need::norm_pass ? 1 : 0) + (need::surveys ? 1 : 0);
  return surveys_first<Parts> ? all - survey_passes_of<Parts>() : all;
}

/// Bytes of an element that the passes of a group read more than once, or write in between.
/// @tparam Parts see kernel/tensor.hpp @return bytes per parameter
template <class Parts>
TIEROPT_HOST constexpr int64_t group_bytes_per_element() {
  int64_t bytes = sizeof(typename Parts::grad) + weight_bytes<Parts>::held;
  if (needs<Parts>::momentum) {
    bytes += sizeof(stored_element_t<typename Parts::momentum::state_type>);
  }
  if (needs<Parts>::exact) bytes += sizeof(stored_element_t<typename Parts::variance::state_type>);
  return bytes;
}

/// Bytes of an element that are read again by a later pass of the same step.
/// @tparam Parts see kernel/tensor.hpp @return bytes per parameter
template <class Parts>
TIEROPT_HOST constexpr int64_t reread_bytes_per_element() {
  using need = needs<Parts>;
  constexpr int outside = surveys_first<Parts> ? 1 : 0;  // reads of the gradient
  constexpr int grad_passes = need::grad_reads - outside;
  constexpr int decayed = need::grad_reads - (need::norm_pass ? 1 : 0);
  constexpr int param_passes = (need::scales ? 1 : 0) + (need::l2 ? decayed - 1 : 0);
  int64_t bytes = (grad_passes - 1) * static_cast<int64_t>(sizeof(typename Parts::grad)) +
                  param_passes * static_cast<int64_t>(weight_bytes<Parts>::read);
  if (need::measures && need::of_gradient) {
    bytes += sizeof(stored_element_t<typename Parts::momentum::state_type>);
  }
  if (need::measures && need::exact) {
    bytes += sizeof(stored_element_t<typename Parts::variance::state_type>);
  }
  return bytes;
}

/// Calls f(window, bytes) for every group of a range: as many consecutive matrices as fit the
/// cache, at least one; a tensor with a tensor-wide clip is not divided.
/// @tparam Bound a bound_tensor @tparam F callable that returns a status
/// @param[in] tensors of the range @param[in] cache_bytes that a group should fit
/// @param[in] f called once per group @return the first status that is not ok
template <class Bound, class F>
TIEROPT_HOST constexpr status for_each_group(cuda::std::span<Bound const> tensors,
                                             int64_t cache_bytes, F const& f) {
  using parts = typename Bound::parts;
  constexpr bool whole =
      needs<parts>::spans_tensor || (needs<parts>::surveys && needs<parts>::together);
  group_window group;
  int64_t held = 0;
  auto const close = [&]() -> status {
    if (held == 0) return {};
    status const s = f(group, held);
    group = group.next();
    held = 0;
    return s;
  };
  for (Bound const& tensor : tensors) {
    geometry const shape = canonical(tensor.param, tensor.dims).shape;
    if (shape.size() == 0) continue;
    int64_t const pieces = whole ? 1 : shape.E, matrices = whole ? shape.E : 1;
    int64_t const bytes = shape.size() / pieces * group_bytes_per_element<parts>();
    for (int64_t i = 0; i < pieces; ++i) {
      if (held > 0 && held + bytes > cache_bytes) {
        if (status const s = close(); !s) return s;
      }
      held += bytes;
      group.tiles.count += matrices * shape.matrix_tiles();
      if (needs<parts>::factored) group.folds.count += matrices * (1 + shape.segments());
      if (find_factors_pass<parts>::wanted) {
        group.clips.count += needs<parts>::spans_tensor ? 1 : matrices;
      }
      if (judge_pass<parts>::wanted) group.judges.count += needs<parts>::together ? 1 : matrices;
    }
  }
  return close();
}

/// What a schedule comes to for one range.
struct schedule_cost {
  int64_t groups = 0;   ///< groups of matrices
  int64_t saved = 0;    ///< bytes that need not be read again
  int64_t largest = 0;  ///< blocks of the largest launch

  /// Whether the bytes outweigh the launches. @param[in] passes of a group @return true if so
  TIEROPT_HOST constexpr bool pays(int passes) const {
    return saved > (groups - 1) * passes * launch_bytes;
  }
};

/// Adds up the groups of a range. @tparam Bound a bound_tensor @param[in] tensors of the range
/// @param[in] cache_bytes that a group should fit @return their number and what they save
template <class Bound>
TIEROPT_HOST constexpr schedule_cost cost_of(cuda::std::span<Bound const> tensors,
                                             int64_t cache_bytes) {
  using parts = typename Bound::parts;
  schedule_cost cost;
  (void)for_each_group(tensors, cache_bytes, [&](group_window const& w, int64_t bytes) -> status {
    ++cost.groups;
    cost.largest = w.largest() > cost.largest ? w.largest() : cost.largest;
    if (bytes <= cache_bytes) {
      cost.saved += bytes / group_bytes_per_element<parts>() * reread_bytes_per_element<parts>();
    }
    return {};
  });
  return cost;
}

}  // namespace v0_1
}  // namespace tieropt
