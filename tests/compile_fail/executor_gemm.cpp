// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-executor-gemm]

#include <tieropt/executor/host_executor.hpp>
#include <tieropt/plan/enqueue.hpp>
#include <tieropt/policy/muon.hpp>

struct gemm {
  tieropt::status operator()(tieropt::matrix_product<tieropt::bf16> const&) const { return {}; }
};

#ifdef FIXED
auto const executor = tieropt::with_gemm(tieropt::serial_executor{}, gemm{});
#else
tieropt::serial_executor const executor;
#endif

using bound = tieropt::bound_tensor<tieropt::muon::matrix, float>;

tieropt::status step(tieropt::plan<tieropt::muon::policy, bound> const& plan,
                     cuda::std::span<tieropt::byte> workspace,
                     cuda::std::span<tieropt::hyper const> hypers) {
  return tieropt::enqueue(executor, plan, workspace, hypers);
}
