// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Saves a run after three steps, goes on in other buffers, and has the bits of the run without a
/// break; then loads what does not fit, which is refused. See checkpoint.md.

#include "checkpoint/checkpoint.hpp"

#include <tieropt/tieropt.hpp>

#include <cmath>
#include <cstdio>

using tieropt::view;

struct experts : tieropt::tier {
  static constexpr char const* name = "experts";  // what files call it
  using momentum = tieropt::ema_momentum<tieropt::softsign_int8>;
  using variance = tieropt::factored_variance<float>;
};
struct other_experts : experts {
  using momentum = tieropt::ema_momentum<float>;
};

// A stack of 4 experts of 24 x 40 weights in bf16, rounded stochastically.
template <class Tier>
struct model {
  static constexpr std::int64_t e = 4, r = 24, c = 40, groups = 2;
  std::vector<tieropt::bf16> w = std::vector<tieropt::bf16>(e * r * c);
  std::vector<tieropt::bf16> dw = w;
  std::vector<std::int8_t> codes = std::vector<std::int8_t>(e * r * c);
  std::vector<float> m = std::vector<float>(e * r * c), scales = std::vector<float>(e * r * groups);
  std::vector<float> row = std::vector<float>(e * r), col = std::vector<float>(e * c);
  std::vector<std::int64_t> steps = std::vector<std::int64_t>(e);
  std::vector<tieropt::bound_tensor<Tier, tieropt::bf16>> tensors;

  model() {
    tensors.push_back({.param = view(w.data(), e, r, c),
                       .grad = view(dw.data(), e, r, c),
                       .variance = {.row = view(row.data(), e, r), .col = view(col.data(), e, c)},
                       .step = view(steps.data(), e),
                       .key = 1});
    if constexpr (std::is_same_v<typename Tier::momentum::state_type, float>) {
      tensors[0].momentum = view(m.data(), e, r, c);
    } else {
      tensors[0].momentum = {.codes = view(codes.data(), e, r, c),
                             .scales = view(scales.data(), e, r, groups)};
    }
  }
  model(model const&) = delete;

  // Every buffer of every tensor, under the names that the file gets.
  std::vector<checkpoint::buffer> buffers() const {
    std::vector<checkpoint::buffer> all;
    checkpoint::append(all, "experts", tensors[0]);
    return all;
  }
  // Steps [first, last); the gradients are a function of the weights and of the step.
  void train(int first, int last, std::uint64_t seed) {
    using codec = tieropt::storage<tieropt::bf16>;
    auto const plan = tieropt::make_plan<tieropt::tier_policy<Tier>>(tensors);
    std::vector<std::byte> workspace(plan ? plan->workspace_bytes() : 0);
    tieropt::host_executor const executor;
    tieropt::status s = plan ? prepare(executor, *plan, workspace) : plan.error();
    for (int k = first; s && k < last; ++k) {
      for (std::size_t i = 0; i < w.size(); ++i) {
        dw[i] = codec::nearest(codec::decode<float>(w[i]) - std::sin(static_cast<float>(i) + k));
      }
      tieropt::hyper const hypers[] = {{.lr = 0.01}};
      s = enqueue(executor, *plan, workspace, hypers, tieropt::step_inputs{.seed = seed});
    }
    if (!s) throw checkpoint::error(message(s));
  }
};

int main(int argc, char** argv) {
  std::string const path = argc > 1 ? argv[1] : "checkpoint.safetensors";
  try {
    model<experts> straight;
    straight.train(0, 3, 42);
    checkpoint::save(path, straight.buffers(), 42);
    straight.train(3, 6, 42);

    model<experts> resumed;
    std::uint64_t const seed = checkpoint::load(path, resumed.buffers());
    resumed.train(3, 6, seed);
    auto const a = straight.buffers(), b = resumed.buffers();
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::size_t const bytes = static_cast<std::size_t>(a[i].what.size()) * a[i].element;
      if (std::memcmp(a[i].data, b[i].data, bytes) != 0) {
        throw checkpoint::error(a[i].name + " has other bits than the run without a break");
      }
      std::printf("%-24s %-5s %6zu bytes, equal\n", a[i].name.c_str(), a[i].what.dtype, bytes);
    }
  } catch (checkpoint::error const& e) {
    return std::puts(e.what()), 1;
  }
  try {
    model<other_experts> other;
    checkpoint::load(path, other.buffers());
  } catch (checkpoint::error const& e) {
    return std::printf("refused: %s\n", e.what()), 0;
  }
  return std::puts("what does not fit was loaded"), 1;
}
