// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// States of codes with a float scale for each 32 neighbouring columns. Layer: precision.
///
/// A scale follows the largest magnitude of its group, so that this one has the top code. Values
/// that are not finite do not count there, and are stored as NaN. Stochastic codes are unbiased in
/// the value: up with the probability of the distance from the level below.
#pragma once

#include <tieropt/precision/storage.hpp>

namespace tieropt {
inline namespace v0_1 {

/// What all quantised states share.
struct scaled_codes {
  using scale_type = float;                           ///< one for each 32 columns
  static constexpr float smallest_scale = 0x1p-126f;  ///< so that its inverse is finite

  /// What a value adds to the scale of its group. @param[in] x value
  /// @return its magnitude, 0 where it is not finite
  TIEROPT_HOST_DEVICE static float magnitude(float x) {
    uint32_t const u = bits(x) & 0x7fffffffu;
    return from_bits(u < 0x7f800000u ? u : 0u);
  }
  /// The scale of a group. @param[in] largest the largest magnitude
  /// @return it, at least 2^-126 unless it is 0
  TIEROPT_HOST_DEVICE static float scale(float largest) {
    uint32_t const u = bits(largest), least = bits(smallest_scale);
    return from_bits((u < least ? least : u) & mask(below(0, largest)));
  }
  /// What values of a group are multiplied by. @param[in] scale the group's @return the smallest
  /// float whose product with the scale is not below 1; 0 for 0
  TIEROPT_HOST_DEVICE static float inverse(float scale) {
    float const nearest = div(1.0f, scale);
    uint32_t const up = fma(nearest, scale, -1.0f) < 0;
    return from_bits((bits(nearest) + up) & mask(below(0, scale)));
  }

 protected:
  /// All bits or none: g++ vectorises no arithmetic that it has moved into a branch.
  /// @param[in] all whether all @return a mask
  TIEROPT_HOST_DEVICE static uint32_t mask(bool all) { return 0u - static_cast<uint32_t>(all); }
  /// Uniform in [0, 1], 2^31 steps where it is small. @param[in] r random bits @return a number
  TIEROPT_HOST_DEVICE static float uniform(uint32_t r) {
    return mul(static_cast<float>(static_cast<int>(r >> 1)), 0x1p-31f);
  }
  /// Whether a < b, for a not below 0: a comparison flushes subnormals under --use_fast_math.
  /// @param[in] a value @param[in] b value @return true if so
  TIEROPT_HOST_DEVICE static bool below(float a, float b) {
    return static_cast<int>(bits(a)) < static_cast<int>(bits(b));
  }
  /// A scaled magnitude, cut at 1. @param[in] a not below 0 @return min(a, 1)
  TIEROPT_HOST_DEVICE static float cut(float a) {
    return from_bits(bits(a) < bits(1.0f) ? bits(a) : bits(1.0f));
  }
};

/// A signed state in 8 bits, dense around 0: levels scale k / (254 - k), k from 0 to 127.
struct softsign_int8 : scaled_codes {
  using code = int8_t;                                 ///< k with its sign; -128 is NaN
  static constexpr char const* name = "I8";            ///< as safetensors spells it
  static constexpr char const* map_name = "softsign";  ///< of the levels

  /// The value of a code. @param[in] x code @param[in] scale the group's @return value
  TIEROPT_HOST_DEVICE static float decode(code x, float scale) {
    int const k = x < 0 ? -x : x;
    auto const magnitude = static_cast<float>(k);
    float const level = mul(div(magnitude, add(254.0f, -magnitude)), scale);
    uint32_t const sign = static_cast<uint32_t>(x) & 0x80000000u;
    return from_bits(bits(level) | sign | (mask(k == 128) >> 1));  // NaN has any sign
  }
  /// The nearest level. @param[in] x value @param[in] inverse of the scale @return code
  TIEROPT_HOST_DEVICE static code nearest(float x, float inverse) {
    return rounded(x, inverse, 0.5f);
  }
  /// One of the two levels around. @param[in] x value @param[in] inverse of the scale
  /// @param[in] r 32 random bits @return code
  TIEROPT_HOST_DEVICE static code stochastic(float x, float inverse, uint32_t r) {
    return rounded(x, inverse, uniform(r));
  }

 private:
  // Up where the distance from the level below, in levels, is more than a threshold.
  TIEROPT_HOST_DEVICE static code rounded(float x, float inverse, float threshold) {
    uint32_t const u = bits(x) & 0x7fffffffu;
    float const a = cut(mul(from_bits(u), inverse));
    int const k = static_cast<int>(div(mul(254.0f, a), add(1.0f, a)));
    auto const whole = static_cast<float>(k);
    float const rest = mul(fma(a, add(254.0f, -whole), -whole), add(253.0f, -whole));
    int const magnitude = k + static_cast<int>(below(mul(threshold, 254.0f), rest));
    int const sign = static_cast<int>(bits(x)) >> 31;  // 0 or -1
    return static_cast<code>(u < 0x7f800000u ? (magnitude ^ sign) - sign : -128);
  }
};

/// A state that is never negative, in 8 bits: levels scale (k / 254)^2, k from 0 to 254. What is
/// above 0 stays above 0; what is below counts as 0.
struct root_uint8 : scaled_codes {
  using code = uint8_t;                            ///< k; 255 is NaN
  static constexpr char const* name = "U8";        ///< as safetensors spells it
  static constexpr char const* map_name = "root";  ///< of the levels
  static constexpr bool is_signed = false;         ///< no negative values

  /// What a value adds to the scale of its group. @param[in] x value
  /// @return itself, 0 where it is negative or not finite
  TIEROPT_HOST_DEVICE static float magnitude(float x) {
    uint32_t const u = bits(x);  // negative ones are the largest
    return from_bits(u < 0x7f800000u ? u : 0u);
  }
  /// The value of a code. @param[in] x code @param[in] scale the group's @return value
  TIEROPT_HOST_DEVICE static float decode(code x, float scale) {
    auto const k = static_cast<float>(static_cast<int>(x));
    float const value = mul(mul(mul(k, k), 1.0f / 64516), scale);
    return from_bits(bits(value) | (mask(x == 255) >> 1));
  }
  /// The nearest level. @param[in] x value @param[in] inverse of the scale @return code
  TIEROPT_HOST_DEVICE static code nearest(float x, float inverse) {
    return rounded(x, inverse, 0.5f);
  }
  /// One of the two levels around. @param[in] x value @param[in] inverse of the scale
  /// @param[in] r 32 random bits @return code
  TIEROPT_HOST_DEVICE static code stochastic(float x, float inverse, uint32_t r) {
    return rounded(x, inverse, uniform(r));
  }

 private:
  // Up where the distance from the level below, in levels, is more than a threshold.
  TIEROPT_HOST_DEVICE static code rounded(float x, float inverse, float threshold) {
    uint32_t const u = bits(x);
    float const a = cut(mul(magnitude(x), inverse));
    float const square = mul(64516.0f, a);
    // A quick root that is less than one level off, then the level below; g++ vectorises no sqrt.
    float const start = from_bits(0x5f1ffff9u - (bits(square) >> 1));
    float const inverse_root =
        mul(mul(0.703952253f, start), fma(neg(mul(square, start)), start, 2.38924456f));
    auto guess = static_cast<float>(static_cast<int>(mul(square, inverse_root)));
    float const over = fma(neg(guess), guess, square), next = fma(2.0f, guess, 1.0f);
    int const k =
        static_cast<int>(guess) - static_cast<int>(over < 0) + static_cast<int>(!(over < next));
    auto const whole = static_cast<float>(k);
    float const rest = fma(neg(whole), whole, square);
    int const up = static_cast<int>(below(mul(threshold, fma(2.0f, whole, 1.0f)), rest));
    auto const level = static_cast<uint32_t>(k + up);
    uint32_t const least = mask(level == 0) & static_cast<uint32_t>(below(0, x));
    return static_cast<code>(level | least | mask((u & 0x7fffffffu) >= 0x7f800000u));
  }
};

/// Elements of another type that multiply a scale: the largest of a group is the largest finite
/// one. Types with an infinity keep infinities.
/// @tparam Element fp8_e4m3, fp8_e5m2, fp16, bf16, or a type of your own with their formats
template <class Element>
struct block_scaled : scaled_codes {
  /// Whether there is a codec with a format.
  static constexpr bool has_format = requires { typename storage<Element>::format; };
  static_assert(has_format,
                "[tieropt-storage-format] block_scaled needs an element type whose storage derives "
                "from storage_as: fp8_e4m3, fp8_e5m2, fp16, bf16, or one of yours; see "
                "tieropt/precision/storage.hpp");

  using code = Element;  ///< as its storage has it
  /// Of the elements.
  using codec = storage<cuda::std::conditional_t<has_format, Element, bf16>>;
  static constexpr char const* name = codec_name<Element>();   ///< as safetensors spells it
  static constexpr char const* map_name = "linear";            ///< of the levels
  static constexpr float largest_code = codec::format::max();  ///< largest finite element

  /// The scale of a group. @param[in] largest the largest magnitude
  /// @return largest / largest_code, rounded down; at least 2^-126 unless it is 0
  TIEROPT_HOST_DEVICE static float scale(float largest) {
    float const nearest = div(largest, largest_code);
    bool const above = below(0, fma(nearest, largest_code, neg(largest)));
    uint32_t const u = bits(nearest) - static_cast<uint32_t>(above), least = bits(smallest_scale);
    return from_bits((u < least ? least : u) & mask(below(0, largest)));
  }
  /// The value of a code. @param[in] x code @param[in] scale the group's @return value
  TIEROPT_HOST_DEVICE static float decode(code const& x, float scale) {
    float const y = codec::template decode<float>(x);
    bool const infinite = (bits(y) & 0x7fffffffu) == 0x7f800000u;
    return infinite ? y : mul(y, scale);  // whatever the scale
  }
  /// The nearest element. @param[in] x value @param[in] inverse of the scale @return code
  TIEROPT_HOST_DEVICE static code nearest(float x, float inverse) {
    return codec::nearest(scaled(x, inverse));
  }
  /// One of the two elements around. @param[in] x value @param[in] inverse of the scale
  /// @param[in] r 32 random bits @return code
  TIEROPT_HOST_DEVICE static code stochastic(float x, float inverse, uint32_t r) {
    return codec::stochastic(scaled(x, inverse), r >> (32 - draw_bits_of<codec>));
  }

 private:
  // Finite values stay below what overflows.
  TIEROPT_HOST_DEVICE static float scaled(float x, float inverse) {
    uint32_t const u = bits(x) & 0x7fffffffu, sign = bits(x) & 0x80000000u;
    uint32_t const a = bits(mul(from_bits(u), inverse));
    uint32_t const within = a < bits(largest_code) ? a : bits(largest_code);
    return from_bits(sign | (u < 0x7f800000u ? within : u));
  }
};

/// Whether a state stores negative values.
template <class State>
inline constexpr bool signed_state = true;
/// As the state says, if it does.
template <class State>
  requires requires { State::is_signed; }
inline constexpr bool signed_state<State> = State::is_signed;

/// A state of codes with scales. `nearest` and `stochastic` take values of at most the scale (of
/// block_scaled: what its largest element stands for) and the inverse of the scale.
template <class S>
concept quantised_state = requires(typename S::code c, float x, uint32_t r) {
  { S::name } -> cuda::std::convertible_to<char const*>;
  { S::map_name } -> cuda::std::convertible_to<char const*>;
  { S::magnitude(x) } -> cuda::std::same_as<float>;
  { S::scale(x) } -> cuda::std::same_as<float>;
  { S::inverse(x) } -> cuda::std::same_as<float>;
  { S::decode(c, x) } -> cuda::std::same_as<float>;
  { S::nearest(x, x) } -> cuda::std::same_as<typename S::code>;
  { S::stochastic(x, x, r) } -> cuda::std::same_as<typename S::code>;
};

}  // namespace v0_1
}  // namespace tieropt
