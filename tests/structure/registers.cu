// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of the shipped policies, to be compiled for some architectures and looked at.

#include <tieropt/tieropt.cuh>

namespace {

template <class Tier, class T>
using plan_for = tieropt::plan<tieropt::tier_policy<Tier>, tieropt::bound_tensor<Tier, T>>;

// What the presets lack: passes that look at all gradients first.
struct clipped : tieropt::adamw::tensor {
  using grad_clip = tieropt::global_norm_clip;
};

// Launches nothing.
struct no_products {
  template <class T>
  tieropt::status operator()(tieropt::matrix_product<T> const&) const {
    return {};
  }
};

// Instantiates every kernel of a tier. @tparam Tier a tier @tparam T of parameters and gradients
template <class Tier, class T>
tieropt::status step(plan_for<Tier, T> const& plan, cuda::std::span<tieropt::byte> workspace) {
  return enqueue(tieropt::with_gemm(tieropt::cuda_executor{nullptr}, no_products{}), plan,
                 workspace, tieropt::resident<tieropt::hyper>{},
                 tieropt::resident<tieropt::step_inputs>{});
}

}  // namespace

namespace corrected = tieropt::skewadam::corrected;
namespace published = tieropt::skewadam::published;

void* kernels[] = {
    reinterpret_cast<void*>(step<corrected::backbone, tieropt::bf16>),
    reinterpret_cast<void*>(step<corrected::experts, tieropt::bf16>),
    reinterpret_cast<void*>(step<corrected::router, tieropt::bf16>),
    reinterpret_cast<void*>(step<published::backbone, tieropt::bf16>),
    reinterpret_cast<void*>(step<published::experts, tieropt::bf16>),
    reinterpret_cast<void*>(step<published::router, tieropt::bf16>),
    reinterpret_cast<void*>(step<tieropt::adamw::tensor, tieropt::bf16>),
    reinterpret_cast<void*>(step<tieropt::adam::tensor, tieropt::bf16>),
    reinterpret_cast<void*>(step<tieropt::lion::tensor, tieropt::bf16>),
    reinterpret_cast<void*>(step<tieropt::adafactor::tensor, tieropt::bf16>),
    reinterpret_cast<void*>(step<tieropt::adafactor::with_momentum, tieropt::bf16>),
    reinterpret_cast<void*>(step<tieropt::muon::matrix, tieropt::bf16>),
    reinterpret_cast<void*>(step<corrected::backbone, float>),
    reinterpret_cast<void*>(step<corrected::experts, float>),
    reinterpret_cast<void*>(step<corrected::router, float>),
    reinterpret_cast<void*>(step<tieropt::adamw::tensor, float>),
    reinterpret_cast<void*>(step<clipped, tieropt::bf16>),
};
