// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A float as a bfloat16 and what it lacks. Layer: precision.
///
/// The upper half is rounded to nearest, so that it serves as the parameter; the lower half of the
/// bits is the remainder. Rounded away from zero in ties, the remainder alone says whether the
/// upper half was rounded up; rounded to even it takes a carry bit. NaN has 0x7FFF and no
/// remainder.
#pragma once

#include <tieropt/precision/storage.hpp>

namespace tieropt {
inline namespace v0_1 {

/// A float in two halves.
struct away_halves {
  uint16_t high;  ///< bfloat16, ties rounded away from zero
  uint16_t low;   ///< lower half of the bits
};

/// A float in two halves and a bit.
struct even_halves {
  uint16_t high;   ///< bfloat16, ties rounded to even
  uint16_t low;    ///< lower half of the bits
  uint32_t carry;  ///< 1 where high was rounded up
};

/// Splits, ties away from zero. @param[in] x value @return its halves
TIEROPT_HOST_DEVICE away_halves split_away(float x) {
  uint32_t const u = is_nan(x) ? 0x7fff0000u : bits(x);
  return {static_cast<uint16_t>((u + 0x8000u) >> 16), static_cast<uint16_t>(u)};
}

/// The value of two halves. @param[in] high bfloat16 @param[in] low lower half of the bits
/// @return what split_away took apart
TIEROPT_HOST_DEVICE float join_away(uint16_t high, uint16_t low) {
  uint32_t const up = low >> 15;  // then high was rounded up
  return from_bits(((high - up) << 16) | low);
}

/// Splits, ties to even. @param[in] x value @return its halves and the carry
TIEROPT_HOST_DEVICE even_halves split_even(float x) {
  uint32_t const u = is_nan(x) ? 0x7fff0000u : bits(x);
  uint32_t const high = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return {static_cast<uint16_t>(high), static_cast<uint16_t>(u), high - (u >> 16)};
}

/// The value of two halves and a carry. @param[in] high bfloat16 @param[in] low lower half of the
/// bits @param[in] carry 1 where high was rounded up @return what split_even took apart
TIEROPT_HOST_DEVICE float join_even(uint16_t high, uint16_t low, uint32_t carry) {
  return from_bits(((high - carry) << 16) | low);
}

}  // namespace v0_1
}  // namespace tieropt
