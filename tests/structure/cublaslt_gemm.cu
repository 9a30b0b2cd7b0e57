// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compiles the products of every element type; they run where there is a GPU.

#include <tieropt/executor/cublaslt_gemm.cuh>
#include <tieropt/executor/cuda_executor.cuh>

using namespace tieropt;

static_assert(gemm_for<cublaslt_gemm, bf16>);
static_assert(gemm_for<cublaslt_gemm, fp16>);
static_assert(gemm_for<cublaslt_gemm, float>);
static_assert(gemm_for<cublaslt_gemm, double>);
static_assert(!gemm_for<cublaslt_gemm, int>);
static_assert(multiplying_executor<gemm_executor<cuda_executor, cublaslt_gemm>, bf16>);

template <class T>
status product(cublaslt_gemm const& gemm) {
  return gemm(matrix_product<T>{});
}
status products(cublaslt_gemm const& gemm) {
  status s = product<bf16>(gemm);
  if (s) s = product<fp16>(gemm);
  if (s) s = product<float>(gemm);
  return s ? product<double>(gemm) : s;
}
