// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bytes of state and bytes moved, from shapes alone. Layer: plan.
#pragma once

#include <tieropt/kernel/weights.hpp>
#include <tieropt/policy/tier.hpp>

#include <cuda/std/span>

namespace tieropt {
inline namespace v0_1 {

/// Bytes of state, by kind; step counters are not counted.
struct state_size {
  int64_t momentum = 0;  ///< first moments
  int64_t row = 0;       ///< row factors
  int64_t col = 0;       ///< column factors
  int64_t exact = 0;     ///< exact second moments
  int64_t master = 0;    ///< masters, or what they have beside the parameter

  /// All of it. @return bytes
  TIEROPT_HOST constexpr int64_t total() const { return momentum + row + col + exact + master; }
  /// Adds another size. @param[in] o size @return the sum
  TIEROPT_HOST constexpr state_size operator+(state_size const& o) const {
    return {momentum + o.momentum, row + o.row, col + o.col, exact + o.exact, master + o.master};
  }
};

/// The (E, R, C) shape of some extents: the last two are the matrix.
/// @param[in] extents of a tensor, slowest first @return its shape
TIEROPT_HOST constexpr geometry geometry_of(cuda::std::span<int64_t const> extents) {
  geometry shape{1, 1, 1};
  auto const n = static_cast<int>(extents.size());
  for (int i = 0; i < n; ++i) {
    int64_t const x = extents[static_cast<size_t>(i)];
    (i == n - 1 ? shape.C : i == n - 2 ? shape.R : shape.E) *= x;
  }
  return shape;
}

/// Bytes that the elements of a state type take. @tparam State element type, or none
/// @param[in] n elements @return bytes
template <class State>
TIEROPT_HOST constexpr int64_t bytes_of(int64_t n) {
  return cuda::std::is_same_v<State, none> ? 0 : n * static_cast<int64_t>(sizeof(State));
}

/// Bytes that a state of a tensor takes, scales included. @tparam State how it is stored, or none
/// @param[in] shape (E, R, C) @return bytes
template <class State>
TIEROPT_HOST constexpr int64_t bytes_of(geometry const& shape) {
  int64_t const elements = bytes_of<stored_element_t<State>>(shape.size());
  if constexpr (quantised_state<State>) {
    int64_t const scales = shape.E * shape.R * ceil_div(shape.C, int64_t{scale_group});
    return elements + bytes_of<float>(scales);
  } else {
    return elements;
  }
}

/// Bytes of the carries of a tensor. @tparam Master a master part @param[in] shape (E, R, C)
/// @return bytes, 0 where there are none
template <class Master>
TIEROPT_HOST constexpr int64_t carry_bytes(geometry const& shape) {
  return Master::carries ? shape.E * shape.R * ceil_div(shape.C, int64_t{carry_group}) : 0;
}

/// State bytes of one tensor.
/// @tparam Tier a population
/// @param[in] shape (E, R, C)
/// @param[in] is_vector below rank 2
/// @return bytes by kind
template <class Tier>
TIEROPT_HOST constexpr state_size state_bytes(geometry const& shape, bool is_vector) {
  static_assert(check_tier<Tier>::ok);
  using state = typename Tier::variance::state_type;
  using master = typename Tier::master;
  state_size size;
  size.momentum = bytes_of<typename Tier::momentum::state_type>(shape);
  size.master = bytes_of<typename master::element>(shape) + carry_bytes<master>(shape);
  if (needs<Tier>::factored && !is_vector) {
    size.row = bytes_of<state>(shape.E * shape.R);
    size.col = bytes_of<state>(shape.E * shape.C);
  } else {
    size.exact = bytes_of<state>(shape);
  }
  return size;
}

/// State bytes of a tensor that need not exist.
/// @tparam Tier a population
/// @param[in] extents of the tensor, slowest first
/// @return bytes by kind
template <class Tier>
TIEROPT_HOST constexpr state_size state_bytes(cuda::std::span<int64_t const> extents) {
  return state_bytes<Tier>(geometry_of(extents), extents.size() < 2);
}

/// Elements that the products of one (R, C) update read and write: X X^T, the polynomial of it, and
/// its product with X, each operand once per product.
/// @tparam Orthogonal a part @param[in] R rows @param[in] C columns @return elements
template <class Orthogonal>
TIEROPT_HOST constexpr int64_t product_elements(int64_t R, int64_t C) {
  int64_t const side = R < C ? R : C;
  return Orthogonal::iterations * (3 * R * C + 4 * side * side);
}

/// Bytes that a streaming step of one tensor reads and writes.
///
/// Every pass counts each operand once per use: nothing is taken to stay in a cache. Partial sums
/// count once written and once read, row and column values once per tile that reads them, operands
/// of matrix products once per product.
/// @tparam Parts see kernel/tensor.hpp
/// @param[in] shape (E, R, C)
/// @param[in] is_vector below rank 2
/// @return bytes
template <class Parts>
TIEROPT_HOST constexpr int64_t traffic_bytes(geometry const& shape, bool is_vector) {
  using T = typename Parts::compute;
  using need = needs<Parts>;
  using variance_state = typename Parts::variance::state_type;
  int64_t const n = shape.size();
  int64_t const tiles = shape.E * shape.matrix_tiles();
  using master = typename Parts::master;
  int64_t const carries = carry_bytes<master>(shape);
  int64_t const param = n * weight_bytes<Parts>::read + carries;
  int64_t const grad = n * static_cast<int64_t>(sizeof(typename Parts::grad));
  int64_t const momentum = bytes_of<typename Parts::momentum::state_type>(shape);
  // Passes that form the update read a state, and one of them writes it.
  int64_t const per_state = 2 + (need::measures ? 1 : 0);
  int64_t bytes = param + n * weight_bytes<Parts>::held + carries + need::grad_reads * grad;
  if (need::l2) {  // beside every gradient that decays, but for the pass that has the weight anyway
    bytes += (need::grad_reads - (need::norm_pass ? 1 : 0) -
              (need::reads_grad(need::last) && !need::orthogonal ? 1 : 0)) *
             param;
  }
  if (need::norm_pass) bytes += 2 * bytes_of<T>(tiles);
  if (need::surveys && !need::norm_pass) bytes += bytes_of<T>(shape.E * shape.segments() * shape.R);
  if (need::counts_elements) bytes += 2 * bytes_of<int>(tiles * leaves);
  if (need::of_gradient) bytes += per_state * momentum;
  if (need::of_update) bytes += 2 * momentum;
  if (need::exact) bytes += per_state * bytes_of<variance_state>(shape);
  if (need::factored) {
    int64_t const row_part = shape.E * shape.segments() * shape.R;
    int64_t const col_part = shape.E * shape.row_tiles() * shape.C;
    int64_t const rows = is_vector ? 0 : shape.E * shape.R, cols = shape.E * shape.C;
    bytes += 2 * bytes_of<T>(row_part + col_part);                         // squares, fold
    bytes += 2 * bytes_of<variance_state>(rows + cols);                    // fold
    bytes += bytes_of<T>(shape.E * shape.R + cols);                        // values
    bytes += (need::measures ? 2 : 1) * bytes_of<T>(row_part + col_part);  // values, in every tile
  }
  if (need::measures) bytes += 2 * bytes_of<T>(tiles);
  if (need::scales) bytes += param + 2 * bytes_of<T>(tiles);
  if constexpr (need::orthogonal) {
    int64_t const products =
        shape.E * product_elements<typename Parts::orthogonal>(shape.R, shape.C);
    bytes += bytes_of<stage_element<Parts>>(2 * n + products);  // staged, applied
  }
  return bytes;
}

/// Bytes that a streaming step of a tensor reads and writes, which need not exist.
/// @tparam Tier a population @tparam Param element type of the parameter
/// @tparam Grad element type of the gradient
/// @param[in] extents of the tensor, slowest first
/// @return bytes
template <class Tier, class Param, class Grad = Param>
TIEROPT_HOST constexpr int64_t traffic_bytes(cuda::std::span<int64_t const> extents) {
  return traffic_bytes<tier_parts<Tier, Param, Grad>>(geometry_of(extents), extents.size() < 2);
}

}  // namespace v0_1
}  // namespace tieropt
