// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Matrix products, which the caller brings: what is asked of them, and an executor that has them.
/// Layer: executor.
#pragma once

#include <tieropt/executor/executor.hpp>

#include <cuda/std/utility>

namespace tieropt {
inline namespace v0_1 {

/// D = alpha op(A) op(B) + beta C for a batch of matrices, all dense and row-major, one after the
/// other; op transposes or not. Sums are kept in float at least, and rounded once.
/// @tparam T element type
template <class T>
struct matrix_product {
  int64_t batch;     ///< matrices of each operand
  int64_t m;         ///< rows of D
  int64_t n;         ///< columns of D
  int64_t k;         ///< length of the sums
  bool transpose_a;  ///< A is stored as (k, m)
  bool transpose_b;  ///< B is stored as (n, k)
  double alpha;      ///< of the product
  double beta;       ///< of C
  T const* a;        ///< (batch, m, k), or (batch, k, m)
  T const* b;        ///< (batch, k, n), or (batch, n, k); may be A
  T const* c;        ///< (batch, m, n); null where beta is 0
  T* d;              ///< (batch, m, n); overlaps none of the others
};

/// A callable that multiplies, in the order of the executor's launches. After any status but ok the
/// step is given up, and enqueue returns errc::product.
template <class Gemm, class T>
concept gemm_for = requires(Gemm const& gemm, matrix_product<T> const& product) {
  { gemm(product) } -> cuda::std::same_as<status>;
};

/// An executor with matrix products: what a policy with newton_schulz runs on.
/// @tparam X an executor @tparam Gemm a gemm_for its elements
template <executor X, class Gemm>
class gemm_executor {
 public:
  /// Blocks that a launch may have.
  static constexpr int64_t max_blocks = max_blocks_of<X>();

  /// @param[in] x the executor @param[in] gemm multiplies where x runs, in the same order
  TIEROPT_HOST gemm_executor(X const& x, Gemm gemm) : x_{x}, gemm_{cuda::std::move(gemm)} {}
  /// A copy. @param[in] that the original
  TIEROPT_HOST gemm_executor(gemm_executor const& that) = default;
  /// What the original held. @param[in] that the original
  TIEROPT_HOST gemm_executor(gemm_executor&& that) = default;
  /// A copy. @param[in] that the original @return this
  TIEROPT_HOST gemm_executor& operator=(gemm_executor const& that) = default;
  /// What the original held. @param[in] that the original @return this
  TIEROPT_HOST gemm_executor& operator=(gemm_executor&& that) = default;
  /// Hidden like all members: a callable may have a destructor.
  TIEROPT_HOST ~gemm_executor() = default;

  /// Copies. @param[out] to destination @param[in] from source @param[in] bytes size
  /// @return the executor's status
  TIEROPT_HOST status upload(void* to, void const* from, size_t bytes) const {
    return x_.upload(to, from, bytes);
  }
  /// Runs all blocks. @tparam Body a body @param[in] blocks how many @param[in] body the body
  /// @return the executor's status
  template <block_body Body>
  TIEROPT_HOST status launch(int64_t blocks, Body const& body) const {
    return x_.launch(blocks, body);
  }
  /// Multiplies. @tparam T element type @param[in] product the operands
  /// @return the callable's status
  template <class T>
    requires gemm_for<Gemm, T> TIEROPT_HOST status multiply(matrix_product<T> const& product)
  const { return gemm_(product); }

 private:
  X x_;
  Gemm gemm_;
};

/// An executor with matrix products.
/// @tparam X an executor @tparam Gemm a gemm_for the elements of the policy's newton_schulz, or a
/// pointer to a function that is one
/// @param[in] x the executor @param[in] gemm multiplies where x runs, in the same order; kept
/// @return copies of the two
template <executor X, class Gemm>
[[nodiscard]] TIEROPT_HOST gemm_executor<X, Gemm> with_gemm(X const& x, Gemm gemm) {
  return {x, cuda::std::move(gemm)};
}

/// Whether an executor multiplies matrices of an element type.
template <class X, class T>
concept multiplying_executor = executor<X> &&
    requires(X const& x, matrix_product<T> const& product) {
  { x.multiply(product) } -> cuda::std::same_as<status>;
};

}  // namespace v0_1
}  // namespace tieropt
