// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The buffers of one tensor of one tier on the device, whatever its states are stored in.
#pragma once

#include <tieropt/tieropt.cuh>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace device_bench {

using tieropt::bf16;
using tieropt::int64_t;
using tieropt::uint32_t;
using tieropt::uint64_t;

/// Ends the program when something fails. @param[in] holds whether it does @param[in] what failed
inline void demand(bool holds, char const* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}
/// Ends the program when the runtime fails. @param[in] error what a call returned
inline void demand(cudaError_t error) { demand(error == cudaSuccess, cudaGetErrorString(error)); }

/// Where buffers lie.
enum class place {
  device,  ///< device memory
  both     ///< memory that the host also reaches
};

/// A piece of memory that the device reaches. @tparam T element type
template <class T>
class buffer {
 public:
  /// @param[in] count elements, all zero @param[in] where they lie
  explicit buffer(int64_t count, place where = place::device) : count_{count} {
    auto** const data = reinterpret_cast<void**>(&data_);
    demand(where == place::both ? cudaMallocManaged(data, bytes()) : cudaMalloc(data, bytes()));
    demand(cudaMemset(data_, 0, bytes()));
    demand(cudaDeviceSynchronize());
  }
  /// @param[in] host what it starts with @param[in] where it lies
  buffer(std::vector<T> const& host, place where)
      : buffer{static_cast<int64_t>(host.size()), where} {
    demand(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  buffer(buffer const&) = delete;
  ~buffer() { cudaFree(data_); }
  /// @return first element, on the device
  T* data() const { return data_; }
  /// @return bytes allocated
  size_t bytes() const { return static_cast<size_t>(count_ > 0 ? count_ : 1) * sizeof(T); }
  /// Whether two buffers hold the same bits. @param[in] that of the same size @return true if so
  bool equals(buffer const& that) const {
    std::vector<char> a(bytes()), b(bytes());
    demand(cudaMemcpy(a.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    demand(cudaMemcpy(b.data(), that.data_, bytes(), cudaMemcpyDeviceToHost));
    return a == b;
  }

 private:
  T* data_ = nullptr;
  int64_t count_;
};

/// (E, R, C), dense.
struct shape {
  int64_t E, R, C;  ///< extents
  /// @return elements
  int64_t size() const { return E * R * C; }
};

/// @param[in] i counter @return a number in [-1, 1)
inline float uniform(uint64_t i) {
  return static_cast<float>(static_cast<int>(
             tieropt::mix32(static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 7))) *
         0x1p-31f;
}

/// @param[in] n count @param[in] f value of an element @return n elements, to nearest
template <class T, class F>
std::vector<T> filled(int64_t n, F f) {
  std::vector<T> v(static_cast<size_t>(n));
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) v[i] = tieropt::storage<T>::nearest(f(uint64_t(i)));
  return v;
}

/// A state with an element for every weight. @tparam State how it is stored, or none
template <class State>
struct state_buffer
    : buffer<std::conditional_t<std::is_same_v<State, tieropt::none>, float, State>> {
  using element = std::conditional_t<std::is_same_v<State, tieropt::none>, float, State>;
  /// @param[in] s extents @param[in] f value of an element @param[in] where it lies
  template <class F>
  state_buffer(shape const& s, F f, float, place where)
      : buffer<element>{filled<element>(std::is_same_v<State, tieropt::none> ? 0 : s.size(), f),
                        where} {}
  /// @param[in] s extents @return what a tensor is bound to
  auto views(shape const& s) const { return tieropt::view(this->data(), s.E, s.R, s.C); }
};
/// Codes, with one scale for all groups to begin with. @tparam State how it is stored
template <tieropt::quantised_state State>
struct state_buffer<State> {
  using code = typename State::code;
  buffer<code> codes;    ///< (E, R, C)
  buffer<float> scales;  ///< (E, R, ceil(C / 32))

  /// @param[in] s extents @param[in] f value of an element @param[in] largest of the values
  /// @param[in] where they lie
  template <class F>
  state_buffer(shape const& s, F f, float largest, place where)
      : codes{encoded(s.size(), f, largest), where},
        scales{
            filled<float>(s.E * s.R * groups(s), [=](uint64_t) { return State::scale(largest); }),
            where} {}
  /// @param[in] s extents @return what a tensor is bound to
  tieropt::quantised_views<State> views(shape const& s) const {
    return {tieropt::view(codes.data(), s.E, s.R, s.C),
            tieropt::view(scales.data(), s.E, s.R, groups(s))};
  }
  /// Whether two states hold the same bits. @param[in] that of the same size @return true if so
  bool equals(state_buffer const& that) const {
    return codes.equals(that.codes) && scales.equals(that.scales);
  }

 private:
  static int64_t groups(shape const& s) {
    return tieropt::ceil_div(s.C, int64_t{tieropt::scale_group});
  }
  template <class F>
  static std::vector<code> encoded(int64_t n, F f, float largest) {
    std::vector<code> v(static_cast<size_t>(n));
    float const inverse = State::inverse(State::scale(largest));
#pragma omp parallel for
    for (int64_t i = 0; i < n; ++i) v[i] = State::nearest(f(uint64_t(i)), inverse);
    return v;
  }
};

/// What a master has beside the parameter. @tparam Master a master part
template <class Master>
struct master_buffer {
  static constexpr bool splits = Master::splits, whole = tieropt::keeps_master<Master> && !splits;
  using weight = std::conditional_t<whole, typename Master::element, float>;
  buffer<weight> weights;           ///< (E, R, C), or empty
  buffer<std::uint16_t> remainder;  ///< (E, R, C), or empty
  buffer<std::uint8_t> carry;       ///< (E, R, ceil(C / 8)), or empty

  /// @param[in] s extents @param[in] f value of a weight @param[in] where they lie
  template <class F>
  master_buffer(shape const& s, F f, place where)
      : weights{filled<weight>(whole ? s.size() : 0, f), where},
        remainder{splits ? s.size() : 0, where},
        carry{Master::carries ? s.E * s.R * bytes(s) : 0, where} {}
  /// @param[in] s extents @return what a tensor is bound to
  tieropt::master_views<Master> views(shape const& s) const {
    tieropt::master_views<Master> v;
    if constexpr (whole) v.weights = tieropt::view(weights.data(), s.E, s.R, s.C);
    if constexpr (splits) v.remainder = tieropt::view(remainder.data(), s.E, s.R, s.C);
    if constexpr (Master::carries) v.carry = tieropt::view(carry.data(), s.E, s.R, bytes(s));
    return v;
  }
  /// Whether two masters hold the same bits. @param[in] that of the same size @return true if so
  bool equals(master_buffer const& that) const {
    return weights.equals(that.weights) && remainder.equals(that.remainder) &&
           carry.equals(that.carry);
  }

 private:
  static int64_t bytes(shape const& s) { return tieropt::ceil_div(s.C, int64_t{8}); }
};

/// The buffers of one tensor. @tparam Tier a tier @tparam Param of parameters
/// @tparam Grad of gradients
template <class Tier, class Param = bf16, class Grad = Param>
struct buffers {
  static constexpr bool keeps = tieropt::keeps_momentum<typename Tier::momentum>;
  static constexpr bool factored = Tier::variance::factored;
  static constexpr bool divides = tieropt::keeps_variance<typename Tier::variance>;
  static constexpr bool one_step = Tier::step_scope == tieropt::scope::tensor;
  using momentum_state = typename Tier::momentum::state_type;
  using exact_state =
      std::conditional_t<divides && !factored, typename Tier::variance::state_type, tieropt::none>;

  static float positive(uint64_t i) { return 1e-3f * (1.5f + uniform(i)); }

  shape s;                                      ///< extents
  buffer<Param> param;                          ///< (E, R, C)
  buffer<Grad> grad;                            ///< (E, R, C)
  state_buffer<momentum_state> momentum;        ///< (E, R, C), or empty
  state_buffer<exact_state> exact;              ///< (E, R, C), or empty
  buffer<float> row, col;                       ///< (E, R), (E, C), or empty
  master_buffer<typename Tier::master> master;  ///< of the tier
  buffer<int64_t> step;                         ///< (E), or one

  /// @param[in] of extents @param[in] where they lie
  explicit buffers(shape const& of, place where = place::device)
      : s{of},
        param{filled<Param>(s.size(), uniform), where},
        grad{filled<Grad>(s.size(), [](uint64_t i) { return 0.01f * uniform(i + 0x100000000u); }),
             where},
        momentum{s, [](uint64_t i) { return 0.01f * uniform(i + 0x200000000u); }, 0.01f, where},
        exact{s, positive, 2.5e-3f, where},
        row{filled<float>(factored ? s.E * s.R : 0, positive), where},
        col{filled<float>(factored ? s.E * s.C : 0, positive), where},
        master{s, uniform, where},
        step{std::vector<int64_t>(static_cast<size_t>(one_step ? 1 : s.E), 3), where} {}

  /// Names the first buffer that differs. @param[in] that buffers @return null if none does
  char const* differs(buffers const& that) const {
    if (!param.equals(that.param)) return "parameters";
    if (!momentum.equals(that.momentum)) return "momentum";
    if (!exact.equals(that.exact)) return "exact second moments";
    if (!row.equals(that.row)) return "row factors";
    if (!col.equals(that.col)) return "column factors";
    if (!master.equals(that.master)) return "masters";
    return nullptr;
  }
};

}  // namespace device_bench
