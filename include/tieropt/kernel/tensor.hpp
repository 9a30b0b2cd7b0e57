// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a pass knows of one tensor: operands, geometry, its place in the grid. Layer: kernel.
///
/// A pass is a template over `Parts`, a struct of types: `param`, `grad`, `compute` and the parts
/// of a tier by their names (policy/tier.hpp), and its `maximize`, `step_scope` and `tune`.
#pragma once

#include <tieropt/functor/master.hpp>
#include <tieropt/functor/needs.hpp>
#include <tieropt/kernel/operand.hpp>
#include <tieropt/precision/storage.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The shape of a tensor and of its tiles: E matrices of R rows and C columns.
struct geometry {
  int64_t E;  ///< matrices
  int64_t R;  ///< rows of a matrix
  int64_t C;  ///< columns of a matrix

  /// Segments of 1,024 columns. @return ceil(C / 1024)
  TIEROPT_HOST_DEVICE constexpr int64_t segments() const { return ceil_div(C, segment); }
  /// Tiles of 128 rows. @return ceil(R / 128)
  TIEROPT_HOST_DEVICE constexpr int64_t row_tiles() const { return ceil_div(R, tile_rows); }
  /// Tiles of one matrix. @return segments() row_tiles()
  TIEROPT_HOST_DEVICE constexpr int64_t matrix_tiles() const { return segments() * row_tiles(); }
  /// Elements. @return E R C
  TIEROPT_HOST_DEVICE constexpr int64_t size() const { return R == 0 || C == 0 ? 0 : E * R * C; }
};

/// Where a block's tile lies.
struct tile_place {
  int64_t e;        ///< matrix
  int64_t tile;     ///< which tile of rows
  int64_t segment;  ///< which segment of columns
};

/// The tile of a block: segments first, then tiles of rows, then matrices.
/// @param[in] shape the tensor's shape
/// @param[in] index block within the tensor
/// @return its place
TIEROPT_HOST_DEVICE tile_place locate(geometry const& shape, int64_t index) {
  int64_t const n = shape.segments(), m = shape.row_tiles();
  return {index / (n * m), index / n % m, index % n};
}

/// Partial results of one tensor in the workspace; T is the compute type.
/// @tparam T compute type
template <class T>
struct tensor_workspace {
  T* row_part;    ///< (E, segments, R) sums of squares; factored
  T* col_part;    ///< (E, row tiles, padded C) sums of squares; factored
  T* row_value;   ///< (E, R) row values of the eps part; factored
  T* col_value;   ///< (E, padded C) column values of the eps part; factored
  T* grad_part;   ///< (E, row tiles, segments) squared norms of the gradient; norm pass
  T* norm_part;   ///< (E, row tiles, segments) squared norms; clipped
  T* param_part;  ///< (E, row tiles, segments) squared norms of the parameter; scaled
  T* rms;         ///< (E) or (1) level of the update before the clip; clipped
  T* factor;      ///< (E) or (1) clip factor times the update's gain; clipped
  T* param_rms;   ///< (E) or (1) RMS of the parameter before the step; scaled
};

/// Columns of col_value and col_part, padded so that every row starts on 32 bytes.
/// @param[in] C columns @return the next multiple of 8
TIEROPT_HOST_DEVICE constexpr int64_t padded_columns(int64_t C) { return ceil_div(C, 8) * 8; }

/// Where one matrix lies in each operand, in elements: found by the first launch of a step, since
/// dividing takes registers that the passes do not have.
struct matrix_place {
  int64_t param;         ///< of the parameter
  int64_t grad;          ///< of the gradient
  state_place momentum;  ///< of the momentum
  state_place exact;     ///< of the second moment
  int64_t weight;        ///< of the master
  int64_t carry;         ///< of the carries
};

/// Everything of one tensor but its gradient's address; an array of these lives in the workspace.
/// @tparam Parts see the head of this file
template <class Parts>
struct tensor_entry {
  using T = typename Parts::compute;  ///< compute type
  /// How momentum is stored.
  using momentum_state = typename Parts::momentum::state_type;
  /// How second moments are stored.
  using variance_state = typename Parts::variance::state_type;
  /// How exact second moments are stored, or none.
  using exact_state = cuda::std::conditional_t<needs<Parts>::exact, variance_state, none>;
  /// Where the exact weight lives.
  using master = typename Parts::master;
  /// Bits of a carry_master, or none.
  using carry_type = cuda::std::conditional_t<master::carries, uint8_t, none>;

  operand<typename Parts::param> param;              ///< (E, R, C)
  operand<typename Parts::grad const> grad;          ///< strides only: the address is in the table
  state_operand_of<momentum_state> momentum;         ///< (E, R, C)
  state_operand_of<exact_state> exact;               ///< (E, R, C)
  operand_or_none<typename master::element> weight;  ///< (E, R, C) of the master
  operand_or_none<carry_type> carry;                 ///< (E, R, ceil(C / 8)) of a carry_master
  batch_shape batch;                                 ///< how the matrices lie
  variance_state* row;                               ///< (E, R); factored tiers
  variance_state* col;                               ///< (E, C); factored tiers, and their vectors
  geometry shape;                                    ///< E, R, C
  tensor_workspace<T> work;                          ///< partial results
  step_scalars<T>* scalars;                          ///< (E), derived by the first launch of a step
  matrix_place* places;                              ///< (E), likewise
  int64_t* step;                                     ///< (E), or one for the tensor
  int const* active;                                 ///< (E), or null
  int64_t* missed;                                   ///< (E), or null
  int* faulty;             ///< (tiles, leaves); where elements are counted
  uint64_t key;            ///< names the tensor for the rounding bits
  uint64_t first_element;  ///< global index of element (0, 0, 0)
  int group;               ///< which hyperparameters
  bool is_vector;          ///< below rank 2: the row ratio is 1
  bool aligned;            ///< all but the gradient's address suits whole tiles
  bool unit;               ///< all column strides are 1
  int64_t first_matrix;    ///< of the range: where its scalars start
  int64_t first_tile;      ///< of the range: its first block in tile passes
  int64_t first_fold;      ///< of the range: its first block in the fold
  int64_t first_clip;      ///< of the range: its first block in find_factors
  int64_t first_judge;     ///< of the range: its first block in judge

  /// Where a matrix lies. @param[in] e matrix @return its place in each operand
  TIEROPT_HOST_DEVICE matrix_place find(int64_t e) const {
    matrix_place at{param.place(batch, e),
                    grad.place(batch, e),
                    momentum.place(batch, e),
                    exact.place(batch, e),
                    0,
                    0};
    if constexpr (keeps_master<master>) at.weight = weight.place(batch, e);
    if constexpr (master::carries) at.carry = carry.place(batch, e);
    return at;
  }
  /// The global index of an element. @param[in] e matrix @param[in] r row @param[in] c column
  /// @return where it is in the whole tensor
  TIEROPT_HOST_DEVICE uint64_t element(int64_t e, int64_t r, int64_t c) const {
    return first_element + static_cast<uint64_t>((e * shape.R + r) * shape.C + c);
  }
};

/// What the products of an orthogonal tier read and write, or none.
/// @tparam Parts see the head of this file
template <class Parts>
using stage_element =
    cuda::std::conditional_t<needs<Parts>::orthogonal, typename Parts::orthogonal::element, none>;

/// Updates on their way through matrix products: dense matrices one after the other.
/// @tparam Parts see the head of this file
template <class Parts>
struct stage_window {
  stage_element<Parts>* data = nullptr;  ///< the first matrix, of equally shaped ones
  int64_t first_matrix = 0;              ///< which one of the range it is
};

/// The addresses of a tensor that a launch brings along.
/// @tparam Parts see the head of this file
template <class Parts>
struct tensor_inputs {
  typename Parts::grad const* grad;  ///< element (0, 0, 0), or null where it is absent
  stage_window<Parts> const& stage;  ///< of orthogonal tiers
};

/// The tensors of one range.
/// @tparam Parts see the head of this file
template <class Parts>
struct tensor_table {
  tensor_entry<Parts> const* entries;        ///< (n)
  typename Parts::grad const* const* grads;  ///< (n), null where a gradient is absent
  int64_t n;                                 ///< tensors

  /// The last tensor whose first place is not beyond i; empty tensors are never found.
  /// @param[in] first which count of the entries @param[in] i place in the grid @return its index
  TIEROPT_HOST_DEVICE int64_t find(int64_t tensor_entry<Parts>::*first, int64_t i) const {
    int64_t low = 0, high = n;
    while (high - low > 1) {
      int64_t const middle = (low + high) / 2;
      if (entries[middle].*first <= i) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

/// Bytes of the widest of some element types. @tparam Elements types; none counts for nothing
/// @return bytes
template <class... Elements>
consteval int widest() {
  int bytes = 2;
  ((bytes = !cuda::std::is_same_v<Elements, none> && static_cast<int>(sizeof(Elements)) > bytes
                ? static_cast<int>(sizeof(Elements))
                : bytes),
   ...);
  return bytes;
}

/// The mapping of a pass: a lane's pack is 16 bytes of its widest operand.
/// @tparam Parts see the head of this file
/// @param[in] bytes of the widest operand
/// @param[in] blocks_per_sm that its registers allow in float; in double it is one
/// @return the tier's tuning, completed
template <class Parts>
consteval tuning tune_for(int bytes, int blocks_per_sm) {
  bool const wide = sizeof(typename Parts::compute) == 8;
  return Parts::tune.or_else(16 / bytes, wide ? 1 : blocks_per_sm);
}

/// A pass over all tensors of a table: a block finds its tensor and its place in it.
/// @tparam Pass the pass: `storage`, `first`, `wanted`, `tune` and `run(block, entry, inputs,
/// index)`
/// @tparam Parts see the head of this file
template <class Pass, class Parts>
struct table_body {
  using storage = typename Pass::storage;     ///< block storage
  static constexpr tuning tune = Pass::tune;  ///< mapping
  tensor_table<Parts> table;                  ///< the tensors
  int64_t first_block;                        ///< of the range: where this launch starts
  stage_window<Parts> stage{};                ///< of orthogonal tiers

  /// Runs one block. @tparam Block a block @param[in] block the block
  template <class Block>
  TIEROPT_HOST_DEVICE void operator()(Block const& block) const {
    int64_t const i = first_block + block.index();
    int64_t const found = table.find(Pass::first, i);
    auto const& entry = table.entries[found];
    Pass::run(block, entry, tensor_inputs<Parts>{table.grads[found], stage},
              i - entry.*(Pass::first));
  }
};

/// Whether an address is a multiple of 16 bytes. @param[in] p any address @return true if so
TIEROPT_HOST_DEVICE bool on_16_bytes(void const* p) {
  return reinterpret_cast<uintptr_t>(p) % 16 == 0;
}

}  // namespace v0_1
}  // namespace tieropt
