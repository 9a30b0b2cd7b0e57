// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The matrices of an orthogonal tier in batches of equal shape, and their products. Layer: plan.
#pragma once

#include <tieropt/executor/gemm.hpp>
#include <tieropt/plan/schedule.hpp>

namespace tieropt {
inline namespace v0_1 {

/// Consecutive matrices of one shape that are multiplied together.
struct matrix_batch {
  group_window window;       ///< their blocks
  int64_t first_matrix = 0;  ///< of the range
  int64_t count = 0;         ///< matrices
  int64_t R = 0;             ///< rows of each
  int64_t C = 0;             ///< columns of each

  /// The shorter side. @return min(R, C)
  TIEROPT_HOST constexpr int64_t side() const { return R < C ? R : C; }
};

/// Scratch of a batch: X and its successor (count, R, C), A and B (count, side, side).
/// @tparam Element of the products
template <class Element>
struct batch_scratch {
  Element* x;     ///< staged updates; iterations swap it with next
  Element* next;  ///< X of the next iteration
  Element* a;     ///< X X^T, or X^T X
  Element* b;     ///< its polynomial
  size_t bytes;   ///< of all of them, each padded to 256

  /// Lays it out. @param[in] at where it starts, or null @param[in] batch whose it is
  TIEROPT_HOST batch_scratch(byte* at, matrix_batch const& batch) : bytes{0} {
    auto const take = [&](int64_t elements) {
      auto* const begin = reinterpret_cast<Element*>(reinterpret_cast<uintptr_t>(at) + bytes);
      bytes += (static_cast<size_t>(batch.count * elements) * sizeof(Element) + 255) / 256 * 256;
      return begin;
    };
    x = take(batch.R * batch.C);
    next = take(batch.R * batch.C);
    a = take(batch.side() * batch.side());
    b = take(batch.side() * batch.side());
  }
};

/// How many matrices of a shape fit a limit. @tparam Element of the products
/// @param[in] limit in bytes @param[in] R rows @param[in] C columns @return matrices
template <class Element>
TIEROPT_HOST int64_t matrices_within(int64_t limit, int64_t R, int64_t C) {
  matrix_batch batch;
  batch.R = R;
  batch.C = C;
  int64_t const elements = 2 * (R * C + batch.side() * batch.side());
  batch.count = limit > 0 ? limit / (elements * static_cast<int64_t>(sizeof(Element))) : 0;
  while (batch.count > 0 &&
         static_cast<int64_t>(batch_scratch<Element>{nullptr, batch}.bytes) > limit) {
    --batch.count;  // paddings
  }
  return batch.count;
}

/// Whether the products of one matrix fit a limit. @tparam Parts see kernel/tensor.hpp
/// @param[in] shape of its tensor @param[in] limit in bytes @return true if so, or if it is empty
template <class Parts>
TIEROPT_HOST bool fits_limit(geometry const& shape, int64_t limit) {
  constexpr int64_t most = int64_t{1} << 50;  // parameters of a plan: larger ones are refused later
  return shape.size() == 0 || shape.size() > most ||
         matrices_within<stage_element<Parts>>(limit, shape.R, shape.C) > 0;
}

/// Calls f(batch) for every batch of a range: as many consecutive matrices of one shape as fit the
/// limit, at least one.
/// @tparam Bound a bound_tensor of an orthogonal tier @tparam F callable that returns a status
/// @param[in] tensors of the range @param[in] limit of a batch's scratch, in bytes
/// @param[in] f called once per batch @return the first status that is not ok
template <class Bound, class F>
TIEROPT_HOST status for_each_batch(cuda::std::span<Bound const> tensors, int64_t limit,
                                   F const& f) {
  using element = stage_element<typename Bound::parts>;
  matrix_batch batch;
  auto const close = [&]() -> status {
    if (batch.count == 0) return {};
    status const s = f(batch);
    batch.window = batch.window.next();
    batch.first_matrix += batch.count;
    batch.count = 0;
    return s;
  };
  for (Bound const& tensor : tensors) {
    geometry const shape = canonical(tensor.param, tensor.dims).shape;
    if (shape.size() == 0) continue;
    if (shape.R != batch.R || shape.C != batch.C) {
      if (status const s = close(); !s) return s;
      batch.R = shape.R;
      batch.C = shape.C;
    }
    int64_t const fitting = matrices_within<element>(limit, shape.R, shape.C);
    int64_t const most = fitting > 1 ? fitting : 1;
    for (int64_t left = shape.E; left > 0;) {
      if (batch.count == most) {
        if (status const s = close(); !s) return s;
      }
      int64_t const n = left < most - batch.count ? left : most - batch.count;
      batch.count += n;
      batch.window.tiles.count += n * shape.matrix_tiles();
      batch.window.clips.count += n;
      left -= n;
    }
  }
  return close();
}

/// What the batches of a range come to.
struct batch_cost {
  int64_t batches = 0;   ///< how many
  int64_t products = 0;  ///< calls of the gemm
  int64_t scratch = 0;   ///< bytes of the largest
  int64_t largest = 0;   ///< blocks of the largest launch
};

/// Adds up the batches of a range. @tparam Bound a bound_tensor of an orthogonal tier
/// @param[in] tensors of the range @param[in] limit of a batch's scratch, in bytes
/// @return what they come to
template <class Bound>
TIEROPT_HOST batch_cost batch_cost_of(cuda::std::span<Bound const> tensors, int64_t limit) {
  using parts = typename Bound::parts;
  batch_cost cost;
  (void)for_each_batch(tensors, limit, [&](matrix_batch const& batch) -> status {
    batch_scratch<stage_element<parts>> const scratch{nullptr, batch};
    auto const bytes = static_cast<int64_t>(scratch.bytes);
    ++cost.batches;
    cost.products += 3 * parts::orthogonal::iterations;
    cost.scratch = bytes > cost.scratch ? bytes : cost.scratch;
    int64_t const blocks = batch.window.largest();
    cost.largest = blocks > cost.largest ? blocks : cost.largest;
    return {};
  });
  return cost;
}

/// Multiplies a batch: X <- a X + (b A + c A A) X with A = X X^T, as often as the part says; where
/// R > C with A = X^T X from the other side, which is the same and smaller.
/// @tparam Orthogonal newton_schulz @tparam X an executor that multiplies @tparam Element of X
/// @param[in] x the executor @param[in] batch the shapes @param[in,out] scratch X first and last
/// @return ok, or product with what the gemm returned as native
template <class Orthogonal, class Element, multiplying_executor<Element> X>
TIEROPT_HOST status orthogonalize(X const& x, matrix_batch const& batch,
                                  batch_scratch<Element>& scratch) {
  bool const wide = batch.R <= batch.C;
  int64_t const side = batch.side(), length = wide ? batch.C : batch.R;
  for (int i = 0; i < Orthogonal::iterations; ++i) {
    newton_schulz_step const f = Orthogonal::step(i);
    status s = x.multiply(matrix_product<Element>{batch.count, side, side, length, !wide, wide, 1.0,
                                                  0.0, scratch.x, scratch.x, nullptr, scratch.a});
    if (s) {
      s = x.multiply(matrix_product<Element>{batch.count, side, side, side, false, false, f.c, f.b,
                                             scratch.a, scratch.a, scratch.a, scratch.b});
    }
    if (s) {
      s = x.multiply(matrix_product<Element>{
          batch.count, batch.R, batch.C, side, false, false, 1.0, f.a, wide ? scratch.b : scratch.x,
          wide ? scratch.x : scratch.b, scratch.x, scratch.next});
    }
    if (!s) return {errc::product, s.native != 0 ? s.native : static_cast<int>(s.code)};
    cuda::std::swap(scratch.x, scratch.next);
  }
  return {};
}

}  // namespace v0_1
}  // namespace tieropt
