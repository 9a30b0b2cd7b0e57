// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Matrix products on a GPU by cuBLASLt. Layer: executor.
#pragma once

#include <tieropt/executor/gemm.hpp>
#include <tieropt/precision/storage.hpp>

#include <cublasLt.h>

namespace tieropt {
inline namespace v0_1 {

/// How cuBLAS calls an element type. @tparam T float, double, or a 16-bit type with the bits of
/// bf16 or fp16 @return its cudaDataType_t, or -1
template <class T>
consteval int cublas_type() {
  if constexpr (cuda::std::is_same_v<T, double>) {
    return CUDA_R_64F;
  } else if constexpr (cuda::std::is_same_v<T, float>) {
    return CUDA_R_32F;
  } else if constexpr (cuda::std::is_base_of_v<storage_as<T, bf16_format>, storage<T>>) {
    return CUDA_R_16BF;
  } else if constexpr (cuda::std::is_base_of_v<storage_as<T, fp16_format>, storage<T>>) {
    return CUDA_R_16F;
  } else {
    return -1;
  }
}

/// Multiplies on a stream; link with cublasLt. Sums are kept in float, or in double for double.
///
/// It neither allocates device memory nor waits, so that a step can be captured in a graph. The
/// handle is the caller's, and the stream the executor's. status::native is a cublasStatus_t where
/// a product fails.
class cublaslt_gemm {
 public:
  /// @param[in] handle of the stream's device @param[in] stream of the executor
  TIEROPT_HOST cublaslt_gemm(cublasLtHandle_t handle, cudaStream_t stream)
      : handle_{handle}, stream_{stream} {}

  /// Multiplies. @tparam T float, double, or a 16-bit type with the bits of bf16 or fp16
  /// @param[in] p the operands @return ok or device
  template <storable T>
    requires(cublas_type<T>() >= 0)
  TIEROPT_HOST status operator()(matrix_product<T> const& p) const {
    // Row-major D = A B is column-major D^T = B^T A^T: the operands change places.
    constexpr auto type = static_cast<cudaDataType_t>(cublas_type<T>());
    constexpr bool wide = type == CUDA_R_64F;
    call c;
    c.describe(wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, wide ? CUDA_R_64F : CUDA_R_32F,
               p.transpose_b, p.transpose_a);
    c.lay_out(c.left, type, p.transpose_b ? p.k : p.n, p.transpose_b ? p.n : p.k, p.batch);
    c.lay_out(c.right, type, p.transpose_a ? p.m : p.k, p.transpose_a ? p.k : p.m, p.batch);
    c.lay_out(c.sum, type, p.n, p.m, p.batch);
    T const* const addend = p.beta == 0 ? p.d : p.c;
    if constexpr (wide) {
      c.multiply(handle_, stream_, &p.alpha, p.b, p.a, &p.beta, addend, p.d);
    } else {
      auto const alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
      c.multiply(handle_, stream_, &alpha, p.b, p.a, &beta, addend, p.d);
    }
    if (c.code == CUBLAS_STATUS_SUCCESS) return {};
    return {errc::device, static_cast<int>(c.code)};
  }

 private:
  /// The descriptors of one product; does nothing once something failed.
  struct call {
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t left = nullptr, right = nullptr, sum = nullptr;
    cublasStatus_t code = CUBLAS_STATUS_SUCCESS;

    TIEROPT_HOST call() = default;
    call(call const&) = delete;
    call& operator=(call const&) = delete;
    TIEROPT_HOST ~call() {
      for (auto const layout : {left, right, sum}) {
        if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
      }
      if (product != nullptr) cublasLtMatmulDescDestroy(product);
    }
    TIEROPT_HOST void then(cublasStatus_t next) {
      if (code == CUBLAS_STATUS_SUCCESS) code = next;
    }
    TIEROPT_HOST void describe(cublasComputeType_t compute, cudaDataType_t scale,
                               bool transpose_left, bool transpose_right) {
      then(cublasLtMatmulDescCreate(&product, compute, scale));
      transpose(CUBLASLT_MATMUL_DESC_TRANSA, transpose_left);
      transpose(CUBLASLT_MATMUL_DESC_TRANSB, transpose_right);
    }
    TIEROPT_HOST void transpose(cublasLtMatmulDescAttributes_t which, bool yes) {
      cublasOperation_t const op = yes ? CUBLAS_OP_T : CUBLAS_OP_N;
      if (code == CUBLAS_STATUS_SUCCESS) {
        then(cublasLtMatmulDescSetAttribute(product, which, &op, sizeof op));
      }
    }
    TIEROPT_HOST void lay_out(cublasLtMatrixLayout_t& layout, cudaDataType_t type, int64_t rows,
                              int64_t cols, int64_t batch) {
      if (code != CUBLAS_STATUS_SUCCESS) return;
      then(cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(rows),
                                      static_cast<uint64_t>(cols), rows));
      auto const count = static_cast<int32_t>(batch);
      int64_t const stride = rows * cols;
      if (code != CUBLAS_STATUS_SUCCESS) return;
      then(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                            sizeof count));
      then(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                            &stride, sizeof stride));
    }
    TIEROPT_HOST void multiply(cublasLtHandle_t handle, cudaStream_t stream, void const* alpha,
                               void const* b, void const* a, void const* beta, void const* c,
                               void* d) {
      if (code != CUBLAS_STATUS_SUCCESS) return;
      then(cublasLtMatmul(handle, product, alpha, b, left, a, right, beta, c, sum, d, sum, nullptr,
                          nullptr, 0, stream));
    }
  };

  cublasLtHandle_t handle_;
  cudaStream_t stream_;
};

}  // namespace v0_1
}  // namespace tieropt
