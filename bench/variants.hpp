// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From a tier to its benchmarks: buffers, plan, validation, registration.
#pragma once

#include "hand.hpp"
#include "harness.hpp"
#include "reference.hpp"

#include <tieropt/tieropt.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

/// Steps that each matrix has taken before the first one here.
inline constexpr std::int64_t steps_before = 2;
/// Of the rounding bits.
inline constexpr std::uint64_t seed = 42;

/// A tier with another rounding. @tparam Tier the tier @tparam Rounding of its parameters
template <class Tier, class Rounding>
struct rounded : Tier {
  using rounding = Rounding;  ///< instead of the tier's
};

/// How an element type is stored. @tparam T float, bf16 or fp16
template <class T>
inline constexpr number_format format_of = std::is_same_v<T, float>           ? number_format::fp32
                                           : std::is_same_v<T, tieropt::bf16> ? number_format::bf16
                                                                              : number_format::fp16;

/// The name of an element type. @tparam T float, bf16 or fp16
template <class T>
inline constexpr char const* type_name = std::is_same_v<T, float>           ? "fp32"
                                         : std::is_same_v<T, tieropt::bf16> ? "bf16"
                                                                            : "fp16";

/// Numbers of roughly normal distribution, a function of their index. @param[in] i index
/// @return in (-1, 1), deviation 0.29
inline float noise(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  auto const sum = (z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48);
  return static_cast<float>(static_cast<std::int32_t>(sum) - 131070) * 0x1p-17f;
}

/// The formulas of a tier. @tparam Parts of its kernels
template <class Parts>
constexpr recipe recipe_of() {
  using momentum = typename Parts::momentum;
  using state = typename momentum::state_type;
  using eps = typename Parts::eps;
  using need = tieropt::needs<Parts>;
  static_assert(!need::momentum || std::is_same_v<momentum, tieropt::lion_momentum<state>> ||
                std::is_same_v<momentum, tieropt::ema_momentum<state>>);
  static_assert(!Parts::transform::reads_grad && !need::orthogonal && !Parts::maximize);
  static_assert(Parts::bias_correction::first == Parts::bias_correction::second);
  return {.momentum = !need::momentum   ? momentum_rule::none
                      : need::of_update ? momentum_rule::update
                      : std::is_same_v<momentum, tieropt::lion_momentum<state>>
                          ? momentum_rule::lion
                          : momentum_rule::gradient,
          .variance = need::factored ? second_moment::factored
                      : need::exact  ? second_moment::exact
                                     : second_moment::none,
          .eps = std::is_same_v<eps, tieropt::inside_eps>  ? eps_place::inside
                 : std::is_same_v<eps, tieropt::added_eps> ? eps_place::added
                                                           : eps_place::floored,
          .corrects = Parts::bias_correction::first,
          .rises = std::is_same_v<typename Parts::betas, tieropt::rising_beta2>,
          .sign = std::is_same_v<typename Parts::transform, tieropt::sign_update>,
          .clips = need::measures,
          .scales = need::scales,
          .whole_tensor = Parts::clip::spans == tieropt::scope::tensor,
          .relative = std::is_same_v<typename Parts::rate, tieropt::relative_rate>,
          .decay = need::l2                        ? decay_place::gradient
                   : Parts::decay::rounds_to_param ? decay_place::rounded
                                                   : decay_place::fused};
}

/// Buffers and plan of some tensors of one tier, filled with numbers that depend on nothing else.
/// @tparam Tier population @tparam Param element type of parameters and gradients
template <class Tier, class Param>
class problem {
 public:
  using bound_type = tieropt::bound_tensor<Tier, Param, Param>;  ///< of its range
  using parts = typename bound_type::parts;                      ///< of the kernels

  static constexpr recipe formulas = recipe_of<parts>();                   ///< what is computed
  static constexpr bool keeps = formulas.momentum != momentum_rule::none;  ///< a momentum
  /// Whether parameters are rounded stochastically.
  static constexpr bool stochastic = parts::rounding::stochastic && tieropt::storage<Param>::draws;
  /// Whether there are hand-written loops for it: corrected experts, AdamW and Lion in bf16.
  static constexpr bool has_hand =
      std::is_same_v<Param, tieropt::bf16> &&
      (formulas == hand_experts::formulas || formulas == hand_adamw::formulas ||
       formulas == hand_lion::formulas);
  /// The hyperparameters; weights keep their size over thousands of steps, and updates are clipped.
  static constexpr numbers hyperparameters{
      .lr = 1e-4,
      .beta1 = 0.9,
      .beta2 = formulas.momentum == momentum_rule::lion ? 0.99 : 0.999,
      .eps = parts::eps::default_value,
      .clip = 0x1p-5,
      .weight_decay = 0.05};

  /// @param[in] load shapes @param[in,out] memory where the buffers go
  problem(workload const& load, pool& memory) : load_{load} {
    std::int64_t const E = load.matrices, R = load.rows, C = load.cols, n = E * R * C;
    std::size_t const bytes = 2 * pool::padded<Param>(n) + 2 * pool::padded<float>(n) +
                              pool::padded<float>(E * R) + pool::padded<float>(E * C);
    memory.reserve(static_cast<std::size_t>(load.tensors) * bytes);
    steps_.assign(static_cast<std::size_t>(load.tensors * E), steps_before);
    for (std::int64_t t = 0; t < load.tensors; ++t) {
      auto const salt = static_cast<std::uint64_t>(t) << 40;
      auto* const p = memory.carve<Param>(n);
      auto* const g = memory.carve<Param>(n);
      fill(p, E * R, C, [=](std::uint64_t i, int) { return 0.25f * noise(salt + i); });
      fill(g, E * R, C, [=](std::uint64_t i, int scale) {
        return noise(~(salt + i)) * (0.25f / static_cast<float>(1 << scale));
      });
      working_set_ += 2 * n * static_cast<std::int64_t>(sizeof(Param));
      auto const state = [&](std::int64_t rows, std::int64_t cols, float level, float spread) {
        auto* const x = memory.carve<float>(rows * cols);
        fill(x, rows, cols, [=](std::uint64_t i, int) { return level + spread * noise(salt - i); });
        working_set_ += rows * cols * static_cast<std::int64_t>(sizeof(float));
        return x;
      };
      bound_type b{.param = tieropt::view(p, E, R, C), .grad = tieropt::view(g, E, R, C), .key = t};
      if constexpr (keeps) {
        float const spread = formulas.momentum == momentum_rule::update ? 0x1p-10f : 0x1p-4f;
        b.momentum = tieropt::view(state(E * R, C, 0, spread), E, R, C);
      }
      if constexpr (formulas.variance == second_moment::factored) {
        b.variance.row = tieropt::view(state(E, R, 0x1p-9f, 0x1p-10f), E, R);
        b.variance.col = tieropt::view(state(E, C, 0x1p-9f, 0x1p-10f), E, C);
      } else if constexpr (formulas.variance == second_moment::exact) {
        b.variance.exact = tieropt::view(state(E * R, C, 0x1p-9f, 0x1p-10f), E, R, C);
      }
      b.step =
          tieropt::view(steps_.data() + t * E, parts::step_scope == tieropt::scope::tensor ? 1 : E);
      bound_.push_back(b);
    }
    plan_.emplace(tieropt::make_plan<policy>(bound_));
    if (!*plan_) throw std::runtime_error{tieropt::message(plan_->error())};
    workspace_.resize((*plan_)->workspace_bytes());
    require(tieropt::prepare(tieropt::host_executor{}, **plan_, workspace_));
    if constexpr (has_hand) make_hand();
  }
  problem(problem const&) = delete;

  /// One step of the library's.
  void step() {
    constexpr numbers h = hyperparameters;
    tieropt::hyper const hypers[] = {{.lr = h.lr,
                                      .beta1 = h.beta1,
                                      .beta2 = h.beta2,
                                      .eps = h.eps,
                                      .clip = h.clip,
                                      .weight_decay = h.weight_decay,
                                      .beta2_decay = h.beta2_decay,
                                      .eps2 = h.eps2}};
    require(tieropt::enqueue(tieropt::host_executor{}, **plan_, workspace_, hypers,
                             tieropt::step_inputs{.seed = seed}));
  }

  /// One hand-written step on the same buffers.
  void hand_step() {
    if constexpr (has_hand) hand_->step(hyperparameters, seed, stochastic);
  }

  /// What a step costs. @param[in] by_hand whether it is the hand-written one @return its cost
  step_cost cost(bool by_hand) const {
    return {load_.elements(), (*plan_)->traffic_bytes(), working_set_,
            by_hand ? std::int64_t{0} : (*plan_)->launches()};
  }

  /// Runs one step and compares it with loops in double. @param[in] by_hand which one
  /// @return empty, or what is wrong
  std::string validate(bool by_hand) {
    std::vector<copy_of> before;
    for (auto const& b : bound_) before.emplace_back(b);
    by_hand ? hand_step() : step();
    rounding_count count;
    for (std::size_t t = 0; t < bound_.size(); ++t) {
      auto const& b = bound_[t];
      std::string wrong =
          check_step(formulas, hyperparameters,
                     {load_.matrices, load_.rows, load_.cols, format_of<Param>, stochastic,
                      steps_before + 1, b.grad.data, before[t].views(), views_of(b)},
                     count);
      if (!wrong.empty()) return wrong;
    }
    for (std::int64_t const k : steps_) {
      bool const own = parts::step_scope == tieropt::scope::matrix || &k == steps_.data();
      if (own && k != steps_before + 1) return "a step counter is " + std::to_string(k);
    }
    return stochastic ? check_rounding(count) : std::string{};
  }

 private:
  using policy = tieropt::tier_policy<Tier>;
  using plan_type = decltype(tieropt::make_plan<policy>(std::declval<std::vector<bound_type>&>()));
  using hand_type = std::conditional_t<
      formulas == hand_experts::formulas, hand_experts,
      std::conditional_t<formulas == hand_adamw::formulas, hand_adamw, hand_lion>>;

  // The buffers of a tensor that a step writes, as they were.
  class copy_of {
   public:
    explicit copy_of(bound_type const& b) {
      keep(param_, b.param);
      if constexpr (keeps) keep(momentum_, b.momentum);
      if constexpr (formulas.variance != second_moment::none) {
        keep(row_, b.variance.row);
        keep(col_, b.variance.col);
        keep(exact_, b.variance.exact);
      }
    }
    buffers views() const {
      return {param_.data(), momentum_.data(), row_.data(), col_.data(), exact_.data()};
    }

   private:
    template <class T>
    static void keep(std::vector<T>& to, tieropt::tensor_view<T> const& from) {
      if (from) to.assign(from.data, from.data + from.size());
    }
    std::vector<Param> param_;
    std::vector<float> momentum_, row_, col_, exact_;
  };

  static buffers views_of(bound_type const& b) {
    buffers x{.param = b.param.data};
    if constexpr (keeps) x.momentum = b.momentum.data;
    if constexpr (formulas.variance != second_moment::none) {
      x.row = b.variance.row.data, x.col = b.variance.col.data, x.exact = b.variance.exact.data;
    }
    return x;
  }

  static void require(tieropt::status const& s) {
    if (!s) throw std::runtime_error{tieropt::message(s)};
  }

  // Element i of a row-major (rows, cols) is f(i, some small number that depends on row and
  // column).
  template <class T, class F>
  static void fill(T* to, std::int64_t rows, std::int64_t cols, F const& f) {
#pragma omp parallel for schedule(static)
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        std::int64_t const i = r * cols + c;
        int const scale = static_cast<int>((r & 1) + (c & 3));
        to[i] = tieropt::storage<T>::nearest(f(static_cast<std::uint64_t>(i), scale));
      }
    }
  }

  void make_hand() {
    std::vector<hand_tensor> tensors;
    for (auto const& b : bound_) {
      hand_tensor x{load_.matrices,
                    load_.rows,
                    load_.cols,
                    reinterpret_cast<std::uint16_t*>(b.param.data),
                    reinterpret_cast<std::uint16_t const*>(b.grad.data),
                    b.step.data};
      if constexpr (keeps) x.momentum = b.momentum.data;
      if constexpr (formulas.variance != second_moment::none) {
        x.row = b.variance.row.data, x.col = b.variance.col.data, x.exact = b.variance.exact.data;
      }
      tensors.push_back(x);
    }
    hand_.emplace(std::move(tensors));
  }

  workload load_;
  std::int64_t working_set_ = 0;
  std::vector<std::int64_t> steps_;
  std::vector<bound_type> bound_;
  std::optional<plan_type> plan_;  // refers to bound_
  std::vector<std::byte> workspace_;
  std::optional<hand_type> hand_;
};

/// The problem that is being timed: the next variant of another name takes its memory.
struct current_problem {
  static inline std::string name;             ///< type, tier, mode, rounding and shape
  static inline std::shared_ptr<void> value;  ///< a problem
  static inline pool memory;                  ///< its buffers
};

/// One benchmark.
struct variant {
  std::string problem;                 ///< what the buffers and the plan depend on
  workload load;                       ///< shapes
  int threads;                         ///< to run on
  bool by_hand;                        ///< whether the hand-written loops are what is timed
  std::optional<std::string> verdict;  ///< what is wrong, once validated
  fastest best;                        ///< over all calls
};

/// Validates once, on at most two of the matrices, then times.
/// @tparam Tier population @tparam Param element type
/// @param[in,out] state of Google Benchmark @param[in,out] v the variant
template <class Tier, class Param>
void run_variant(benchmark::State& state, variant& v) {
  using problem_type = problem<Tier, Param>;
  use_threads(v.threads);
  if (!v.verdict) {
    static pool memory;
    workload part = v.load;
    part.matrices =
        std::min<std::int64_t>(part.matrices, problem_type::formulas.whole_tensor ? 2 : 1);
    v.verdict = problem_type{part, memory}.validate(v.by_hand);
  }
  if (!v.verdict->empty()) {
    any_wrong = true;
    state.SkipWithError(("wrong result: " + *v.verdict).c_str());
    return;
  }
  if (current_problem::name != v.problem) {
    current_problem::value.reset();
    current_problem::value = std::make_shared<problem_type>(v.load, current_problem::memory);
    current_problem::name = v.problem;
  }
  auto& x = *static_cast<problem_type*>(current_problem::value.get());
  auto const library = [&] { x.step(); };
  auto const hand = [&] { x.hand_step(); };
  if (v.by_hand) {
    time_interleaved(state, v.best, x.cost(true), hand, hand, false);
  } else {
    time_interleaved(state, v.best, x.cost(false), library, hand, problem_type::has_hand);
  }
}

/// Registers a tier with one element type and rounding over all shapes and threads.
/// @tparam Tier population @tparam Param element type @tparam Rounding of the parameters
/// @param[in] tier @param[in] mode of the name
template <class Tier, class Param, class Rounding>
void register_variant(char const* tier, char const* mode) {
  using population = rounded<Tier, Rounding>;
  auto const name = [&](std::string const& m, workload const& load) {
    return std::string{"T="} + type_name<Param> + "/tier=" + tier + "/mode=" + m +
           "/rounding=" + (Rounding::stochastic ? "stochastic" : "nearest") + "/" + load.name();
  };
  for (workload const& load : workloads) {
    for (bool const by_hand : {false, true}) {
      if (by_hand && !problem<population, Param>::has_hand) continue;
      for (int const threads : {1, 2}) {
        auto const v =
            std::make_shared<variant>(variant{name(mode, load), load, threads, by_hand, {}, {}});
        std::string const shown = name(by_hand ? "hand_" + std::string{mode} : mode, load) +
                                  "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(
            shown.c_str(),
            [=](benchmark::State& state) { run_variant<population, Param>(state, *v); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

/// Registers a tier over element types and roundings. @tparam Tier population
/// @param[in] tier @param[in] mode of the name
template <class Tier>
void register_tier(char const* tier, char const* mode) {
  using tieropt::nearest_rounding, tieropt::stochastic_rounding;
  register_variant<Tier, tieropt::bf16, nearest_rounding>(tier, mode);
  register_variant<Tier, tieropt::bf16, stochastic_rounding>(tier, mode);
  register_variant<Tier, tieropt::fp16, nearest_rounding>(tier, mode);
  register_variant<Tier, tieropt::fp16, stochastic_rounding>(tier, mode);
  register_variant<Tier, float, nearest_rounding>(tier, mode);  // wide ones are always nearest
}

}  // namespace bench
