// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rounding bits as a function of (seed, tensor key, step, global element). Layer: precision.
///
/// Counter based, so that launch geometry, chunks, shards and replays cannot change a bit. One
/// 32-bit draw serves the elements 2q and 2q + 1.
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

/// The draws of consecutive elements, from any global element on.
class element_bits {
 public:
  /// @param[in] key from rounding_key
  /// @param[in] first global index of element 0
  TIEROPT_HOST_DEVICE element_bits(uint64_t key, uint64_t first)
      : base_{static_cast<uint32_t>(first >> 1)}, parity_{static_cast<uint32_t>(first & 1)} {
    uint64_t const high = first >> 33;
    uint64_t const low = mix64(key + high), carried = mix64(key + high + 1);
    low0_ = static_cast<uint32_t>(low);
    low1_ = static_cast<uint32_t>(low >> 32);
    carried0_ = static_cast<uint32_t>(carried);
    carried1_ = static_cast<uint32_t>(carried >> 32);
  }

  /// Whether element 0 takes the high half of its draw. @return 0 or 1
  TIEROPT_HOST_DEVICE uint32_t parity() const { return parity_; }

  /// One draw. @param[in] j pairs after the pair of element 0, below 2^31 @return 32 random bits
  TIEROPT_HOST_DEVICE uint32_t operator()(uint32_t j) const {
    uint32_t const counter = base_ + j;
    bool const wrapped = counter < base_;  // the next 2^33 elements have keys of their own
    return mix32(counter, wrapped ? carried0_ : low0_, wrapped ? carried1_ : low1_);
  }

  /// The 16 bits of one element. @param[in] i elements after element 0 @return 16 random bits
  TIEROPT_HOST_DEVICE uint32_t element(uint32_t i) const {
    uint32_t const at = i + parity_;
    return ((*this)(at >> 1) >> (16 * (at & 1))) & 0xffffu;
  }

 private:
  uint32_t base_, parity_, low0_, low1_, carried0_, carried1_;
};

}  // namespace v0_1
}  // namespace tieropt
