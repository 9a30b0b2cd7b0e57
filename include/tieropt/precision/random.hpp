// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rounding bits as a function of (seed, tensor key, step, global element). Layer: precision.
///
/// Counter based, so that launch geometry, chunks, shards and replays cannot change a bit. Where 16
/// bits are enough one 32-bit draw serves the elements 2q and 2q + 1; else each has a draw of its
/// own, from another stream.
#pragma once

#include <tieropt/config.hpp>

namespace tieropt {
inline namespace v0_1 {

/// A 64-bit finaliser with full avalanche (the output function of splitmix64).
/// @param[in] x any bits
/// @return mixed bits
TIEROPT_HOST_DEVICE uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// A keyed 32-bit mix of a counter: three rounds of shift and multiply.
///
/// The shifts and factors are those of triple32 (C. Wellons, "Prospecting for Hash Functions"), the
/// keys are ours. With two rounds, counters that lie a power of two apart are visibly correlated
/// over 2^20 draws.
/// @param[in] x counter
/// @param[in] k0 key before the first round
/// @param[in] k1 key before the second product
/// @return 32 random bits
TIEROPT_HOST_DEVICE uint32_t mix32(uint32_t x, uint32_t k0, uint32_t k1) {
  x ^= k0;
  x = (x ^ (x >> 17)) * 0xed5ad4bbu;
  x = ((x ^ (x >> 11)) + k1) * 0xac4c1b51u;
  x = (x ^ (x >> 15)) * 0x31848babu;
  return x ^ (x >> 14);
}

/// The key of one matrix's rounding bits in one step.
/// @param[in] seed the caller's seed
/// @param[in] tensor the key of the tensor
/// @param[in] step the step that is being taken, from 1
/// @return a key
TIEROPT_HOST_DEVICE uint64_t rounding_key(uint64_t seed, uint64_t tensor, uint64_t step) {
  return mix64(mix64(mix64(seed) + tensor) + step);
}

/// What is rounded: no two of an element's values share draws.
enum class draw_role : uint32_t { param, momentum, exact, row, col, catch_up };

/// The key of what is rounded.
/// @param[in] key from rounding_key
/// @param[in] role what is rounded
/// @return the key itself for a parameter
TIEROPT_HOST_DEVICE uint64_t role_key(uint64_t key, draw_role role) {
  constexpr uint64_t odd = 0xD1342543DE82EF95u;
  return role == draw_role::param ? key : mix64(key ^ (static_cast<uint64_t>(role) * odd));
}

/// One draw: the bits of the elements 2q and 2q + 1. The next 2^33 elements have keys of their own.
/// @param[in] key from rounding_key
/// @param[in] q which pair of elements
/// @return 32 random bits
TIEROPT_HOST_DEVICE uint32_t pair_bits(uint64_t key, uint64_t q) {
  uint64_t const keys = mix64(key + (q >> 32));
  return mix32(static_cast<uint32_t>(q), static_cast<uint32_t>(keys),
               static_cast<uint32_t>(keys >> 32));
}

/// The draws of consecutive elements, from any global element on.
class element_bits {
 public:
  /// @param[in] key from rounding_key
  /// @param[in] first global index of element 0
  TIEROPT_HOST_DEVICE element_bits(uint64_t key, uint64_t first)
      : key_{key}, pair_{first >> 1}, parity_{static_cast<uint32_t>(first & 1)} {
    keys_ = mix64(key_ + (pair_ >> 32));
  }

  /// Goes to another element; cheap within 2^33 elements. @param[in] first its global index
  TIEROPT_HOST_DEVICE void go_to(uint64_t first) {
    uint64_t const before = pair_ >> 32;
    pair_ = first >> 1;
    parity_ = static_cast<uint32_t>(first & 1);
    if (pair_ >> 32 != before) keys_ = mix64(key_ + (pair_ >> 32));
  }

  /// Whether element 0 takes the high half of its draw. @return 0 or 1
  TIEROPT_HOST_DEVICE uint32_t parity() const { return parity_; }

  /// One draw. @param[in] j pairs after the pair of element 0 @return 32 random bits
  TIEROPT_HOST_DEVICE uint32_t operator()(uint32_t j) const { return pair_bits(key_, pair_ + j); }

  /// Whether the draws up to one share their keys. @param[in] j the last
  /// @return true if they do
  TIEROPT_HOST_DEVICE bool share_keys(uint32_t j) const {
    return static_cast<uint32_t>(pair_) <= 0xffffffffu - j;
  }
  /// One of the draws that share their keys: the same bits in a fraction of the work.
  /// @param[in] j pairs after the pair of element 0 @return 32 random bits
  /// @pre share_keys(j)
  TIEROPT_HOST_DEVICE uint32_t nearby(uint32_t j) const {
    return mix32(static_cast<uint32_t>(pair_) + j, static_cast<uint32_t>(keys_),
                 static_cast<uint32_t>(keys_ >> 32));
  }

  /// The keys of the draws from the next wrap of the pair index on. @return keys
  TIEROPT_HOST_DEVICE uint64_t next_keys() const { return mix64(key_ + (pair_ >> 32) + 1); }
  /// One of the draws that take one of two keys. @param[in] j pairs after the pair of element 0,
  /// below 2^31 @param[in] next next_keys() @return 32 random bits
  TIEROPT_HOST_DEVICE uint32_t nearby(uint32_t j, uint64_t next) const {
    uint32_t const q = static_cast<uint32_t>(pair_) + j;
    uint64_t const keys = q < j ? next : keys_;
    return mix32(q, static_cast<uint32_t>(keys), static_cast<uint32_t>(keys >> 32));
  }

  /// The 16 bits of one element. @param[in] i elements after element 0 @return 16 random bits
  TIEROPT_HOST_DEVICE uint32_t element(uint32_t i) const {
    uint32_t const at = i + parity_;
    return ((*this)(at >> 1) >> (16 * (at & 1))) & 0xffffu;
  }

 private:
  uint64_t key_, pair_, keys_;
  uint32_t parity_;
};

/// The keys of 2^32 consecutive draws of 32 bits each; none of them are keys of pair_bits.
/// @param[in] key from role_key
/// @param[in] high upper half of the elements' global indices
/// @return keys
TIEROPT_HOST_DEVICE uint64_t wide_keys(uint64_t key, uint64_t high) {
  return mix64((key ^ 0xA0761D6478BD642Fu) + high);
}

/// The draw of one element that takes 32 bits.
/// @param[in] key from role_key
/// @param[in] element global index of the element
/// @return 32 random bits
TIEROPT_HOST_DEVICE uint32_t wide_bits(uint64_t key, uint64_t element) {
  uint64_t const keys = wide_keys(key, element >> 32);
  return mix32(static_cast<uint32_t>(element), static_cast<uint32_t>(keys),
               static_cast<uint32_t>(keys >> 32));
}

/// The draws of 32 bits of consecutive elements, from any global element on.
class wide_element_bits {
 public:
  /// Elements that can be asked for.
  static constexpr uint32_t reach = 1u << 16;

  /// @param[in] key from role_key
  /// @param[in] first global index of element 0
  TIEROPT_HOST_DEVICE wide_element_bits(uint64_t key, uint64_t first)
      : key_{key}, first_{first}, keys_{wide_keys(key, first >> 32)}, next_{keys_} {
    look_ahead();
  }

  /// Goes to another element; cheap within 2^32 elements. @param[in] first its global index
  TIEROPT_HOST_DEVICE void go_to(uint64_t first) {
    bool const same = first >> 32 == first_ >> 32;
    first_ = first;
    if (!same) keys_ = wide_keys(key_, first >> 32);
    look_ahead();
  }

  /// The draw of an element. @param[in] i elements after element 0, below reach
  /// @return 32 random bits
  TIEROPT_HOST_DEVICE uint32_t operator()(uint32_t i) const {
    uint32_t const at = static_cast<uint32_t>(first_) + i;
    uint64_t const keys = at < i ? next_ : keys_;
    return mix32(at, static_cast<uint32_t>(keys), static_cast<uint32_t>(keys >> 32));
  }

  /// Whether the draws up to one share their keys. @param[in] i the last
  /// @return true if they do
  TIEROPT_HOST_DEVICE bool share_keys(uint32_t i) const {
    return static_cast<uint32_t>(first_) <= 0xffffffffu - i;
  }
  /// One of the draws that share their keys: the same bits, without a choice.
  /// @param[in] i elements after element 0 @return 32 random bits
  /// @pre share_keys(i)
  TIEROPT_HOST_DEVICE uint32_t nearby(uint32_t i) const {
    return mix32(static_cast<uint32_t>(first_) + i, static_cast<uint32_t>(keys_),
                 static_cast<uint32_t>(keys_ >> 32));
  }

  /// The draws of a group's strip. @tparam Group a group of 256 columns
  /// @param[in] group the group @param[in] i elements after element 0 where the strip starts
  /// @return a fragment of them
  template <class Group>
  TIEROPT_HOST_DEVICE auto draw(Group const& group, uint32_t i) const {
    if (share_keys(i + 255)) {
      return group.draw_wide([&](uint32_t column) { return nearby(i + column); });
    } else {
      return group.draw_wide([&](uint32_t column) { return (*this)(i + column); });
    }
  }

 private:
  // The keys of the elements from the next wrap of the lower half on.
  TIEROPT_HOST_DEVICE void look_ahead() {
    if (!share_keys(reach - 1)) next_ = wide_keys(key_, (first_ >> 32) + 1);
  }

  uint64_t key_, first_, keys_, next_;
};

}  // namespace v0_1
}  // namespace tieropt
