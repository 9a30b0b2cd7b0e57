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

/// Blocks at the edges of matrices, of several matrices, and of a vector.
template <class Tier>
using model = testing::model<Tier, tieropt::bf16, float>;
std::vector<std::vector<std::int64_t>> const shapes{{2, 130, 1100}, {257, 33}, {2100}, {40, 7, 9}};

template <class Tier, class X>
bool same_bits(char const* tier, X const& x) {
  int const steps = 2;
  for (auto const how : {tieropt::streaming(), tieropt::cache_resident(1 << 20)}) {
    model<Tier> threads{shapes}, serial{shapes};
    std::string wrong = threads.run(x, steps, how) + serial.run(tieropt::serial_executor{}, steps);
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
