// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How element types are stored: codecs, nearest and exact stochastic rounding. Layer: precision.
#pragma once

#include <tieropt/precision/arithmetic.hpp>

#include <cuda/std/type_traits>

namespace tieropt {
inline namespace v0_1 {

using std::int8_t;
using std::uint8_t;

inline constexpr int scale_group = 32;  ///< neighbouring columns that share a scale

/// bfloat16: 8 exponent bits, 7 fraction bits.
struct bf16 {
  uint16_t raw;  ///< its bits
};

/// IEEE binary16: 5 exponent bits, 10 fraction bits.
struct fp16 {
  uint16_t raw;  ///< its bits
};

/// The 8-bit format with 4 exponent bits, 3 fraction bits and no infinity: up to 448.
struct fp8_e4m3 {
  uint8_t raw;  ///< its bits
};

/// The 8-bit format with 5 exponent bits and 2 fraction bits: up to 57344.
struct fp8_e5m2 {
  uint8_t raw;  ///< its bits
};

/// Rounds parameters to the nearest value, ties to even.
struct nearest_rounding {
  static constexpr bool stochastic = false;  ///< draws nothing
};

/// Rounds types that draw up with the probability of the fraction; float and double to nearest.
struct stochastic_rounding {
  static constexpr bool stochastic = true;  ///< draws as many bits per element as its codec takes
};

/// Rounds a double to float so that a second rounding to fewer bits is exact (round to odd).
/// @param[in] x any value
/// @return the float towards zero, its last bit set where anything was lost
TIEROPT_HOST_DEVICE float narrow_to_odd(double x) {
  float const nearest = narrow(x);
  double const back = widen(nearest);
  uint32_t u = bits(nearest);
  if (!is_nan(x) && back != x) {
    if ((back < 0 ? -back : back) > (x < 0 ? -x : x)) u -= 1;
    u |= 1;
  }
  return from_bits(u);
}

/// The bits of bfloat16.
struct bf16_format {
  using raw_type = uint16_t;                   ///< holds the bits
  static constexpr char const* name = "BF16";  ///< as safetensors spells it
  static constexpr int draw_bits = 16;         ///< random bits that stochastic takes
  static constexpr bool saturates = false;     ///< it has infinities

  /// The value of some bits. @param[in] raw bits @return its value
  TIEROPT_HOST_DEVICE static float decode(uint16_t raw) {
    return from_bits(static_cast<uint32_t>(raw) << 16);
  }
  /// Nearest even; NaN becomes 0x7FFF, as on the device. @param[in] x value @return bits
  TIEROPT_HOST_DEVICE static uint16_t nearest(float x) {
    uint32_t const u = bits(x);
    return is_nan(x) ? uint16_t{0x7fff}
                     : static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  /// Up with the probability of the fraction, exactly.
  ///
  /// The low half of an infinity is zero, so that adding less than 2^16 leaves it alone.
  /// Magnitudes beyond the largest finite value go to infinity with the probability of the
  /// fraction.
  /// @param[in] x value
  /// @param[in] r 16 random bits
  /// @return bits
  TIEROPT_HOST_DEVICE static uint16_t stochastic(float x, uint32_t r) {
    return is_nan(x) ? uint16_t{0x7fff} : static_cast<uint16_t>((bits(x) + r) >> 16);
  }
  /// The largest finite value. @return it
  TIEROPT_HOST_DEVICE static constexpr float max() { return 0x1.fep127f; }
};

/// The bits of a format with fewer exponent and fraction bits than float.
/// @tparam ExponentBits bits of the exponent, below 8
/// @tparam FractionBits bits of the fraction, below 23
/// @tparam Infinite whether the largest exponent is that of infinity and NaN, as IEEE 754 says;
/// without, NaN is the largest pattern alone
template <int ExponentBits, int FractionBits, bool Infinite>
struct small_format {
  /// Holds the bits.
  using raw_type =
      cuda::std::conditional_t<1 + ExponentBits + FractionBits == 8, uint8_t, uint16_t>;
  /// As safetensors spells it.
  static constexpr char const* name = sizeof(raw_type) == 2 ? "F16"
                                      : Infinite            ? "F8_E5M2"
                                                            : "F8_E4M3";
  static constexpr int draw_bits = 32;          ///< random bits that stochastic takes
  static constexpr bool saturates = !Infinite;  ///< finite values stop at the largest one

  /// The value of some bits. @param[in] raw bits @return its value
  TIEROPT_HOST_DEVICE static float decode(raw_type raw) {
    uint32_t const u = raw & nan;
    uint32_t const magnitude = u << shift;
    // One multiplication rebiases the exponent and normalises subnormals; it is exact.
    float const value = mul(from_bits(magnitude), from_bits((254u << 23) - (bias << 23)));
    uint32_t const finite = bits(value);
    uint32_t const special = magnitude | 0x7f800000u;  // infinity, or NaN with its payload
    uint32_t const sign = static_cast<uint32_t>(raw & (nan + 1u)) << sign_shift;
    return from_bits(sign | (u > largest ? special : finite));
  }
  /// Nearest even; NaN becomes 0x7FFF or 0x7F, as on the device. @param[in] x value @return bits
  TIEROPT_HOST_DEVICE static raw_type nearest(float x) {
    constexpr uint32_t below_half = (1u << (shift - 1)) - 1;
    // Its ulp is the ulp of the subnormals.
    constexpr uint32_t magic = (127u + 24u - bias - FractionBits) << 23;
    uint32_t const u = bits(x), magnitude = u & 0x7fffffffu;
    uint32_t const normal =
        (magnitude + below_half + ((magnitude >> shift) & 1u) - rebias) >> shift;
    uint32_t const subnormal = bits(add(from_bits(magnitude), from_bits(magic))) - magic;
    return finish(u, normal, subnormal);
  }
  /// Up with the probability of the fraction.
  ///
  /// Exact for normal results, where the top 23 - FractionBits of the bits decide; the fraction of
  /// a subnormal result is first cut to 31 bits.
  /// @param[in] x value
  /// @param[in] r 32 random bits
  /// @return bits
  TIEROPT_HOST_DEVICE static raw_type stochastic(float x, uint32_t r) {
    uint32_t const u = bits(x), magnitude = u & 0x7fffffffu;
    uint32_t const normal = (magnitude + (r >> (32 - shift)) - rebias) >> shift;
    uint32_t const small = magnitude < smallest_normal ? magnitude : 0u;
    float const steps = mul(from_bits(small), from_bits((126u + bias + FractionBits) << 23));
    int const whole = static_cast<int>(steps);
    int const fraction = static_cast<int>(mul(add(steps, -static_cast<float>(whole)), 0x1p31f));
    uint32_t const up = (static_cast<uint32_t>(fraction) + (r >> 1)) >> 31;
    return finish(u, normal, static_cast<uint32_t>(whole) + up);
  }
  /// The largest finite value. @return it
  TIEROPT_HOST_DEVICE static constexpr float max() {
    return __builtin_bit_cast(float, (largest << shift) + rebias);
  }

 private:
  static constexpr int shift = 23 - FractionBits;
  static constexpr int sign_shift = 31 - ExponentBits - FractionBits;
  static constexpr uint32_t bias = (1u << (ExponentBits - 1)) - 1;
  static constexpr uint32_t rebias = (127u - bias) << 23;
  static constexpr uint32_t smallest_normal = rebias + (1u << 23);
  static constexpr uint32_t nan = (1u << (ExponentBits + FractionBits)) - 1;
  static constexpr uint32_t infinity = nan + 1 - (1u << FractionBits);
  static constexpr uint32_t largest = Infinite ? infinity - 1 : nan - 1;

  // Masks, since g++ vectorises no arithmetic that it has moved into a branch.
  TIEROPT_HOST_DEVICE static raw_type finish(uint32_t u, uint32_t normal, uint32_t subnormal) {
    constexpr uint32_t top = Infinite ? infinity : largest;  // where overflow goes
    uint32_t const magnitude = u & 0x7fffffffu, sign = (u >> sign_shift) & (nan + 1);
    uint32_t const clamped = normal < top ? normal : top;
    uint32_t const small = mask(magnitude < smallest_normal);
    uint32_t const lost = mask(magnitude >= 0x7f800000u + (Infinite ? 1 : 0));
    uint32_t const h = (subnormal & small) | (clamped & ~small) | sign;
    return static_cast<raw_type>((nan & lost) | (h & ~lost));
  }
  TIEROPT_HOST_DEVICE static uint32_t mask(bool all) { return 0u - static_cast<uint32_t>(all); }
};

using fp16_format = small_format<5, 10, true>;  ///< the bits of IEEE binary16
using e4m3_format = small_format<4, 3, false>;  ///< the bits of fp8_e4m3
using e5m2_format = small_format<5, 2, true>;   ///< the bits of fp8_e5m2

/// The codec of a type with the bits of a format; derive storage<YourType> from it.
/// @tparam T a trivially copyable type of the format's size; of two chars, it must not be
/// alignas(2) (nvcc 13.0)
/// @tparam Format bf16_format, fp16_format, e4m3_format or e5m2_format
template <class T, class Format>
struct storage_as {
  using format = Format;                       ///< of the bits
  using raw_type = typename Format::raw_type;  ///< holds the bits
  static_assert(sizeof(T) == sizeof(raw_type),
                "[tieropt-storage-size] storage_as needs a type with as many bytes as the format; "
                "see tieropt/precision/storage.hpp");
  static constexpr char const* name = Format::name;    ///< as safetensors spells it
  static constexpr bool draws = true;                  ///< stochastic rounding uses random bits
  static constexpr int draw_bits = Format::draw_bits;  ///< so many of them

  /// The value of an element. @tparam C compute type @param[in] x element @return its value
  template <compute_type C>
  TIEROPT_HOST_DEVICE static C decode(T const& x) {
    raw_type raw;  // g++ vectorises the copy, but no bit_cast of a struct
    __builtin_memcpy(&raw, &x, sizeof raw);
    return to<C>(Format::decode(raw));
  }
  /// Nearest even, one rounding. @tparam C compute type @param[in] x value @return element
  template <compute_type C>
  TIEROPT_HOST_DEVICE static T nearest(C x) {
    if constexpr (cuda::std::same_as<C, double>) {
      return pack(Format::nearest(narrow_to_odd(x)));
    } else {
      return pack(Format::nearest(x));
    }
  }
  /// Stochastic; a double is first rounded to float. @tparam C compute type @param[in] x value
  /// @param[in] r draw_bits random bits @return element
  template <compute_type C>
  TIEROPT_HOST_DEVICE static T stochastic(C x, uint32_t r) {
    float y = to<float>(x);
    if constexpr (cuda::std::same_as<C, double> && Format::saturates) {
      // What overflows in float is finite nevertheless.
      if ((bits(y) & 0x7fffffffu) == 0x7f800000u) y = narrow_to_odd(x);
    }
    return pack(Format::stochastic(y, r));
  }

 private:
  TIEROPT_HOST_DEVICE static T pack(raw_type raw) {
    T x;
    __builtin_memcpy(&x, &raw, sizeof x);
    return x;
  }
};

/// How T is stored; specialise it for a type of your own.
///
/// A codec has `static constexpr bool draws` and, for the compute types C, the static functions
/// `C decode<C>(T)`, `T nearest(C)` and `T stochastic(C, uint32_t)`. It may have `static constexpr
/// int draw_bits`, 16 or 32 (else 16), and `static constexpr char const* name`.
/// @tparam T element type of a buffer
template <class T>
struct storage;

/// bfloat16.
template <>
struct storage<bf16> : storage_as<bf16, bf16_format> {};

/// IEEE binary16.
template <>
struct storage<fp16> : storage_as<fp16, fp16_format> {};

/// fp8 with 3 fraction bits.
template <>
struct storage<fp8_e4m3> : storage_as<fp8_e4m3, e4m3_format> {};

/// fp8 with 2 fraction bits.
template <>
struct storage<fp8_e5m2> : storage_as<fp8_e5m2, e5m2_format> {};

/// float and double: always rounded to nearest; NaN is stored with the device's bits.
template <compute_type T>
struct storage<T> {
  /// As safetensors spells it.
  static constexpr char const* name = sizeof(T) == 4 ? "F32" : "F64";
  static constexpr bool draws = false;  ///< never rounds stochastically

  /// The value of an element. @tparam C compute type @param[in] x element @return its value
  template <compute_type C>
  TIEROPT_HOST_DEVICE static C decode(T const& x) {
    return to<C>(x);
  }
  /// Nearest even. @tparam C compute type @param[in] x value @return element
  template <compute_type C>
  TIEROPT_HOST_DEVICE static T nearest(C x) {
    return canonical_nan(to<T>(x));
  }
  /// Nearest even. @tparam C compute type @param[in] x value @return element
  template <compute_type C>
  TIEROPT_HOST_DEVICE static T stochastic(C x, uint32_t) {
    return nearest(x);
  }
};

/// An element type that the library can load and store.
template <class T>
concept storable = requires(T x) {
  { storage<T>::draws } -> cuda::std::convertible_to<bool>;
  { storage<T>::template decode<float>(x) } -> cuda::std::same_as<float>;
  { storage<T>::nearest(1.0f) } -> cuda::std::same_as<T>;
  { storage<T>::stochastic(1.0f, 0u) } -> cuda::std::same_as<T>;
};

/// Random bits that the stochastic rounding of a codec takes: its draw_bits, 16 without.
/// @tparam Codec a codec
template <class Codec>
inline constexpr int draw_bits_of = 16;
/// A codec that says it.
/// @tparam Codec a codec
template <class Codec>
  requires requires { Codec::draw_bits; }
inline constexpr int draw_bits_of<Codec> = Codec::draw_bits;

/// What files call an element type.
/// @tparam T element type
/// @return the name of its codec, "" without
template <class T>
consteval char const* codec_name() {
  if constexpr (requires { storage<T>::name; }) {
    return storage<T>::name;
  } else {
    return "";
  }
}

}  // namespace v0_1
}  // namespace tieropt
