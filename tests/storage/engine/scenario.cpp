// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Generates scenarios: shapes, layouts, states, gradients, masks.

#include "support/storage_engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace testing::stored {

namespace {

constexpr int64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025};
constexpr int n_sizes = 11;
constexpr int64_t most_elements = on_device ? 9000 : 36000;

/// A shape with a listed number of columns or rows.
shape some_shape(source& random, int index, int& dims) {
  int64_t const listed = sizes[index % n_sizes];
  int64_t const other = std::max<int64_t>(
      1, std::min<int64_t>(1 + random.below(67), most_elements / std::max<int64_t>(listed, 1)));
  dims = 0;
  switch (random.below(7)) {
    case 0: return shape::of({listed});
    case 1: return shape::of({listed, other > 33 ? 1 : other});
    case 2: return shape::of({other, listed});
    case 3: return shape::of({1 + random.below(3), 1 + random.below(9), listed});
    case 4: {  // two leading dimensions that other layouts keep apart
      return shape::of({1 + random.below(3), 1 + random.below(3), 1 + random.below(4), listed});
    }
    case 5: {
      shape s{{listed, 1 + random.below(3), 1 + random.below(9)}, 0, 2};
      dims = 2 + static_cast<int>(random.below(2));
      return s;
    }
    default: {  // the two largest, later ones of equal size
      shape s{{1 + random.below(5), listed, 1 + random.below(3), 1 + random.below(30)}, 0, 0};
      dims = 1;
      for (int want = 0; want < 2; ++want) {
        int best = -1;
        for (int i = 0; i < 4; ++i) {
          if (want == 1 && i == s.col) continue;
          if (best < 0 ||
              s.extents[static_cast<std::size_t>(i)] >= s.extents[static_cast<std::size_t>(best)])
            best = i;
        }
        (want == 0 ? s.col : s.row) = best;
      }
      if (s.row > s.col) std::swap(s.row, s.col);
      return s;
    }
  }
}

/// The element or code that stands for x.
std::uint64_t code_of(kind k, double x, double scale, std::uint64_t draw) {
  if (k == kind::softsign) {
    auto const level = static_cast<int>(draw % 128);
    return static_cast<std::uint8_t>(x < 0 ? -level : level);
  }
  if (k == kind::root) return draw % 255;
  if (is_quantised(k)) return encode(element_of_block(k), x / scale);
  return encode(k, x);
}

/// Fills a state with values of a deviation.
void fill_state(kind k, cells& elements, cells& scales, int64_t C, double deviation, bool positive,
                std::uint64_t seed) {
  int64_t const groups = (C + group_size - 1) / group_size;
  auto const top = top_level(k);
  for (int64_t i = 0; i < scales.size(); ++i) {
    scales.put(
        i,
        encode(kind::f32,
               static_cast<float>(
                   (3 + 0.1 * static_cast<double>(mixed(seed, static_cast<std::uint64_t>(i)) % 7)) *
                   deviation / top)));
  }
  for (int64_t i = 0; i < elements.size(); ++i) {
    auto const n = static_cast<std::uint64_t>(i);
    double x = deviation * bell(seed + 1, n);
    if (positive) x = std::fabs(x);
    int64_t const at = C > 0 ? i / C * groups + i % C / group_size : 0;
    double const scale = is_quantised(k) ? decode(kind::f32, scales.at(at)) : 1;
    elements.put(i, code_of(k, x, scale, mixed(seed + 2, n)));
  }
}

void fill_weights(row const& what, bundle& b, std::uint64_t seed) {
  for (int64_t i = 0; i < b.param.size(); ++i) {
    auto const n = static_cast<std::uint64_t>(i);
    double const x = 0.25 * bell(seed, n);
    auto const exact = static_cast<float>(x);
    switch (what.master) {
      case master_kind::none: b.param.put(i, encode(what.param, x)); break;
      case master_kind::weights:
        b.master.put(i, encode(kind::f32, exact));
        b.param.put(i, encode(what.param, exact));
        break;
      case master_kind::remainder:
      case master_kind::carry: {
        auto const h = split(exact, what.master == master_kind::remainder);
        b.param.put(i, h.high), b.master.put(i, h.low);
        if (what.master == master_kind::carry) {
          int64_t const C = b.C(), at = i / C * b.groups(8) + i % C / 8;
          b.carry.put(at, b.carry.raw(at) | static_cast<std::uint64_t>(h.carry) << (i % C % 8));
        }
      }
    }
  }
}

/// All buffers of a tensor, their layouts drawn where `free`.
bundle make_bundle(row const& what, shape const& s, int dims, bool free, int common, source random,
                   bool seasoned, std::uint64_t seed) {
  bundle b;
  b.shape = s, b.dims = dims;
  b.factored = what.factored() && s.extents.size() >= 2;
  source dense{0};
  auto const make = [&](int bytes, shape const& of) {
    if (!free) return cells{bytes, of, layout_kind::dense, dense};
    auto const how = common >= 0 ? common : static_cast<int>(random.below(n_layouts));
    return cells{bytes, of, static_cast<layout_kind>(how), random};
  };
  auto const plain = [&](int bytes, std::vector<int64_t> const& extents) {
    return cells{bytes, shape::of(extents), layout_kind::dense, dense};
  };
  kind const m = what.momentum, v = what.variance_as();
  shape const scales = s.with_columns(b.groups(group_size));
  b.param = make(size_of(what.param), s);
  b.grad = make(size_of(what.grad), s);
  if (m != kind::none) b.momentum = make(size_of(m), s);
  if (is_quantised(m)) b.momentum_scale = make(4, scales);
  if (b.factored) {
    b.row = plain(size_of(v), {b.E(), b.R()}), b.col = plain(size_of(v), {b.E(), b.C()});
  } else if (v != kind::none) {
    // A factored tier keeps a vector's exact moment dense.
    b.exact = what.factored() ? plain(size_of(v), s.extents) : make(size_of(v), s);
    if (is_quantised(v)) b.exact_scale = make(4, scales);
  }
  if (what.master == master_kind::weights) b.master = make(4, s);
  if (what.master >= master_kind::remainder) b.master = make(2, s);
  if (what.master == master_kind::carry) b.carry = make(1, s.with_columns(b.groups(8)));
  b.step = plain(8, {b.E()}), b.active = plain(4, {b.E()}), b.missed = plain(8, {b.E()});

  fill_weights(what, b, seed);
  if (seasoned) {
    for (int64_t e = 0; e < b.E(); ++e) b.step.put(e, static_cast<std::uint64_t>(4 + e % 3));
    cells none;
    double const deviation = what.shape == shape_kind::of_update ? 1e-3 : 1e-2;
    if (m != kind::none)
      fill_state(m, b.momentum, b.momentum_scale, b.C(), deviation, false, seed + 10);
    if (v != kind::none) {
      fill_state(v, b.exact, b.exact_scale, b.C(), 1e-4, true, seed + 20);
      fill_state(v, b.row, none, b.R(), 1e-4, true, seed + 30);
      fill_state(v, b.col, none, b.C(), 1e-4, true, seed + 40);
    }
  }
  return b;
}

}  // namespace

void add_tensor(row const& what, scenario& s, shape const& extents, std::uint64_t seed) {
  for (auto* list : {&s.tensors, &s.dense}) {
    list->push_back(make_bundle(what, extents, 0, false, -1, source{seed}, false, seed));
    list->back().key = static_cast<int64_t>(list->size());
  }
}

scenario make_scenario(row_case const& c, int index, std::uint64_t seed) {
  row const& what = c.what;
  source random{seed};
  scenario s;
  s.seed = seed;
  auto const tier = what.recipe();
  double const rates[] = {1, 3e-4, 0.05, -0.5};
  s.hyper.lr = rates[random.below(4)];
  s.hyper.beta1 = random.one_in(3) ? 0.5 : 0.9;
  s.hyper.beta2 = random.one_in(3) ? 0.9 : 0.99;
  s.hyper.eps = what.inside_eps() ? 1e-30 : random.one_in(3) ? 1e-2 : 1e-8;
  s.hyper.clip = random.one_in(3) ? 0.05 : 1;
  s.hyper.weight_decay = random.one_in(3) ? 0 : 0.1;
  s.hyper.eps2 = random.one_in(2) ? 1e-3 : 1;
  bool const small_grad = what.grad == kind::e4m3 || what.grad == kind::e5m2;
  s.magnitude = random.one_in(3) ? 1 : 1e-2;
  if (small_grad || random.one_in(2)) s.in.grad_scale = small_grad ? 64 / s.magnitude : 768;
  if (random.one_in(3)) s.in.clip_factor = 0.3;
  if (tier.global_clip && !random.one_in(4)) s.in.max_norm = random.one_in(3) ? 1e6 : s.magnitude;
  if (random.one_in(2)) s.fault_step = 1 + static_cast<int>(random.below(2));
  if (random.one_in(3)) s.found_inf_step = static_cast<int>(random.below(3));
  if (s.fault_step == s.found_inf_step) s.found_inf_step = -1;
  int64_t const caches[] = {0, 1 << 13, int64_t{1} << 40};
  if (random.one_in(2)) s.how = tieropt::cache_resident(caches[random.below(3)]);
  if (c.all_places) s.where = static_cast<place>(random.below(4));

  int const n = 1 + static_cast<int>(random.below(3));
  for (int i = 0; i < n; ++i) {
    int dims = 0;
    shape const extents =
        some_shape(random, i == 0 ? index : static_cast<int>(random.below(n_sizes)), dims);
    bool const seasoned = random.one_in(2), masked = !tier.together() && random.one_in(2);
    bool const counts = masked && what.can_catch_up() && random.one_in(2);
    int const common = random.one_in(4) ? static_cast<int>(random.below(3)) : -1;
    std::uint64_t const own = mixed(seed, static_cast<std::uint64_t>(1000 + i)) >> 8;
    for (bool const free : {true, false}) {
      bundle b = make_bundle(what, extents, dims, free, common, source{own}, seasoned, own);
      b.key = 5 + i, b.first_element = 3 * i;
      random.below(1);  // one draw more: the scenarios that were looked at
      b.masked = masked, b.counts_missed = counts;
      (free ? s.tensors : s.dense).push_back(std::move(b));
    }
    s.text += " (";
    for (int64_t const x : extents.extents) s.text += std::to_string(x) + " ";
    s.text += "dims " + std::to_string(extents.row) + " " + std::to_string(extents.col) +
              (masked ? " masked" : "") + (seasoned ? " seasoned" : "") + " layout " +
              std::to_string(common) + ")";
  }
  s.text += " lr " + std::to_string(s.hyper.lr) + " fault step " + std::to_string(s.fault_step) +
            " found_inf step " + std::to_string(s.found_inf_step) + " place " +
            std::to_string(static_cast<int>(s.where)) + " schedule " +
            std::to_string(static_cast<int>(s.how.order));
  return s;
}

void new_gradients(row const& what, scenario& s, int step) {
  if (s.gradient) {
    for (std::size_t t = 0; t < s.tensors.size(); ++t) {
      for (int64_t i = 0; i < s.tensors[t].grad.size(); ++i) {
        auto const code = encode(what.grad, s.gradient(t, i, step));
        s.tensors[t].grad.put(i, code), s.dense[t].grad.put(i, code);
      }
    }
    return;
  }
  std::uint64_t const seed = s.seed + 77 * static_cast<std::uint64_t>(step + 1);
  source random{seed};
  double const inf = std::numeric_limits<double>::infinity();
  double const faults[] = {std::nan(""), inf, -inf, 0x1p64, -0x1p64};
  // Beyond this only what computes in double keeps 2^64.
  bool const wide = what.computes_double();
  bool const holds = is_wide(what.grad) || has_bf16_bits(what.grad);
  for (std::size_t t = 0; t < s.tensors.size(); ++t) {
    int64_t const n = s.tensors[t].grad.size(), E = s.tensors[t].E();
    bool const present = s.tensors.size() == 1 || !random.one_in(6);
    std::vector<std::pair<int64_t, double>> bad;
    if (step == s.fault_step && n > 0) {
      int64_t const count = 1 + random.below(3);
      for (int64_t i = 0; i < count; ++i) {
        double const x = faults[random.below(holds && !wide ? 5 : 3)];
        bad.push_back({random.below(n), std::fabs(x) == 0x1p64 ? x * s.in.grad_scale * 4 : x});
      }
    }
    bool const zeros = random.one_in(5);
    std::uint64_t const activity = mixed(seed, t);
    for (auto* b : {&s.tensors[t], &s.dense[t]}) {
      b->present = present;
      for (int64_t i = 0; i < n; ++i) {
        double const x =
            s.magnitude * s.in.grad_scale * bell(seed + 1000 * t, static_cast<std::uint64_t>(i));
        b->grad.put(i, encode(what.grad, zeros && i % 3 == 1 ? 0 : x));
      }
      for (auto const& [i, x] : bad) b->grad.put(i, encode(what.grad, x));
      for (int64_t e = 0; e < E; ++e) b->active.put(e, (activity >> (e % 64)) & 1u ? 7 : 0);
    }
  }
}

}  // namespace testing::stored
