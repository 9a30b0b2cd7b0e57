// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hands a tensor with its state from one tier to another. Layer: plan.
#pragma once

#include <tieropt/executor/executor.hpp>
#include <tieropt/kernel/convert.hpp>
#include <tieropt/plan/entry.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Fills the buffers of a tensor of one tier from those of the same tensor in another.
///
/// | of `to` | becomes |
/// |---|---|
/// | parameter, master | the weight that `from` holds exactly, rounded once as `to` rounds it |
/// | momentum | that of `from`, whatever its kind; 0 where it has none |
/// | exact second moment | that of `from`; row col / mean of the rows of factored ones; 0 |
/// | factors | those of `from`; means over columns and over rows of exact ones; 0 |
/// | step | that of `from`; of the tensor, the largest of its matrices |
/// | missed | that of `from`, or 0 |
///
/// What `to` has no place for is dropped. Buffers stored alike are copied, codes and scales
/// included; others are rounded once, states as the state_rounding of `to` says, with bits that no
/// step draws. The parameter may be one and the same buffer in one layout; nothing else may
/// overlap, which nobody checks. Tensors of one population and element type need but a copy: see
/// describe.hpp. Runs on the executor's stream in at most 4 launches; needs no plan and no
/// workspace.
/// @tparam X an executor @tparam From a bound_tensor @tparam To a bound_tensor of any tier and
/// types
/// @param[in] x the executor @param[in] from read @param[in] to written, with views of its own
/// @param[in] seed of the rounding bits
/// @return ok; what make_plan says of either tensor, as tensor 0 or 1; shape or matrix_dims where
/// they differ, aliasing where parameters do, too_large or device
template <executor X, class From, class To>
TIEROPT_HOST status convert_state(X const& x, From const& from, To const& to, uint64_t seed = 0) {
  using source = typename From::parts;
  using parts = typename To::parts;
  tensor_form there, here;
  if (errc const code = check_tensor(from, there); code != errc::ok)
    return {code, 0, -1, 0, there.view};
  if (errc const code = check_tensor(to, here); code != errc::ok) {
    return {code, 0, -1, 1, here.view};
  }
  if (from.param.rank != to.param.rank) return {errc::shape, 0, -1, 1};
  for (int i = 0; i < to.param.rank; ++i) {
    if (from.param.extent[i] != to.param.extent[i]) return {errc::shape, 0, -1, 1};
  }
  matrix_dims const a = dims_of(from.param, from.dims), b = dims_of(to.param, to.dims);
  if (a.row != b.row || a.col != b.col) return {errc::matrix_dims, 0, -1, 1};
  bool const one_param = static_cast<void const*>(from.param.data) == to.param.data;
  if (one_param) {
    bool alike = cuda::std::is_same_v<typename From::param_type, typename To::param_type>;
    for (int i = 0; i < to.param.rank; ++i) {
      alike = alike && (to.param.extent[i] == 1 || from.param.stride[i] == to.param.stride[i]);
    }
    if (!alike) return {errc::aliasing, 0, -1, 1};
  }
  if (here.param.shape.size() == 0) return {};

  auto const old = make_entry(from, there);
  auto const next = make_entry(to, here);
  uint64_t const key = rounding_key(seed, next.key, 0);  // steps are numbered from 1
  auto const run = [&]<class Item>(Item const& item) -> status {
    int64_t const blocks = ceil_div(item.items(), item_body<Item>::per_block);
    if (blocks > max_blocks_of<X>()) return {errc::too_large};
    return x.launch(blocks, item_body<Item>{item});
  };
  using need = needs<parts>;
  status s;
  if (!one_param || keeps_master<typename source::master> || keeps_master<typename parts::master>) {
    s = run(convert_weights<source, parts>{old, next, key});
  }
  if constexpr (need::momentum) {
    if (s) s = run(convert_momentum<source, parts>{old, next, key});
  }
  if constexpr (need::factored) {
    if (s) s = run(convert_factors<source, parts>{old, next, key});
  } else if constexpr (need::exact) {
    if (s) s = run(convert_exact<source, parts>{old, next, key});
  }
  if (s) s = run(convert_counts<source, parts>{old, next});
  return s;
}

}  // namespace v0_1
}  // namespace tieropt
