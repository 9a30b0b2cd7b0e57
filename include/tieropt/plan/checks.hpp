// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shapes, strides and overlaps of bound tensors, checked before anything runs. Layer: plan.
#pragma once

#include <tieropt/plan/bound_tensor.hpp>
#include <tieropt/status.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The (E, R, C) form of a view.
struct canonical_form {
  errc code = errc::ok;     ///< why there is none
  geometry shape{0, 0, 0};  ///< E, R, C
  int64_t matrix = 0;       ///< elements between matrices
  int64_t row = 0;          ///< elements between rows
  int64_t col = 0;          ///< elements between columns
};

/// Brings a view to (E, R, C) with three strides.
/// @tparam T element type @param[in] v the view @return its form; rank, layout or too_large
template <class T>
TIEROPT_HOST constexpr canonical_form canonical(tensor_view<T> const& v) {
  canonical_form f;
  if (v.rank < 0) return {errc::shape, {}, 0, 0, 0};
  if (v.rank > max_rank) return {errc::rank, {}, 0, 0, 0};
  int64_t n = 1, reach = 0;
  bool empty = false;
  for (int i = 0; i < v.rank; ++i) empty = empty || v.extent[i] == 0;
  for (int i = 0; i < v.rank; ++i) {
    if (v.extent[i] < 0) return {errc::shape, {}, 0, 0, 0};
    if (v.extent[i] > 1 && v.stride[i] < 0) return {errc::layout, {}, 0, 0, 0};
    if (empty) continue;  // the other extents may be anything
    if (__builtin_mul_overflow(n, v.extent[i], &n)) return {errc::too_large, {}, 0, 0, 0};
    int64_t far = 0;
    if (v.extent[i] > 1 &&
        (__builtin_mul_overflow(v.extent[i] - 1, v.stride[i], &far) ||
         __builtin_add_overflow(reach, far, &reach) || reach > (int64_t{1} << 58))) {
      return {errc::too_large, {}, 0, 0, 0};
    }
  }
  auto const extent = [&](int from_last) {
    return v.rank > from_last ? v.extent[v.rank - 1 - from_last] : int64_t{1};
  };
  auto const stride = [&](int from_last) {
    return extent(from_last) > 1 ? v.stride[v.rank - 1 - from_last] : int64_t{0};
  };
  f.shape = {1, extent(1), extent(0)};
  f.row = stride(1);
  // A single column has no stride of its own; 1 keeps it on the fast paths.
  f.col = extent(0) > 1 ? stride(0) : int64_t{1};
  for (int i = 2; i < v.rank; ++i) {
    if (extent(i) == 1) continue;
    if (f.shape.E > 1 && !empty && stride(i) != f.matrix * f.shape.E) {
      return {errc::layout, {}, 0, 0, 0};
    }
    if (f.shape.E <= 1) f.matrix = stride(i);
    if (__builtin_mul_overflow(f.shape.E, extent(i), &f.shape.E)) {
      return {errc::too_large, {}, 0, 0, 0};
    }
  }
  int64_t rows = 0, cols = 0;  // of an empty tensor, too
  if (__builtin_mul_overflow(f.shape.E, f.shape.R, &rows) ||
      __builtin_mul_overflow(f.shape.E, f.shape.C, &cols) || rows > (int64_t{1} << 58) ||
      cols > (int64_t{1} << 58)) {
    return {errc::too_large, {}, 0, 0, 0};
  }
  return f;
}

/// The dimensions of more than one element, smallest stride first.
struct sorted_dimensions {
  int n = 0;          ///< how many
  int64_t extent[3];  ///< elements
  int64_t stride[3];  ///< between them

  /// Sorts the dimensions of a form. @param[in] f the form
  TIEROPT_HOST constexpr explicit sorted_dimensions(canonical_form const& f)
      : extent{0, 0, 0}, stride{0, 0, 0} {
    insert(f.shape.C, f.col);
    insert(f.shape.R, f.row);
    insert(f.shape.E, f.matrix);
  }

 private:
  TIEROPT_HOST constexpr void insert(int64_t elements, int64_t between) {
    if (elements == 1) return;
    int at = n++;
    for (; at > 0 && stride[at - 1] > between; --at) {
      extent[at] = extent[at - 1];
      stride[at] = stride[at - 1];
    }
    extent[at] = elements;
    stride[at] = between;
  }
};

/// Whether two elements of a view share memory. @param[in] f its form @return true if they may
TIEROPT_HOST constexpr bool overlaps_itself(canonical_form const& f) {
  if (f.shape.size() == 0) return false;
  sorted_dimensions const d{f};
  int64_t reach = 0;
  for (int i = 0; i < d.n; ++i) {
    if (d.stride[i] <= reach) return true;
    reach += (d.extent[i] - 1) * d.stride[i];
  }
  return false;
}

/// A buffer of a tensor, for the overlap check.
struct footprint {
  char const* begin = nullptr;  ///< first byte
  int64_t element = 0;          ///< bytes of an element; 0: there is no buffer
  canonical_form form;          ///< elements and strides
  bool written = false;         ///< by a step

  /// Bytes from the first to one past the last. @return 0 where there is nothing
  TIEROPT_HOST constexpr int64_t bytes() const {
    if (element == 0 || form.shape.size() == 0) return 0;
    return ((form.shape.E - 1) * form.matrix + (form.shape.R - 1) * form.row +
            (form.shape.C - 1) * form.col + 1) *
           element;
  }
};

/// Whether two views of one shape and strides interleave without sharing an element: slices of one
/// wider buffer, for instance.
/// @param[in] a a buffer @param[in] b another @return true if they are provably apart
TIEROPT_HOST bool interleaved(footprint const& a, footprint const& b) {
  auto const& f = a.form;
  auto const& g = b.form;
  int64_t const distance = b.begin - a.begin;
  if (a.element != b.element || f.matrix != g.matrix || f.row != g.row || f.col != g.col ||
      f.shape.E != g.shape.E || f.shape.R != g.shape.R || f.shape.C != g.shape.C ||
      distance % a.element != 0) {
    return false;
  }
  // Whether some steps inside the shape add up to the distance: a shared element. Strides are
  // nested, so that only the two or three steps around the quotient can.
  sorted_dimensions const d{f};
  auto const meet = [&](auto const& self, int i, int64_t left) -> bool {
    if (i < 0) return left == 0;
    int64_t const near = left / d.stride[i], last = d.extent[i] - 1;
    for (int64_t k = near - 1; k <= near + 1; ++k) {
      if (k >= -last && k <= last && self(self, i - 1, left - k * d.stride[i])) return true;
    }
    return false;
  };
  return !overlaps_itself(f) && !meet(meet, d.n - 1, distance / a.element);
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
  canonical_form param;     ///< of the parameter
  canonical_form grad;      ///< of the gradient
  canonical_form momentum;  ///< where the tier has one
  canonical_form exact;     ///< of an exact second moment
  bool is_vector = false;   ///< below rank 2
};

namespace checks {

/// Collects the buffers of one tensor and the first thing that is wrong with them.
class collector {
 public:
  errc code = errc::ok;  ///< the first thing that is wrong

  /// An operand of the parameter's shape.
  /// @tparam T element type @param[in] v view @param[in] shape the parameter's
  /// @param[in] written by a step @param[in] may_be_null an absent gradient @return its form
  template <class T>
  TIEROPT_HOST canonical_form matrix(tensor_view<T> const& v, geometry const& shape, bool written,
                                     bool may_be_null = false) {
    canonical_form const f = canonical(v);
    fail(f.code);
    require(f.shape.E == shape.E && f.shape.R == shape.R && f.shape.C == shape.C, errc::shape);
    if (code == errc::ok && written) require(!overlaps_itself(f), errc::overlapping_strides);
    add(v.data, f, written, may_be_null);
    return f;
  }

  /// A dense buffer: (..., inner) or (..., inner, 1), where the leading dimensions multiply to
  /// outer.
  /// @tparam T element type @param[in] v view @param[in] outer product of leading dimensions
  /// @param[in] inner last dimension @param[in] written by a step
  template <class T>
  TIEROPT_HOST void dense(tensor_view<T> const& v, int64_t outer, int64_t inner, bool written) {
    fail(canonical(v).code);
    require(v.size() == outer * inner, errc::shape);
    if (v.rank >= 1 && v.size() > 0 && outer > 1 && inner > 1) {
      int last = v.rank - 1;
      while (last > 0 && v.extent[last] == 1) --last;
      require(v.extent[last] == inner, errc::shape);
    }
    require(is_dense(v), errc::layout);
    add(v.data, {errc::ok, {1, 1, v.size()}, 0, 0, 1}, written, false);
  }

  /// Anything else. @param[in] ok what must hold @param[in] otherwise its code
  TIEROPT_HOST void require(bool ok, errc otherwise) {
    if (!ok) fail(otherwise);
  }

  /// Every pair of buffers, once all are known.
  TIEROPT_HOST void disjoint() {
    for (int i = 0; i < n_; ++i) {
      for (int j = i + 1; j < n_; ++j) require(!collide(buffers_[i], buffers_[j]), errc::aliasing);
    }
  }

 private:
  TIEROPT_HOST void fail(errc c) {
    if (code == errc::ok) code = c;
  }
  template <class T>
  TIEROPT_HOST void add(T* data, canonical_form const& f, bool written, bool may_be_null) {
    if (f.code != errc::ok || f.shape.size() == 0) return;
    if (data == nullptr) return require(may_be_null, errc::null_buffer);
    require(reinterpret_cast<uintptr_t>(data) % alignof(T) == 0, errc::misaligned_buffer);
    buffers_[n_++] = {reinterpret_cast<char const*>(data), sizeof(T), f, written};
  }
  footprint buffers_[8];
  int n_ = 0;
};

}  // namespace checks

/// Checks one bound tensor. @tparam Bound a bound_tensor @param[in] b the tensor
/// @param[out] form its operands @return the first thing that is wrong
template <class Bound>
TIEROPT_HOST errc check_tensor(Bound const& b, tensor_form& form) {
  using parts = typename Bound::parts;
  using need = needs<parts>;
  constexpr bool factored = need::factored;
  checks::collector c;
  form.param = canonical(b.param);
  if (form.param.code != errc::ok) return form.param.code;
  geometry const shape = form.param.shape;
  form.is_vector = b.param.rank < 2;
  constexpr bool refuses =
      need::orthogonal ||
      (factored && cuda::std::is_same_v<typename parts::vector_variance, refuse>);
  if (refuses && form.is_vector && shape.size() > 0) return errc::rank;
  c.matrix(b.param, shape, true);
  form.grad = form.param;  // an absent gradient that comes later is taken to be laid out alike
  if (b.grad) form.grad = c.matrix(b.grad, shape, false, true);
  if constexpr (need::momentum) form.momentum = c.matrix(b.momentum, shape, true);
  if constexpr (factored) {
    if (form.is_vector) {
      c.dense(b.variance.exact, 1, shape.C, true);
    } else {
      c.dense(b.variance.row, shape.E, shape.R, true);
      c.dense(b.variance.col, shape.E, shape.C, true);
    }
  } else if constexpr (need::exact) {
    form.exact = c.matrix(b.variance.exact, shape, true);
  }
  bool const tensor_step = parts::step_scope == scope::tensor;
  c.dense(b.step, 1, tensor_step ? 1 : shape.E, true);
  if (b.active) {
    c.require(!tensor_step && !need::spans_tensor, errc::active_scope);
    c.dense(b.active, 1, shape.E, false);
  }
  c.require(b.group >= 0, errc::hyper_group);
  c.disjoint();
  return c.code;
}

}  // namespace v0_1
}  // namespace tieropt
