// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A plan: checked ranges of bound tensors and what they need. Layer: plan.
#pragma once

#include <tieropt/kernel/fold.hpp>
#include <tieropt/kernel/measure.hpp>
#include <tieropt/plan/accounting.hpp>
#include <tieropt/plan/batches.hpp>
#include <tieropt/plan/checks.hpp>
#include <tieropt/plan/entry.hpp>
#include <tieropt/plan/schedule.hpp>
#include <tieropt/policy/tier_policy.hpp>

#include <cuda/std/expected>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

namespace tieropt {
inline namespace v0_1 {

/// The workspace must start on a multiple of this many bytes.
inline constexpr size_t workspace_alignment = 16;

/// Tensors by the way that their elements are read and written; the results are the same.
struct access_paths {
  int64_t whole = 0;    ///< in vectors, but for the last columns of rows that 1,024 does not divide
  int64_t ragged = 0;   ///< one by one, neighbours together: rows that do not start on 16 bytes
  int64_t strided = 0;  ///< one by one: a view whose columns are no neighbours
};

/// What one range of tensors adds up to.
struct range_size {
  int64_t tensors = 0;     ///< bound tensors
  int64_t parameters = 0;  ///< elements of all tensors
  int64_t matrices = 0;    ///< of the tensors that are not empty
  int64_t tiles = 0;       ///< blocks of a tile pass
  int64_t folds = 0;       ///< blocks of the fold
  int64_t clips = 0;       ///< blocks of find_factors
  int64_t judges = 0;      ///< blocks of judge
  int64_t elements = 0;    ///< compute-type elements of partial results
  int64_t traffic = 0;     ///< bytes moved by a streaming step
  int64_t largest = 0;     ///< blocks of the largest launch of a pass
  int64_t groups = 0;      ///< of matrices that take their passes together; 0 = streaming
  batch_cost products;     ///< of an orthogonal tier
  access_paths paths;      ///< how its tensors are read and written
  int max_group = -1;      ///< largest group of hyperparameters
  state_size state;        ///< bytes of state
};

/// Rounds up to the granularity of the workspace. @param[in] bytes a size @return multiple of 256
TIEROPT_HOST constexpr size_t padded_bytes(size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Adds one tensor to a range's sizes. @tparam Parts see kernel/tensor.hpp
/// @param[in,out] size of the range @param[in] form of the tensor @param[in] group of the tensor
/// @return ok or too_large
template <class Parts>
TIEROPT_HOST constexpr errc count_tensor(range_size& size, tensor_form const& form, int group) {
  geometry const shape = form.param.shape;
  ++size.tensors;
  size.max_group = group > size.max_group ? group : size.max_group;
  if (shape.size() == 0) return errc::ok;
  // Whatever else is added up is below 2^10 for each parameter.
  constexpr int64_t limit = int64_t{1} << 50;
  if (shape.size() > limit - size.parameters) return errc::too_large;
  size.parameters += shape.size();
  size.matrices += shape.E;
  size.tiles += shape.E * shape.matrix_tiles();
  if (needs<Parts>::factored) size.folds += fold_pass<Parts>::blocks(shape);
  if (find_factors_pass<Parts>::wanted) size.clips += find_factors_pass<Parts>::blocks(shape);
  if (judge_pass<Parts>::wanted) size.judges += judge_pass<Parts>::blocks(shape);
  size.elements += lay_out<Parts>(shape).total;
  size.traffic += traffic_bytes<Parts>(shape, form.is_vector);
  return errc::ok;
}

/// Leaves whose faulty elements are counted. @tparam Parts see kernel/tensor.hpp
/// @param[in] size of the range @return leaves
template <class Parts>
TIEROPT_HOST constexpr int64_t fault_leaves(range_size const& size) {
  return needs<Parts>::counts_elements ? size.tiles * leaves : 0;
}

/// Adds one tensor to a range's paths. @tparam Bound a bound_tensor @param[in,out] paths of the
/// range @param[in] b the tensor @param[in] form its operands
template <class Bound>
TIEROPT_HOST void count_path(access_paths& paths, Bound const& b, tensor_form const& form) {
  if (form.param.shape.size() == 0) return;
  auto const entry = make_entry(b, form);
  bool const vectors = entry.aligned && on_16_bytes(b.grad.data);
  ++(vectors && entry.shape.C >= segment ? paths.whole : entry.unit ? paths.ragged : paths.strided);
}

/// Checked ranges of bound tensors. It refers to the caller's bound tensors, which must outlive it,
/// and owns nothing.
/// @tparam Policy a tier_policy
/// @tparam Bound a bound_tensor type per range
template <class Policy, class... Bound>
class plan {
 public:
  static constexpr int n_ranges = sizeof...(Bound);  ///< ranges of make_plan
  /// Whether a range computes in float.
  static constexpr bool computes_in_float =
      (cuda::std::is_same_v<typename Bound::parts::compute, float> || ...);
  /// Whether a faulty matrix of some range lets all ranges rest.
  static constexpr bool rests_together = (needs<typename Bound::parts>::rests_step || ...);
  /// Whether a range's gradients are looked at before any state changes.
  template <class Parts>
  static constexpr bool tallies = needs<Parts>::waits;
  /// Whether a range may rest, or be scaled, after all gradients were looked at.
  template <class Parts>
  static constexpr bool settles = rests_together || needs<Parts>::clips_norm;
  /// Whether ranges have records of what was decided and counted.
  static constexpr bool has_records =
      ((needs<typename Bound::parts>::waits || Bound::parts::fault::counts) || ...);
  /// The bound tensor type of a range. @tparam I which range
  template <size_t I>
  using bound_type = cuda::std::tuple_element_t<I, cuda::std::tuple<Bound...>>;

  /// @param[in] ranges of bound tensors @param[in] sizes of the ranges
  /// @param[in] how groups and batches were formed
  TIEROPT_HOST constexpr plan(cuda::std::tuple<cuda::std::span<Bound const>...> const& ranges,
                              range_size const (&sizes)[n_ranges], schedule const& how)
      : ranges_{ranges}, how_{how} {
    for (int i = 0; i < n_ranges; ++i) sizes_[i] = sizes[i];
  }

  /// The tensors of a range. @tparam I which range @return a view of the caller's container
  template <size_t I>
  TIEROPT_HOST constexpr auto tensors() const {
    return cuda::std::get<I>(ranges_);
  }
  /// What a range adds up to. @param[in] i which range @return its sizes
  TIEROPT_HOST constexpr range_size const& size(int i) const { return sizes_[i]; }

  /// Bytes of scratch memory that prepare and enqueue need, next to the caller's buffers.
  /// @return bytes; the memory must start on a multiple of 16
  TIEROPT_HOST constexpr size_t workspace_bytes() const {
    size_t scratch = 0;
    for (auto const& size : sizes_) {
      auto const bytes = static_cast<size_t>(size.products.scratch);
      scratch = bytes > scratch ? bytes : scratch;
    }
    return scratch_offset() + scratch;
  }

  /// Bytes of state of all bound tensors, step counters left out.
  /// @return bytes by kind
  TIEROPT_HOST constexpr state_size state_bytes() const {
    state_size sum;
    for (auto const& size : sizes_) sum = sum + size.state;
    return sum;
  }

  /// Bytes that a step reads and writes beyond the cache that its schedule counts on.
  /// @return bytes
  TIEROPT_HOST constexpr int64_t traffic_bytes() const {
    int64_t sum = 0;
    for (auto const& size : sizes_) sum += size.traffic;
    return sum;
  }

  /// Launches of a step, matrix products left out. A streaming range has at most 8, whatever its
  /// tensors; a cache-resident one 2, and at most 6 per group of matrices; an orthogonal one 2, and
  /// 4 per batch of equal matrices. A fault part or a grad_clip adds at most 5.
  /// @return the sum over all ranges
  TIEROPT_HOST constexpr int64_t launches() const {
    int64_t n = 0;
    int i = 0;
    ((n += launches_of<typename Bound::parts>(sizes_[i++])), ...);
    return n;
  }

  /// Calls of the gemm in a step, each for a batch of equal matrices. @return the sum over all
  /// ranges
  TIEROPT_HOST constexpr int64_t products() const {
    int64_t n = 0;
    for (auto const& size : sizes_) n += size.products.products;
    return n;
  }

  /// How groups and batches were formed. @return the schedule of make_plan
  TIEROPT_HOST constexpr schedule const& how() const { return how_; }

  /// How the tensors of a range are read and written. @param[in] i which range
  /// @return tensors by path, empty ones left out
  TIEROPT_HOST constexpr access_paths const& paths(int i) const { return sizes_[i].paths; }

  /// Where the records of the ranges start. @return bytes
  TIEROPT_HOST constexpr size_t records_offset() const { return workspace_offset<n_ranges>(); }

  /// Where the scratch for matrix products starts, which all ranges share. @return bytes
  TIEROPT_HOST constexpr size_t scratch_offset() const {
    return records_offset() + (has_records ? padded_bytes(n_ranges * sizeof(range_record)) : 0);
  }

  /// Where the workspace of a range starts. @tparam I which range @return bytes
  template <size_t I>
  TIEROPT_HOST constexpr size_t workspace_offset() const {
    size_t offset = 0;
    int i = 0;
    ((offset += i < static_cast<int>(I) ? range_bytes<Bound>(sizes_[i]) : 0, ++i), ...);
    return offset;
  }

 private:
  template <class Parts>
  TIEROPT_HOST static constexpr int64_t launches_of(range_size const& size) {
    if (size.matrices == 0) return 0;
    int64_t const groups = size.products.batches + size.groups;
    return 2 + passes_of<Parts>() * (groups == 0 ? 1 : groups) +
           (surveys_first<Parts> ? survey_passes_of<Parts>() : 0) + (tallies<Parts> ? 1 : 0) +
           (settles<Parts> ? 1 : 0) + (count_body<Parts>::wanted ? 1 : 0);
  }
  template <class B>
  TIEROPT_HOST static constexpr size_t range_bytes(range_size const& size) {
    using parts = typename B::parts;
    auto const count = [](int64_t n) { return static_cast<size_t>(n); };
    return padded_bytes(count(size.tensors) * sizeof(tensor_entry<parts>)) +
           padded_bytes(count(size.tensors) * sizeof(void*)) +
           padded_bytes(count(size.matrices) * sizeof(step_scalars<typename parts::compute>)) +
           padded_bytes(count(size.matrices) * sizeof(matrix_place)) +
           padded_bytes(count(size.elements) * sizeof(typename parts::compute)) +
           padded_bytes(count(fault_leaves<parts>(size)) * sizeof(int));
  }

  cuda::std::tuple<cuda::std::span<Bound const>...> ranges_;
  range_size sizes_[n_ranges];
  schedule how_;
};

/// The blocks of all matrices of a range. @param[in] size of the range @return one group
TIEROPT_HOST constexpr group_window whole_range(range_size const& size) {
  return {{0, size.tiles}, {0, size.folds}, {0, size.clips}, {0, size.judges}};
}

/// The plan of some containers. @tparam Policy a tier_policy @tparam Ranges containers
template <class Policy, class... Ranges>
using plan_of = plan<Policy, cuda::std::remove_const_t<typename Ranges::value_type>...>;

/// Checks ranges of bound tensors and adds them up. Nothing is read, written or allocated.
/// @tparam Policy a tier_policy
/// @tparam Ranges contiguous containers of bound_tensor, as lvalues that outlive the plan
/// @param[in] how the order of the launches, automatic chooses for each range; and the scratch that
/// matrix products may take
/// @param[in] ranges one container per population and pair of element types
/// @return the plan, or a status with range and tensor: null_buffer, misaligned_buffer, rank,
/// shape, layout, overlapping_strides, aliasing, active_scope, catch_up, matrix_dims, hyper_group,
/// too_large, workspace_limit
template <class Policy, class... Ranges>
[[nodiscard]] TIEROPT_HOST auto make_plan(schedule how, Ranges&... ranges)
    -> cuda::std::expected<plan_of<Policy, Ranges...>, status> {
  static_assert(sizeof...(Ranges) > 0,
                "[tieropt-plan-ranges] make_plan needs at least one range of bound tensors");
  static_assert((Policy::template contains<typename Ranges::value_type::population> && ...),
                "[tieropt-plan-population] a bound tensor's population is not part of this "
                "tier_policy; list it in the policy or bind it elsewhere");
  range_size sizes[sizeof...(Ranges)];
  status result;
  int range = 0;
  auto const check = [&](auto const& container) {
    using bound = cuda::std::remove_cvref_t<decltype(*container.data())>;
    using parts = typename bound::parts;
    cuda::std::span<bound const> const tensors{container.data(), container.size()};
    range_size& size = sizes[range];
    int64_t i = 0;
    for (bound const& tensor : tensors) {
      if (!result) return;
      tensor_form form;
      errc code = check_tensor(tensor, form);
      if constexpr (needs<parts>::orthogonal) {
        if (code == errc::ok && !fits_limit<parts>(form.param.shape, how.workspace_limit)) {
          code = errc::workspace_limit;
        }
      }
      if (code == errc::ok) {
        code = count_tensor<parts>(size, form, tensor.group);
        size.state =
            size.state + state_bytes<typename bound::population>(form.param.shape, form.is_vector);
        if (code == errc::ok) count_path(size.paths, tensor, form);
      }
      if (code != errc::ok) result = status{code, 0, range, i, form.view};
      ++i;
    }
    if (!result) return;
    if constexpr (needs<parts>::orthogonal) {
      size.products = batch_cost_of(tensors, how.workspace_limit);
      size.largest = size.products.largest;
      if (surveys_first<parts>) size.largest = whole_range(size).largest();
    } else {
      size.largest = whole_range(size).largest();
      if (how.order != schedule::kind::streaming) {
        schedule_cost const cost = cost_of(tensors, how.cache_bytes);
        if (how.order == schedule::kind::cache_resident || cost.pays(passes_of<parts>())) {
          size.groups = cost.groups;
          size.largest = surveys_first<parts> ? whole_range(size).largest() : cost.largest;
          size.traffic -= cost.saved;
        }
      }
    }
    ++range;
  };
  (check(ranges), ...);
  if (!result) return cuda::std::unexpected(result);
  return plan_of<Policy, Ranges...>{
      cuda::std::tuple{
          cuda::std::span<cuda::std::remove_const_t<typename Ranges::value_type> const>(
              ranges.data(), ranges.size())...},
      sizes, how};
}

/// A streaming plan; see the overload with a schedule.
/// @tparam Policy a tier_policy
/// @tparam Ranges contiguous containers of bound_tensor, as lvalues that outlive the plan
/// @param[in] ranges one container per population and pair of element types
/// @return the plan, or a status
template <class Policy, class... Ranges>
  requires(!cuda::std::is_same_v<cuda::std::remove_const_t<Ranges>, schedule> && ...)
[[nodiscard]] TIEROPT_HOST auto make_plan(Ranges&... ranges)
    -> cuda::std::expected<plan_of<Policy, Ranges...>, status> {
  return make_plan<Policy>(streaming(), ranges...);
}

/// A plan of a temporary would refer to tensors that are gone.
/// @tparam Policy a tier_policy @tparam Ranges containers, one of them a temporary
template <class Policy, class... Ranges>
  requires(!((cuda::std::is_lvalue_reference_v<Ranges> ||
              cuda::std::is_same_v<cuda::std::remove_const_t<Ranges>, schedule>)&&...))
auto make_plan(Ranges&&...) = delete;

}  // namespace v0_1
}  // namespace tieropt
