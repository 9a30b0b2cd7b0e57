// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What can go wrong at run time: one code and one sentence each. Layer: root.
#pragma once

#include <tieropt/config.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Why a call was refused: nothing was written and nothing was launched, but for device and
/// product, which may leave a step half done.
enum class errc : int {
  ok,                   ///< it was not
  null_buffer,          ///< a view with elements has no memory
  misaligned_buffer,    ///< a pointer is no multiple of its element's size
  rank,                 ///< more than 8 dimensions, or a vector where the tier needs a matrix
  shape,                ///< a view does not have the extents that the parameter demands
  layout,               ///< negative strides, dense views that are not, E split differently
  overlapping_strides,  ///< two elements of one written view share memory
  aliasing,             ///< two buffers of one tensor share memory
  active_scope,         ///< active given for a tier with a tensor-wide clip, scale or step
  catch_up,             ///< missed given without active, or for a tier that cannot make up for it
  matrix_dims,          ///< dims name no two dimensions, or not in order
  hyper_group,          ///< a tensor names a group that enqueue was given no hyperparameters for
  hyper_groups,         ///< more than 32 groups of hyperparameters
  hyper_not_finite,     ///< a hyperparameter or a step input is NaN or beyond the compute type
  hyper_beta,           ///< beta1 or beta2 outside [0, 1)
  hyper_eps,            ///< eps too small for the compute type, and not the default's -1
  hyper_clip,           ///< a clip threshold that is not positive
  hyper_adafactor,      ///< beta2_decay or eps2 not positive
  input_scale,          ///< grad_scale or clip_factor not positive, or too far apart to divide
  input_norm,           ///< max_grad_norm negative
  workspace_size,       ///< the workspace is smaller than workspace_bytes()
  workspace_alignment,  ///< the workspace does not start on 16 bytes
  workspace_limit,      ///< one matrix needs more scratch for its products than the limit
  grad_list,            ///< a list of gradients has another length than its range
  capturing,            ///< prepare or rebind_grads on a stream that is being captured
  too_large,            ///< sizes that do not fit 64 bits, or a launch beyond the device's grid
  device,               ///< the device's runtime failed: see status::native
  product               ///< a matrix product failed: see status::native
};

/// The outcome of a call; true when it went well.
struct [[nodiscard]] status {
  errc code = errc::ok;  ///< what went wrong
  int native = 0;        ///< the runtime's own code for errc::device, the gemm's for errc::product
  int range = -1;        ///< which range of make_plan, or -1
  int64_t tensor = -1;   ///< which tensor of that range (or which group of hyperparameters), or -1
  /// Which view of that tensor, "momentum.scales" for instance, or "".
  char const* view = "";

  /// Whether the call went well.
  /// @return true for errc::ok
  TIEROPT_HOST constexpr explicit operator bool() const { return code == errc::ok; }
};

/// One sentence for a code.
/// @param[in] code any code
/// @return a sentence without a line end, never null
TIEROPT_HOST constexpr char const* message(errc code) {
  switch (code) {
    case errc::ok: return "no error";
    case errc::null_buffer: return "a view with elements has a null data pointer";
    case errc::misaligned_buffer: return "a data pointer is not a multiple of its element size";
    case errc::rank:
      return "a view has more than 8 dimensions, or is a vector where the tier needs a matrix";
    case errc::shape: return "a view does not have the extents that the parameter's shape demands";
    case errc::layout:
      return "a stride is negative, the views of a tensor split its matrices into dimensions that "
             "do not agree, or row, col, step, active or missed is not dense";
    case errc::overlapping_strides:
      return "the strides of a written view let two elements share memory";
    case errc::aliasing: return "two buffers of one tensor overlap each other";
    case errc::active_scope:
      return "active does not go with a clip, a scale or a step of the whole tensor, which rests "
             "by "
             "a null gradient";
    case errc::catch_up:
      return "missed needs active, and a tier without momentum, with fused_decay, given_rate, "
             "no_scale and a step of its own for each matrix";
    case errc::matrix_dims:
      return "dims must name two dimensions of the parameter, the row's before the column's";
    case errc::hyper_group: return "a tensor's group is negative or has no hyperparameters";
    case errc::hyper_groups: return "at most 32 groups of hyperparameters";
    case errc::hyper_not_finite:
      return "a hyperparameter or step input is not finite in the compute type";
    case errc::hyper_beta: return "beta1 and beta2 must be in [0, 1)";
    case errc::hyper_eps:
      return "eps must be at least the smallest normal float, 1.2e-38, or -1 for the default of "
             "the tier's eps part";
    case errc::hyper_clip: return "the clip threshold must be positive";
    case errc::hyper_adafactor: return "beta2_decay and eps2 must be positive";
    case errc::input_scale:
      return "grad_scale and clip_factor must be positive and their quotient finite";
    case errc::input_norm: return "max_grad_norm must not be negative";
    case errc::workspace_size: return "the workspace is smaller than the plan's workspace_bytes()";
    case errc::workspace_alignment: return "the workspace must start on a multiple of 16 bytes";
    case errc::workspace_limit:
      return "one matrix needs more scratch for its products than the schedule's workspace_limit";
    case errc::grad_list: return "a list of gradients must have one entry per tensor of its range";
    case errc::capturing: return "this call cannot run while the stream is being captured";
    case errc::too_large: return "the tensors are too large for 64-bit sizes or one launch";
    case errc::device: return "the device runtime reported an error; see status::native";
    case errc::product: return "a matrix product reported an error; see status::native";
  }
  return "unknown error";
}

/// One sentence for a status.
/// @param[in] s any status
/// @return the sentence of its code
TIEROPT_HOST constexpr char const* message(status const& s) { return message(s.code); }

}  // namespace v0_1
}  // namespace tieropt
