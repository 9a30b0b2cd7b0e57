// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Steps of several tiers on the threads of the host executor, and plans of their own on threads of
/// the caller's: what ThreadSanitizer is to watch.

#include "support/model.hpp"

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

struct factored_momentum : tieropt::tier {  // clipped by the tensor: its matrices meet in one sum
  using momentum = tieropt::ema_momentum<float>;
  using variance = tieropt::factored_variance<float>;
  using clip = tieropt::rms_clip<tieropt::scope::tensor>;
};
struct exact_scaled : tieropt::tier {
  using scale = tieropt::param_rms_scale<tieropt::scope::matrix>;
};
struct guarded : tieropt::tier {  // all its gradients meet in one norm
  using grad_clip = tieropt::global_norm_clip;
  using fault = tieropt::skip_matrix;
};

/// Blocks at the edges of matrices, of several matrices, and of a vector.
template <class Tier>
using model = testing::model<Tier, tieropt::bf16, float>;
std::vector<std::vector<std::int64_t>> const shapes{{2, 130, 1100}, {257, 33}, {2100}, {40, 7, 9}};

/// Two steps. @return what went wrong
template <class Tier, class X>
std::string run(model<Tier>& m, X const& x, tieropt::schedule how) {
  for (int k = 0; k < 2; ++k) {
    std::vector<typename model<Tier>::tensor::bound> all;
    for (auto& t : m.tensors) t.new_gradient(k), all.push_back(t.whole());
    tieropt::step_inputs const inputs{.seed = 9, .max_grad_norm = 0.1};
    auto const e = testing::step_of<Tier>(x, all, m.hyper, inputs, how);
    if (!e.empty()) return e;
  }
  return "";
}

template <class Tier, class X>
bool same_bits(char const* tier, X const& x) {
  for (auto const how : {tieropt::streaming(), tieropt::cache_resident(1 << 20)}) {
    model<Tier> threads{shapes}, serial{shapes};
    std::string wrong = run(threads, x, how) + run(serial, tieropt::serial_executor{}, how);
    if (wrong.empty()) wrong = threads.difference(serial);
    if (!wrong.empty()) return std::printf("%s: %s\n", tier, wrong.c_str()), false;
  }
  return true;
}

template <class X>
bool all_tiers(X const& x) {
  bool ok = same_bits<factored_momentum>("factored, momentum, clip of the tensor", x);
  ok = same_bits<tieropt::skewadam::corrected::experts>("factored", x) && ok;
  ok = same_bits<exact_scaled>("exact, scaled", x) && ok;
  ok = same_bits<guarded>("exact, guarded, norm of all gradients", x) && ok;
  return same_bits<tieropt::lion::tensor>("momentum alone", x) && ok;
}

}  // namespace

int main() {
  bool ok = all_tiers(tieropt::host_executor{});
  bool alone[2]{};  // nothing is shared between plans
  std::vector<std::thread> callers;
  for (bool& mine : alone) {
    callers.emplace_back(
        [&mine] { mine = same_bits<exact_scaled>("alone", tieropt::serial_executor{}); });
  }
  for (auto& caller : callers) caller.join();
  ok = ok && alone[0] && alone[1];
  std::puts(ok ? "the same bits on any threads" : "bits differ");
  return ok ? 0 : 1;
}
