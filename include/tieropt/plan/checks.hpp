// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shapes, strides and overlaps of bound tensors, checked before anything runs. Layer: plan.
#pragma once

#include <tieropt/plan/canonical.hpp>

namespace tieropt {
inline namespace v0_1 {

/// A buffer of a tensor, for the overlap check.
struct footprint {
  char const* begin = nullptr;  ///< first byte
  int64_t element = 0;          ///< bytes of an element; 0: there is no buffer
  canonical_form form;          ///< elements and strides
  bool written = false;         ///< by a step

  /// Bytes from the first to one past the last. @return 0 where there is nothing
  TIEROPT_HOST constexpr int64_t bytes() const {
    if (element == 0 || form.shape.size() == 0) return 0;
    sorted_dimensions const d{form};
    int64_t reach = 1;
    for (int i = 0; i < d.n; ++i) reach += (d.extent[i] - 1) * d.stride[i];
    return reach * element;
  }
};

/// Whether two views of one shape and strides interleave without sharing an element: slices of one
/// wider buffer, for instance.
/// @param[in] a a buffer @param[in] b another @return true if they are provably apart
TIEROPT_HOST bool interleaved(footprint const& a, footprint const& b) {
  sorted_dimensions const d{a.form}, other{b.form};
  int64_t const distance = b.begin - a.begin;
  bool alike = a.element == b.element && d.n == other.n && distance % a.element == 0;
  for (int i = 0; alike && i < d.n; ++i) {
    alike = d.extent[i] == other.extent[i] && d.stride[i] == other.stride[i];
  }
  if (!alike) return false;
  // Whether some steps inside the shape add up to the distance: a shared element. Strides are
  // nested, so that only the two or three steps around the quotient can.
  auto const meet = [&](auto const& self, int i, int64_t left) -> bool {
    if (i < 0) return left == 0;
    int64_t const near = left / d.stride[i], last = d.extent[i] - 1;
    for (int64_t k = near - 1; k <= near + 1; ++k) {
      if (k >= -last && k <= last && self(self, i - 1, left - k * d.stride[i])) return true;
    }
    return false;
  };
  return !overlaps_itself(a.form) && !meet(meet, d.n - 1, distance / a.element);
}

/// Whether two buffers of a tensor share memory that a step writes.
/// @param[in] a a buffer @param[in] b another @return true if they do, or may
TIEROPT_HOST bool collide(footprint const& a, footprint const& b) {
  if (!(a.written || b.written) || a.bytes() == 0 || b.bytes() == 0) return false;
  if (a.begin + a.bytes() <= b.begin || b.begin + b.bytes() <= a.begin) return false;
  return !interleaved(a, b);
}

/// Whether a view is dense and row-major. @tparam T element type @param[in] v a view
/// @return true if so
template <class T>
TIEROPT_HOST constexpr bool is_dense(tensor_view<T> const& v) {
  int64_t want = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    if (v.extent[i] > 1 && v.stride[i] != want) return false;
    want *= v.extent[i];
  }
  return true;
}

/// What a bound tensor looks like to the kernels.
struct tensor_form {
  canonical_form param;            ///< of the parameter
  canonical_form grad;             ///< of the gradient
  canonical_form momentum;         ///< where the tier has one
  canonical_form momentum_scales;  ///< of a block-quantised one
  canonical_form exact;            ///< of an exact second moment
  canonical_form exact_scales;     ///< of a block-quantised one
  canonical_form weight;           ///< of a master
  canonical_form carry;            ///< of a carry_master
  batch_shape batch{};             ///< how the matrices of all of them lie
  bool is_vector = false;          ///< below rank 2
  char const* view = "";           ///< what is wrong, if anything is

  /// Calls f for all of them. @tparam F callable @param[in] f called with each form
  template <class F>
  TIEROPT_HOST constexpr void for_each(F const& f) {
    for (auto* form :
         {&param, &grad, &momentum, &momentum_scales, &exact, &exact_scales, &weight, &carry}) {
      f(*form);
    }
  }
  /// Splits the matrices of all of them alike: wherever one of them has to be split.
  /// @return whether that is possible
  TIEROPT_HOST constexpr bool split_alike() {
    int64_t cuts[9 * max_batch]{};  // numbers of matrices that end where some view ends, sorted
    int n = 0;
    for_each([&](canonical_form const& form) {
      int64_t matrices = 1;
      for (int i = form.batch.n - 1; form.shape.size() > 0 && i >= 0; --i) {
        matrices *= form.batch.extent[i];
        int at = 0;
        while (at < n && cuts[at] < matrices) ++at;
        if (at < n && cuts[at] == matrices) continue;
        for (int k = n++; k > at; --k) cuts[k] = cuts[k - 1];
        cuts[at] = matrices;
      }
    });
    if (n > max_batch) return false;
    batch.n = n;
    for (int i = 0; i < n; ++i) {
      int64_t const before = i == 0 ? 1 : cuts[i - 1];
      if (cuts[i] % before != 0) return false;
      batch.extent[n - 1 - i] = cuts[i] / before;
    }
    bool possible = true;
    for_each([&](canonical_form& form) {
      if (form.shape.size() > 0) possible = split_like(form, batch) && possible;
    });
    return possible;
  }
};

namespace checks {

/// Collects the buffers of one tensor and the first thing that is wrong with them.
class collector {
 public:
  errc code = errc::ok;   ///< the first thing that is wrong
  char const* view = "";  ///< and where

  /// @tparam T element type @param[in] param view of the parameter @param[in] shape its shape
  /// @param[in] dims of the tensor
  template <class T>
  TIEROPT_HOST collector(tensor_view<T> const& param, geometry const& shape, matrix_dims dims)
      : shape_{shape}, rank_{param.rank}, dims_{dims} {
    // Counted from the end they are those of a view of any rank; else they are the parameter's.
    relative_ = !dims.largest && dims.row < 0 && dims.col < 0;
    if (!relative_) dims_ = dims_of(param, dims);
  }

  /// An operand of the parameter's shape, or with groups of columns in the place of columns.
  /// @tparam T element type @param[in] name of the view @param[in] v view
  /// @param[in] written by a step @param[in] may_be_null an absent gradient
  /// @param[in] group columns that share an element @return its form
  template <class T>
  TIEROPT_HOST canonical_form matrix(char const* name, tensor_view<T> const& v, bool written,
                                     bool may_be_null = false, int group = 1) {
    name_ = name;
    canonical_form f;
    f.code = errc::shape;
    if (relative_) {
      f = canonical(v, dims_);
    } else if (v.rank == rank_) {
      f = canonical_with(v, dims_);
    }
    fail(f.code);
    require(f.shape.E == shape_.E && f.shape.R == shape_.R &&
                f.shape.C == ceil_div(shape_.C, int64_t{group}),
            errc::shape);
    if (code == errc::ok && written) require(!overlaps_itself(f), errc::overlapping_strides);
    add(v.data, f, written, may_be_null);
    return f;
  }

  /// A state, with its scales if it has any.
  /// @tparam State how it is stored @param[in] names of its view, of its codes and of its scales
  /// @param[in] v its views @param[out] elements their form @param[out] scales form of the scales
  template <class State>
  TIEROPT_HOST void state(char const* const (&names)[3], state_views<State> const& v,
                          canonical_form& elements, canonical_form& scales) {
    if constexpr (quantised_state<State>) {
      elements = matrix(names[1], v.codes, true);
      scales = matrix(names[2], v.scales, true, false, scale_group);
    } else {
      elements = matrix(names[0], v, true);
    }
  }

  /// A dense buffer: (..., inner) or (..., inner, 1), where the leading dimensions multiply to
  /// outer.
  /// @tparam T element type @param[in] name of the view @param[in] v view
  /// @param[in] outer product of leading dimensions @param[in] inner last dimension
  /// @param[in] written by a step
  template <class T>
  TIEROPT_HOST void dense(char const* name, tensor_view<T> const& v, int64_t outer, int64_t inner,
                          bool written) {
    name_ = name;
    if (errc const wrong = canonical(v).code; wrong != errc::ok) return fail(wrong);
    require(v.size() == outer * inner, errc::shape);
    if (v.rank >= 1 && v.size() > 0 && outer > 1 && inner > 1) {
      int last = v.rank - 1;
      while (last > 0 && v.extent[last] == 1) --last;
      require(v.extent[last] == inner, errc::shape);
    }
    require(v.size() == 0 || is_dense(v), errc::layout);
    canonical_form f;
    f.shape = {1, 1, v.size()};
    f.col = 1;
    add(v.data, f, written, false);
  }

  /// Anything else. @param[in] ok what must hold @param[in] otherwise its code
  TIEROPT_HOST void require(bool ok, errc otherwise) {
    if (!ok) fail(otherwise);
  }

  /// Every pair of buffers, once all are known.
  TIEROPT_HOST void disjoint() {
    name_ = "";
    for (int i = 0; i < n_; ++i) {
      for (int j = i + 1; j < n_; ++j) require(!collide(buffers_[i], buffers_[j]), errc::aliasing);
    }
  }

 private:
  TIEROPT_HOST void fail(errc c) {
    if (code != errc::ok || c == errc::ok) return;
    code = c;
    view = name_;
  }
  template <class T>
  TIEROPT_HOST void add(T* data, canonical_form const& f, bool written, bool may_be_null) {
    if (f.code != errc::ok || f.shape.size() == 0) return;
    if (data == nullptr) return require(may_be_null, errc::null_buffer);
    require(reinterpret_cast<uintptr_t>(data) % alignof(T) == 0, errc::misaligned_buffer);
    buffers_[n_++] = {reinterpret_cast<char const*>(data), sizeof(T), f, written};
  }
  char const* name_ = "";
  geometry shape_;
  int rank_;
  matrix_dims dims_;
  bool relative_;
  footprint buffers_[12];
  int n_ = 0;
};

}  // namespace checks

/// Checks one bound tensor. @tparam Bound a bound_tensor @param[in] b the tensor
/// @param[out] form its operands @return the first thing that is wrong
template <class Bound>
TIEROPT_HOST errc check_tensor(Bound const& b, tensor_form& form) {
  using parts = typename Bound::parts;
  using need = needs<parts>;
  using master = typename parts::master;
  constexpr bool factored = need::factored;
  form.param = canonical(b.param, b.dims);
  form.view = "param";
  if (form.param.code != errc::ok) return form.param.code;
  geometry const shape = form.param.shape;
  checks::collector c{b.param, shape, b.dims};
  form.is_vector = b.param.rank < 2;
  constexpr bool refuses =
      need::orthogonal ||
      (factored && cuda::std::is_same_v<typename parts::vector_variance, refuse>);
  if (refuses && form.is_vector && shape.size() > 0) return errc::rank;
  c.matrix("param", b.param, true);
  form.grad = form.param;  // an absent gradient that comes later is taken to be laid out alike
  if (b.grad) form.grad = c.matrix("grad", b.grad, false, true);
  if constexpr (need::momentum) {
    c.template state<typename Bound::momentum_type>(
        {"momentum", "momentum.codes", "momentum.scales"}, b.momentum, form.momentum,
        form.momentum_scales);
  }
  if constexpr (factored) {
    if (form.is_vector) {
      c.dense("variance.exact", b.variance.exact, 1, shape.C, true);
    } else {
      c.dense("variance.row", b.variance.row, shape.E, shape.R, true);
      c.dense("variance.col", b.variance.col, shape.E, shape.C, true);
    }
  } else if constexpr (need::exact) {
    c.template state<typename Bound::variance_type>(
        {"variance.exact", "variance.exact.codes", "variance.exact.scales"}, b.variance.exact,
        form.exact, form.exact_scales);
  }
  if constexpr (master::splits) {
    form.weight = c.matrix("master.remainder", b.master.remainder, true);
  } else if constexpr (keeps_master<master>) {
    form.weight = c.matrix("master.weights", b.master.weights, true);
  }
  if constexpr (master::carries)
    form.carry = c.matrix("master.carry", b.master.carry, true, false, carry_group);
  bool const tensor_step = parts::step_scope == scope::tensor;
  c.dense("step", b.step, 1, tensor_step ? 1 : shape.E, true);
  if (b.active) {
    c.dense("active", b.active, 1, shape.E, false);
    c.require(!tensor_step && !need::spans_tensor, errc::active_scope);
  }
  if (b.missed) {
    c.dense("missed", b.missed, 1, shape.E, true);
    c.require(need::can_catch_up && b.active, errc::catch_up);
  }
  c.disjoint();
  c.require(b.group >= 0, errc::hyper_group);
  c.require(form.split_alike(), errc::layout);
  form.view = c.view;
  return c.code;
}

}  // namespace v0_1
}  // namespace tieropt
