// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Views of any rank and strides as E matrices of R rows and C columns. Layer: plan.
#pragma once

#include <tieropt/plan/bound_tensor.hpp>
#include <tieropt/status.hpp>

namespace tieropt {
inline namespace v0_1 {

/// The (E, R, C) form of a view.
struct canonical_form {
  errc code = errc::ok;          ///< why there is none
  geometry shape{0, 0, 0};       ///< E, R, C
  int64_t row = 0;               ///< elements between rows
  int64_t col = 0;               ///< elements between columns
  batch_shape batch{};           ///< how the matrices lie: as few dimensions as it takes
  int64_t between[max_batch]{};  ///< elements between matrices, by dimension of the batch
};

/// The two dimensions of a view that are rows and columns.
/// @tparam T element type @param[in] v the view @param[in] dims what was asked for
/// @return from 0; a vector has no row, -1; negative columns: there are no such dimensions
template <class T>
TIEROPT_HOST constexpr matrix_dims dims_of(tensor_view<T> const& v, matrix_dims dims) {
  if (v.rank < 2) return {-1, v.rank - 1};
  if (dims.largest) {
    int first = 0, second = 1;  // indices of the two longest, in any order
    for (int i = 1; i < v.rank; ++i) {
      if (v.extent[i] >= v.extent[first]) {
        second = first;
        first = i;
      } else if (i > 1 && v.extent[i] >= v.extent[second]) {
        second = i;
      }
    }
    return first < second ? matrix_dims{first, second} : matrix_dims{second, first};
  }
  matrix_dims const at{dims.row < 0 ? dims.row + v.rank : dims.row,
                       dims.col < 0 ? dims.col + v.rank : dims.col};
  return at.row >= 0 && at.row < at.col && at.col < v.rank ? at : matrix_dims{-1, -1};
}

/// Brings a view to (E, R, C): strides of rows and columns, and of the other dimensions merged
/// where one continues the other.
/// @tparam T element type @param[in] v the view @param[in] dims which dimensions are R and C, as
/// dims_of gives them @return its form; shape, rank, layout, matrix_dims or too_large
template <class T>
TIEROPT_HOST constexpr canonical_form canonical_with(tensor_view<T> const& v, matrix_dims dims) {
  auto const refuse = [](errc code) {
    canonical_form f;
    f.code = code;
    return f;
  };
  if (v.rank < 0) return refuse(errc::shape);
  if (v.rank > max_rank) return refuse(errc::rank);
  if (v.rank > 0 && dims.col < 0) return refuse(errc::matrix_dims);
  int64_t n = 1, reach = 0;
  bool empty = false;
  for (int i = 0; i < v.rank; ++i) empty = empty || v.extent[i] == 0;
  for (int i = 0; i < v.rank; ++i) {
    if (v.extent[i] < 0) return refuse(errc::shape);
    if (v.extent[i] > 1 && v.stride[i] < 0) return refuse(errc::layout);
    if (empty) continue;  // the other extents may be anything
    if (__builtin_mul_overflow(n, v.extent[i], &n)) return refuse(errc::too_large);
    int64_t far = 0;
    if (v.extent[i] > 1 &&
        (__builtin_mul_overflow(v.extent[i] - 1, v.stride[i], &far) ||
         __builtin_add_overflow(reach, far, &reach) || reach > (int64_t{1} << 58))) {
      return refuse(errc::too_large);
    }
  }
  canonical_form f;
  auto const extent = [&](int i) { return i < 0 ? int64_t{1} : v.extent[i]; };
  f.shape = {1, extent(dims.row), extent(dims.col)};
  f.row = f.shape.R > 1 ? v.stride[dims.row] : int64_t{0};
  // A single column has no stride of its own; 1 keeps it on the fast paths.
  f.col = f.shape.C > 1 ? v.stride[dims.col] : int64_t{1};
  for (int i = 0; i < v.rank; ++i) {
    if (i == dims.row || i == dims.col || v.extent[i] == 1) continue;
    if (__builtin_mul_overflow(f.shape.E, v.extent[i], &f.shape.E)) return refuse(errc::too_large);
    int const last = f.batch.n - 1;
    if (last >= 0 && (empty || f.between[last] == v.stride[i] * v.extent[i])) {
      f.batch.extent[last] *= empty ? 1 : v.extent[i];
      f.between[last] = v.stride[i];
    } else {
      f.batch.extent[f.batch.n] = v.extent[i];
      f.between[f.batch.n++] = v.stride[i];
    }
  }
  int64_t rows = 0, cols = 0;  // of an empty tensor, too
  if (__builtin_mul_overflow(f.shape.E, f.shape.R, &rows) ||
      __builtin_mul_overflow(f.shape.E, f.shape.C, &cols) || rows > (int64_t{1} << 58) ||
      cols > (int64_t{1} << 58)) {
    return refuse(errc::too_large);
  }
  return f;
}

/// Brings a view to (E, R, C). @tparam T element type @param[in] v the view
/// @param[in] dims which dimensions are R and C @return its form
template <class T>
TIEROPT_HOST constexpr canonical_form canonical(tensor_view<T> const& v, matrix_dims dims = {}) {
  return canonical_with(v, v.rank < 0 || v.rank > max_rank ? matrix_dims{} : dims_of(v, dims));
}

/// Splits the matrices of a view as those of another are split.
/// @param[in,out] f its form @param[in] batch the other's @return whether that is possible
TIEROPT_HOST constexpr bool split_like(canonical_form& f, batch_shape const& batch) {
  int64_t between[max_batch]{};
  int j = batch.n - 1;
  for (int i = f.batch.n - 1; i >= 0; --i) {
    int64_t covered = 1;
    while (covered < f.batch.extent[i]) {
      if (j < 0) return false;
      between[j] = f.between[i] * covered;
      covered *= batch.extent[j--];
    }
    if (covered != f.batch.extent[i]) return false;
  }
  f.batch = batch;
  for (int i = 0; i < batch.n; ++i) f.between[i] = between[i];
  return j < 0;
}

/// The dimensions of more than one element, smallest stride first.
struct sorted_dimensions {
  int n = 0;                     ///< how many
  int64_t extent[max_rank + 1];  ///< elements
  int64_t stride[max_rank + 1];  ///< between them

  /// Sorts the dimensions of a form. @param[in] f the form
  TIEROPT_HOST constexpr explicit sorted_dimensions(canonical_form const& f) : extent{}, stride{} {
    insert(f.shape.C, f.col);
    insert(f.shape.R, f.row);
    for (int i = 0; i < f.batch.n; ++i) insert(f.batch.extent[i], f.between[i]);
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

}  // namespace v0_1
}  // namespace tieropt
