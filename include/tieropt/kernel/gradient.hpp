// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The gradient as a tier sees it: scaled, negated where it maximises, decaying where L2 is asked
/// for. Layer: kernel.
#pragma once

#include <tieropt/kernel/weights.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What a tier with L2 decay reads beside each gradient.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
using grad_decay_operand = cuda::std::conditional_t<needs<Parts>::l2, widest_weight<Parts>, none>;

/// The gradient of a strip, by slot.
/// @tparam Parts see kernel/tensor.hpp @tparam Grad a tile @tparam Weight a tile of the weights
/// that decay, or none
template <class Parts, class Grad, class Weight>
struct strip_gradient {
  using T = typename Parts::compute;  ///< compute type
  Grad grad;                          ///< as it came
  Weight weight;                      ///< of an L2 decay
  T gain;                             ///< of the gradient
  T unscaling;                        ///< of the gradient that is judged
  T weight_decay;                     ///< of an L2 decay

  /// An element. @tparam At a slot @param[in] at slot @return gain g, plus weight_decay p; 0 where
  /// it rests
  template <class At>
  TIEROPT_HOST_DEVICE T operator()(At at) const {
    if constexpr (needs<Parts>::masks) {
      if (faulty(at)) return T(0);
    }
    T const g = mul(gain, grad.template get<T>(at));
    if constexpr (cuda::std::is_same_v<Weight, none>) {
      return g;
    } else {
      return fma(weight_decay, weight.template get<T>(at), g);
    }
  }
  /// Whether an element is faulty. @tparam At a slot @param[in] at slot @return true if so
  template <class At>
  TIEROPT_HOST_DEVICE bool faulty(At at) const {
    T const judged = needs<Parts>::clips_norm ? unscaling : gain;
    return is_faulty(mul(judged, grad.template get<T>(at)));
  }
};

/// Where the gradients of one tile come from.
/// @tparam Parts see kernel/tensor.hpp
template <class Parts>
class gradient_source {
  using decaying = cuda::std::conditional_t<needs<Parts>::l2, weight_plane<Parts>, none>;

 public:
  /// From a matrix and a column on. @param[in] tensor the tensor @param[in] address of its gradient
  /// @param[in] e matrix @param[in] c0 first column
  TIEROPT_HOST_DEVICE gradient_source(tensor_entry<Parts> const& tensor,
                                      typename Parts::grad const* address, int64_t e, int64_t c0)
      : grad_{address + (tensor.places[e].grad + c0 * tensor.grad.col), tensor.grad.row,
              tensor.grad.col},
        weights_{} {
    if constexpr (needs<Parts>::l2) weights_ = weight_plane<Parts>{tensor, e, c0};
  }

  /// Hints that a strip will be read. @tparam Group a group @tparam Cut a tile
  /// @param[in] group the group @param[in] cut the tile @param[in] r row
  /// @param[in] c first column of the strip, from the tile's
  template <class Group, class Cut>
  TIEROPT_HOST_DEVICE void prefetch(Group const& group, Cut const& cut, int64_t r, int c) const {
    group.prefetch(grad_.at(r, c, cut.stride(grad_.col)));
  }

  /// The gradients of a strip. @tparam Group a group @tparam Cut a tile @tparam Width width type
  /// @param[in] group the group @param[in] cut the tile @param[in] width columns of the strip
  /// @param[in] r row @param[in] c first column of the strip, from the tile's
  /// @param[in] s scalars of the matrix @return a strip_gradient
  template <class Group, class Cut, class Width>
  TIEROPT_HOST_DEVICE auto load(Group const& group, Cut const& cut, Width width, int64_t r, int c,
                                step_scalars<typename Parts::compute> const& s) const {
    if constexpr (needs<Parts>::l2) {
      auto const stride = cut.stride(grad_.col);
      auto const grad = group.load(grad_.at(r, c, stride), width, stride);
      auto const weight = weights_.load(group, cut, width, r, c);
      return strip_gradient<Parts, cuda::std::remove_const_t<decltype(grad)>,
                            cuda::std::remove_const_t<decltype(weight)>>{
          grad, weight, s.grad_gain, s.unscaling, s.weight_decay};
    } else {
      return load_alone(group, cut, width, r, c, s);
    }
  }

  /// The gradients of a strip without any decay. @tparam Group a group @tparam Cut a tile
  /// @tparam Width width type
  /// @param[in] group the group @param[in] cut the tile @param[in] width columns of the strip
  /// @param[in] r row @param[in] c first column of the strip, from the tile's
  /// @param[in] s scalars of the matrix @return a strip_gradient
  template <class Group, class Cut, class Width>
  TIEROPT_HOST_DEVICE auto load_alone(Group const& group, Cut const& cut, Width width, int64_t r,
                                      int c, step_scalars<typename Parts::compute> const& s) const {
    auto const stride = cut.stride(grad_.col);
    auto const grad = group.load(grad_.at(r, c, stride), width, stride);
    return strip_gradient<Parts, cuda::std::remove_const_t<decltype(grad)>, none>{
        grad, {}, s.grad_gain, s.unscaling, s.weight_decay};
  }

 private:
  plane<typename Parts::grad const> grad_;
  decaying weights_;
};

}  // namespace v0_1
}  // namespace tieropt
