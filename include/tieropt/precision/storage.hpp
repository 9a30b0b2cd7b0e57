// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How element types are stored: codecs, nearest and exact stochastic rounding. Layer: precision.
#pragma once

#include <tieropt/precision/arithmetic.hpp>

namespace tieropt {
inline namespace v0_1 {

/// bfloat16: 8 exponent bits, 7 fraction bits.
struct bf16 {
  uint16_t raw;  ///< its bits
};

/// IEEE binary16: 5 exponent bits, 10 fraction bits.
struct fp16 {
  uint16_t raw;  ///< its bits
};

/// Rounds parameters to the nearest value, ties to even.
struct nearest_rounding {
  static constexpr bool stochastic = false;  ///< draws nothing
};

/// Rounds 16-bit parameters up with the probability of the fraction; wider ones to nearest.
struct stochastic_rounding {
  static constexpr bool stochastic = true;  ///< draws 16 bits per element
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
};

/// The bits of IEEE binary16.
struct fp16_format {
  /// The value of some bits. @param[in] raw bits @return its value
  TIEROPT_HOST_DEVICE static float decode(uint16_t raw) {
    uint32_t const u = raw;
    uint32_t const magnitude = (u & 0x7fffu) << 13;
    // One multiplication rebiases the exponent and normalises subnormals; 2^112 is exact.
    float const value = mul(from_bits(magnitude), 0x1p112f);
    uint32_t const finite = bits(value);
    uint32_t const special = magnitude | 0x7f800000u;  // infinity, or NaN with its payload
    return from_bits(((u & 0x8000u) << 16) | ((u & 0x7c00u) == 0x7c00u ? special : finite));
  }
  /// Nearest even; NaN becomes 0x7FFF, as on the device. @param[in] x value @return bits
  TIEROPT_HOST_DEVICE static uint16_t nearest(float x) {
    uint32_t const u = bits(x), magnitude = u & 0x7fffffffu;
    uint32_t const normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - rebias) >> 13;
    // Below 2^-14 the ulp of |x| + 0.5 is the ulp of the subnormals, 2^-24.
    uint32_t const subnormal = bits(add(from_bits(magnitude), 0.5f)) - bits(0.5f);
    return finish(x, magnitude, normal, subnormal);
  }
  /// Up with the probability of the fraction.
  ///
  /// Exact for normal results (13 of the bits decide); subnormal results have finer fractions than
  /// 16 bits: there the fraction is first cut to 16 bits.
  /// @param[in] x value
  /// @param[in] r 16 random bits
  /// @return bits
  TIEROPT_HOST_DEVICE static uint16_t stochastic(float x, uint32_t r) {
    uint32_t const u = bits(x), magnitude = u & 0x7fffffffu;
    uint32_t const normal = (magnitude + (r >> 3) - rebias) >> 13;
    uint32_t const small = magnitude < smallest_normal ? magnitude : 0u;
    uint32_t const fixed = static_cast<uint32_t>(static_cast<int>(mul(from_bits(small), 0x1p40f)));
    return finish(x, magnitude, normal, (fixed + r) >> 16);
  }

 private:
  static constexpr uint32_t rebias = 112u << 23;            // exponent bias 127 against 15
  static constexpr uint32_t smallest_normal = 0x38800000u;  // 2^-14

  TIEROPT_HOST_DEVICE static uint16_t finish(float x, uint32_t magnitude, uint32_t normal,
                                             uint32_t subnormal) {
    uint32_t const clamped = normal < 0x7c00u ? normal : 0x7c00u;  // overflow goes to infinity
    uint32_t const h = magnitude < smallest_normal ? subnormal : clamped;
    return is_nan(x) ? uint16_t{0x7fff} : static_cast<uint16_t>(h | ((bits(x) >> 16) & 0x8000u));
  }
};

/// The codec of a 16-bit type with the bits of a format; derive storage<YourType> from it.
/// @tparam T a trivially copyable type of two bytes; of chars, it must not be alignas(2)
/// (nvcc 13.0)
/// @tparam Format bf16_format or fp16_format
template <class T, class Format>
struct storage_as {
  static_assert(sizeof(T) == 2,
                "[tieropt-storage-size] storage_as needs a type of two bytes; see "
                "tieropt/precision/storage.hpp");
  static constexpr bool draws = true;  ///< stochastic rounding uses random bits

  /// The value of an element. @tparam C compute type @param[in] x element @return its value
  template <compute_type C>
  TIEROPT_HOST_DEVICE static C decode(T const& x) {
    uint16_t raw;  // g++ vectorises the copy, but no bit_cast of a struct
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
  /// @param[in] r 16 random bits @return element
  template <compute_type C>
  TIEROPT_HOST_DEVICE static T stochastic(C x, uint32_t r) {
    return pack(Format::stochastic(to<float>(x), r));
  }

 private:
  TIEROPT_HOST_DEVICE static T pack(uint16_t raw) {
    T x;
    __builtin_memcpy(&x, &raw, sizeof x);
    return x;
  }
};

/// How T is stored; specialise it for a type of your own.
///
/// A codec has `static constexpr bool draws` and, for the compute types C, the static functions
/// `C decode<C>(T)`, `T nearest(C)` and `T stochastic(C, uint32_t)`.
/// @tparam T element type of a buffer
template <class T>
struct storage;

/// bfloat16.
template <>
struct storage<bf16> : storage_as<bf16, bf16_format> {};

/// IEEE binary16.
template <>
struct storage<fp16> : storage_as<fp16, fp16_format> {};

/// float and double: always rounded to nearest; NaN is stored with the device's bits.
template <compute_type T>
struct storage<T> {
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

}  // namespace v0_1
}  // namespace tieropt
