// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Matrix products on the CPU by Eigen, or by the BLAS that EIGEN_USE_BLAS gives it. Layer:
/// executor.
#pragma once

#include <tieropt/executor/gemm.hpp>
#include <tieropt/executor/host_executor.hpp>
#include <tieropt/precision/storage.hpp>

#include <Eigen/Core>

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

namespace tieropt {
inline namespace v0_1 {

/// Multiplies on the calling thread's machine: a batch in parallel, a single product as Eigen does.
///
/// Sums lie in a matrix that Eigen allocates for each product, copies of 16-bit operands as float
/// in two more. The order of the sums is Eigen's: results may differ in the last place between
/// machines.
struct eigen_gemm {
  /// Multiplies. @tparam T element type @param[in] p the operands @return ok
  template <storable T>
  TIEROPT_HOST status operator()(matrix_product<T> const& p) const {
    if (p.batch == 1) {
      multiply(p, 0);
    } else {
      thrust::for_each_n(host_system{}, thrust::counting_iterator<int64_t>{0}, p.batch,
                         one_of<T>{p});
    }
    return {};
  }

 private:
  template <class T>
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  // Hidden, and with it what Thrust makes of it.
  template <class T>
  struct [[gnu::visibility("hidden")]] one_of {
    matrix_product<T> product;
    TIEROPT_HOST void operator()(int64_t e) const { multiply(product, e); }
  };

  /// A matrix in place, or a copy that can be computed with.
  template <class T>
  TIEROPT_HOST static auto operand(T const* data, int64_t rows, int64_t cols) {
    if constexpr (compute_type<T>) {
      return Eigen::Map<matrix<T> const>(data, rows, cols);
    } else {
      matrix<float> copy(rows, cols);
      for (int64_t i = 0; i < rows * cols; ++i) {
        copy.data()[i] = storage<T>::template decode<float>(data[i]);
      }
      return copy;
    }
  }

  template <class T>
  TIEROPT_HOST static void multiply(matrix_product<T> const& p, int64_t e) {
    using real = cuda::std::conditional_t<compute_type<T>, T, float>;
    auto const a =
        operand(p.a + e * p.m * p.k, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k);
    auto const b =
        operand(p.b + e * p.k * p.n, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n);
    matrix<real> sum(p.m, p.n);
    if (p.transpose_a) {
      sum.noalias() = a.transpose() * b;  // no caller transposes both
    } else if (p.transpose_b) {
      sum.noalias() = a * b.transpose();
    } else {
      sum.noalias() = a * b;
    }
    T* const d = p.d + e * p.m * p.n;
    T const* const c = p.beta == 0 ? nullptr : p.c + e * p.m * p.n;
    auto const alpha = static_cast<real>(p.alpha), beta = static_cast<real>(p.beta);
    for (int64_t i = 0; i < p.m * p.n; ++i) {
      real x = alpha * sum.data()[i];
      if (c != nullptr) x = fma(beta, storage<T>::template decode<real>(c[i]), x);
      d[i] = storage<T>::nearest(x);
    }
  }
};

}  // namespace v0_1
}  // namespace tieropt
