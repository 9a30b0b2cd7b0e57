// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// State of one tier as state of another, element by element. Layer: kernel.
///
/// Values pass through double. Sums are formed in double in the order of their index, so that
/// executors agree on every bit; conversions are rare, and their bodies simple instead of fast.
#pragma once

#include <tieropt/kernel/convert_element.hpp>
#include <tieropt/precision/master.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Momentum; 0 where there was none.
/// @tparam From parts of the one tier @tparam To parts of the other, with a momentum
template <class From, class To>
struct convert_momentum {
  tensor_entry<From> from;  ///< read
  tensor_entry<To> to;      ///< written
  uint64_t key;             ///< of the rounding bits

  /// Groups of columns. @return how many
  TIEROPT_HOST_DEVICE int64_t items() const { return column_group::count(to.shape); }
  /// Converts one. @param[in] i which
  TIEROPT_HOST_DEVICE void operator()(int64_t i) const {
    auto const g = column_group::of(to.shape, i);
    auto const there = from.momentum.place(from.batch, g.e);
    auto const here = to.momentum.place(to.batch, g.e);
    using source = typename tensor_entry<From>::momentum_state;
    using state = typename tensor_entry<To>::momentum_state;
    if constexpr (cuda::std::is_same_v<source, state>) {
      converting::copy<state>(from.momentum, there, to.momentum, here, g);
    } else {
      double x[scale_group];
      for (int k = 0; k < g.n; ++k) {
        x[k] = converting::value<source>(from.momentum, there, g.r, g.c + k);
      }
      converting::store<typename To::state_rounding, state>(
          to.momentum, here, g, x, role_key(key, draw_role::momentum), to.element(g.e, g.r, g.c));
    }
  }
};

/// Second moments by element: exact ones, row col / mean of the rows of factored ones, or 0.
/// @tparam From parts of the one tier @tparam To parts of the other, with an exact second moment
template <class From, class To>
struct convert_exact {
  tensor_entry<From> from;  ///< read
  tensor_entry<To> to;      ///< written
  uint64_t key;             ///< of the rounding bits

  /// Segments of rows. @return how many
  TIEROPT_HOST_DEVICE int64_t items() const { return column_group::count(to.shape, segment); }
  /// Converts one. @param[in] i which
  TIEROPT_HOST_DEVICE void operator()(int64_t i) const {
    auto const all = column_group::of(to.shape, i, segment);
    auto const there = from.exact.place(from.batch, all.e);
    auto const here = to.exact.place(to.batch, all.e);
    converting::second_moments<From> const v{from, all.e};
    double const share = v.share(all.r);
    for (int done = 0; done < all.n; done += scale_group) {
      column_group const g{all.e, all.r, all.c + done, clamp_count(all.n - done, scale_group)};
      using state = typename tensor_entry<To>::exact_state;
      if constexpr (cuda::std::is_same_v<typename tensor_entry<From>::exact_state, state>) {
        converting::copy<state>(from.exact, there, to.exact, here, g);
      } else {
        double x[scale_group];
        for (int k = 0; k < g.n; ++k) x[k] = v.element(share, g.r, g.c + k);
        converting::store<typename To::state_rounding, state>(
            to.exact, here, g, x, role_key(key, draw_role::exact), to.element(g.e, g.r, g.c));
      }
    }
  }
};

/// Factors of second moments: means over columns and rows of exact ones, factored ones, or 0. A
/// vector has its elements.
/// @tparam From parts of the one tier @tparam To parts of the other, factored
template <class From, class To>
struct convert_factors {
  tensor_entry<From> from;  ///< read
  tensor_entry<To> to;      ///< written
  uint64_t key;             ///< of the rounding bits

  /// Rows, then columns, of all matrices. @return how many
  TIEROPT_HOST_DEVICE int64_t items() const { return rows() + to.shape.E * to.shape.C; }
  /// Converts one. @param[in] i which
  TIEROPT_HOST_DEVICE void operator()(int64_t i) const {
    bool const row = i < rows();
    int64_t const k = row ? i : i - rows(), length = row ? to.shape.R : to.shape.C;
    int64_t const e = k / length;
    converting::second_moments<From> const v{from, e};
    double const x = row ? v.row(k - e * length) : v.col(k - e * length);
    draw_role const role = row ? draw_role::row : to.is_vector ? draw_role::exact : draw_role::col;
    uint64_t const first = to.is_vector ? to.first_element : 0;
    using state = typename To::variance::state_type;
    (row ? to.row : to.col)[k] = converting::rounded<typename To::state_rounding, state>(
        x, role_key(key, role), first + static_cast<uint64_t>(k));
  }

 private:
  TIEROPT_HOST_DEVICE int64_t rows() const { return to.is_vector ? 0 : to.shape.E * to.shape.R; }
};

/// Weights: what the one tier holds exactly, rounded once to what the other does, and its
/// parameter.
/// @tparam From parts of the one tier @tparam To parts of the other
template <class From, class To>
struct convert_weights {
  tensor_entry<From> from;  ///< read
  tensor_entry<To> to;      ///< written
  uint64_t key;             ///< of the rounding bits

  /// Groups of columns. @return how many
  TIEROPT_HOST_DEVICE int64_t items() const { return column_group::count(to.shape); }
  /// Converts one, read before any of it is written. @param[in] i which
  TIEROPT_HOST_DEVICE void operator()(int64_t i) const {
    auto const g = column_group::of(to.shape, i);
    matrix_place const there = from.find(g.e), here = to.find(g.e);
    double x[scale_group];
    for (int k = 0; k < g.n; ++k) x[k] = read(there, g.r, g.c + k);
    uint32_t carries = 0;
    for (int k = 0; k < g.n; ++k) {
      carries |= write(here, g, k, x[k]) << k % carry_group;
      if (k % carry_group == carry_group - 1 || k == g.n - 1) {
        if constexpr (To::master::carries) {
          *converting::at(to.carry, here.carry, g.r, (g.c + k) / carry_group) =
              static_cast<uint8_t>(carries);
        }
        carries = 0;
      }
    }
  }

 private:
  TIEROPT_HOST_DEVICE double read(matrix_place const& place, int64_t r, int64_t c) const {
    using master = typename From::master;
    auto const* const p = converting::at(from.param, place.param, r, c);
    if constexpr (!keeps_master<master>) {
      return storage<typename From::param>::template decode<double>(*p);
    } else {
      auto const weight = *converting::at(from.weight, place.weight, r, c);
      if constexpr (!master::splits) {
        return storage<typename master::element>::template decode<double>(weight);
      } else {
        uint16_t high = 0;  // nvcc 13.0 fails on a bit_cast of *p
        __builtin_memcpy(&high, p, sizeof high);
        if constexpr (!master::carries) {
          return widen(join_away(high, weight));
        } else {
          uint32_t const bits = *converting::at(from.carry, place.carry, r, c / carry_group);
          return widen(join_even(high, weight, bits >> (c % carry_group) & 1u));
        }
      }
    }
  }
  TIEROPT_HOST_DEVICE uint32_t write(matrix_place const& place, column_group const& g, int k,
                                     double x) const {
    using master = typename To::master;
    using param = typename To::param;
    auto* const p = converting::at(to.param, place.param, g.r, g.c + k);
    if constexpr (!keeps_master<master>) {
      *p = converting::rounded<typename To::rounding, param>(x, key, to.element(g.e, g.r, g.c + k));
      return 0;
    } else {
      auto* const weight = converting::at(to.weight, place.weight, g.r, g.c + k);
      if constexpr (!master::splits) {
        using codec = storage<typename master::element>;
        *weight = codec::nearest(x);
        *p = storage<param>::nearest(codec::template decode<double>(*weight));
        return 0;
      } else {
        auto const halves = [&] {
          if constexpr (master::carries) {
            return split_even(narrow(x));
          } else {
            return split_away(narrow(x));
          }
        }();
        __builtin_memcpy(p, &halves.high, sizeof *p);
        *weight = halves.low;
        if constexpr (master::carries) return halves.carry;
        return 0;
      }
    }
  }
};

/// Steps, of each matrix or the largest of the tensor; and missed steps, 0 where nobody counted.
/// @tparam From parts of the one tier @tparam To parts of the other
template <class From, class To>
struct convert_counts {
  tensor_entry<From> from;  ///< read
  tensor_entry<To> to;      ///< written

  /// Matrices. @return how many
  TIEROPT_HOST_DEVICE int64_t items() const { return to.shape.E; }
  /// Converts one. @param[in] e which
  TIEROPT_HOST_DEVICE void operator()(int64_t e) const {
    bool const one = From::step_scope == scope::tensor;
    if (To::step_scope == scope::matrix) {
      to.step[e] = from.step[one ? 0 : e];
    } else if (e == 0) {
      int64_t largest = from.step[0];
      for (int64_t k = 1; !one && k < from.shape.E; ++k) {
        largest = from.step[k] > largest ? from.step[k] : largest;
      }
      to.step[0] = largest;
    }
    if (to.missed != nullptr) to.missed[e] = from.missed == nullptr ? 0 : from.missed[e];
  }
};

}  // namespace v0_1
}  // namespace tieropt
