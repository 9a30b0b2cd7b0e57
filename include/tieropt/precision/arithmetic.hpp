// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// IEEE arithmetic with the same bits on every compiler, flag and side. Layer: precision.
///
/// On the device it is PTX without .ftz, since --use_fast_math rewrites even the _rn intrinsics.
/// On the host a product is an fma with -0, which no compiler contracts into a following add.
/// A user's own part gets the same bits on both sides only through these functions, neg included: a
/// minus sign flushes subnormals under --use_fast_math, and g++ turns -fma(a, b, c) into one
/// instruction whose zero has the other sign.
#pragma once

#include <tieropt/config.hpp>

#include <cuda/std/concepts>

namespace tieropt {
inline namespace v0_1 {

/// The types that are computed in.
template <class T>
concept compute_type = cuda::std::same_as<T, float> || cuda::std::same_as<T, double>;

// Templates, so that a using-directive for tieropt never makes ::sqrt and its kin ambiguous.

/// a b + c, rounded once.
/// @tparam T compute type
/// @param[in] a factor @param[in] b factor @param[in] c addend @return sum
template <compute_type T>
TIEROPT_HOST_DEVICE T fma(T a, T b, T c) {
#if defined(__CUDA_ARCH__)
  T d;
  if constexpr (cuda::std::same_as<T, float>) {
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  } else {
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(d) : "d"(a), "d"(b), "d"(c));
  }
  return d;
#else
  if constexpr (cuda::std::same_as<T, float>) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
#endif
}

/// a b, never contracted.
/// @tparam T compute type
/// @param[in] a factor @param[in] b factor @return product
template <compute_type T>
TIEROPT_HOST_DEVICE T mul(T a, T b) {
#if defined(__CUDA_ARCH__)
  T d;
  if constexpr (cuda::std::same_as<T, float>) {
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  } else {
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  }
  return d;
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return fma(a, b, T(-0.0));
#else
  return a * b;
#endif
}

/// a + b.
/// @tparam T compute type
/// @param[in] a addend @param[in] b addend @return sum
template <compute_type T>
TIEROPT_HOST_DEVICE T add(T a, T b) {
#if defined(__CUDA_ARCH__)
  T d;
  if constexpr (cuda::std::same_as<T, float>) {
    asm("add.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  } else {
    asm("add.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  }
  return d;
#else
  return a + b;
#endif
}

/// a / b.
/// @tparam T compute type
/// @param[in] a dividend @param[in] b divisor @return quotient
template <compute_type T>
TIEROPT_HOST_DEVICE T div(T a, T b) {
#if defined(__CUDA_ARCH__)
  T d;
  if constexpr (cuda::std::same_as<T, float>) {
    asm("div.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  } else {
    asm("div.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  }
  return d;
#else
  return a / b;
#endif
}

/// Square root.
/// @tparam T compute type
/// @param[in] a radicand @return root
template <compute_type T>
TIEROPT_HOST_DEVICE T sqrt(T a) {
#if defined(__CUDA_ARCH__)
  T d;
  if constexpr (cuda::std::same_as<T, float>) {
    asm("sqrt.rn.f32 %0, %1;" : "=f"(d) : "f"(a));
  } else {
    asm("sqrt.rn.f64 %0, %1;" : "=d"(d) : "d"(a));
  }
  return d;
#else
  if constexpr (cuda::std::same_as<T, float>) {
    return __builtin_sqrtf(a);
  } else {
    return __builtin_sqrt(a);
  }
#endif
}

/// Rounds to float, overflow to infinity. @param[in] x value @return nearest float
TIEROPT_HOST_DEVICE float narrow(double x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("cvt.rn.f32.f64 %0, %1;" : "=f"(y) : "d"(x));
  return y;
#else
  return static_cast<float>(x);
#endif
}

/// Exact widening, subnormals too. @param[in] x value @return the same value
TIEROPT_HOST_DEVICE double widen(float x) {
#if defined(__CUDA_ARCH__)
  double y;
  asm("cvt.f64.f32 %0, %1;" : "=d"(y) : "f"(x));
  return y;
#else
  return x;
#endif
}

/// Whether a value is NaN. @tparam T compute type @param[in] x value @return true for NaN
template <compute_type T>
TIEROPT_HOST_DEVICE bool is_nan(T x) {
  return x != x;
}

/// The value itself, or the device's NaN: what is stored has the same bits on both sides.
/// @param[in] x value @return x, 0x7FFFFFFF for every NaN
TIEROPT_HOST_DEVICE float canonical_nan(float x) {
#if defined(__CUDA_ARCH__)
  return add(x, -0.0f);  // of a NaN the device makes that one
#else
  return is_nan(x) ? __builtin_bit_cast(float, 0x7fffffffu) : x;
#endif
}
/// The value itself, or one NaN. @param[in] x value @return x, 0x7FFFFFFFFFFFFFFF for every NaN
TIEROPT_HOST_DEVICE double canonical_nan(double x) {
  return is_nan(x) ? __builtin_bit_cast(double, 0x7fffffffffffffffu) : x;
}

/// Converts between compute types, rounding to nearest where it narrows.
/// @tparam To float or double
/// @tparam From float or double
/// @param[in] x value
/// @return x as To
template <compute_type To, compute_type From>
TIEROPT_HOST_DEVICE To to(From x) {
  if constexpr (cuda::std::same_as<To, From>) {
    return x;
  } else if constexpr (cuda::std::same_as<To, float>) {
    return narrow(x);
  } else {
    return widen(x);
  }
}

/// The bits of a float. @param[in] x value @return its bits
TIEROPT_HOST_DEVICE uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
/// The float of some bits. @param[in] u bits @return its value
TIEROPT_HOST_DEVICE float from_bits(uint32_t u) { return __builtin_bit_cast(float, u); }
/// The bits of a double. @param[in] x value @return its bits
TIEROPT_HOST_DEVICE uint64_t bits(double x) { return __builtin_bit_cast(uint64_t, x); }
/// The double of some bits. @param[in] u bits @return its value
TIEROPT_HOST_DEVICE double from_bits(uint64_t u) { return __builtin_bit_cast(double, u); }

/// -x, in any case the other sign. @param[in] x value @return -x
TIEROPT_HOST_DEVICE float neg(float x) { return from_bits(bits(x) ^ 0x80000000u); }
/// -x, in any case the other sign. @param[in] x value @return -x
TIEROPT_HOST_DEVICE double neg(double x) { return from_bits(bits(x) ^ (uint64_t{1} << 63)); }

/// Whether a value is +0 or -0; under --use_fast_math a comparison takes subnormals for 0.
/// @tparam T compute type @param[in] x value @return true for 0
template <compute_type T>
TIEROPT_HOST_DEVICE bool is_zero(T x) {
  return (bits(x) << 1) == 0;
}
/// 1 with a sign. @param[in] x value, or NaN @return 1 or -1
TIEROPT_HOST_DEVICE float unit_of(float x) {
  return from_bits((bits(x) & 0x80000000u) | 0x3f800000u);
}
/// 1 with a sign. @param[in] x value, or NaN @return 1 or -1
TIEROPT_HOST_DEVICE double unit_of(double x) {
  return from_bits((bits(x) & (uint64_t{1} << 63)) | (uint64_t{1023} << 52));
}

/// The larger, +0 above -0; the other one where one is NaN.
/// @tparam T compute type
/// @param[in] a value @param[in] b value @return maximum
template <compute_type T>
TIEROPT_HOST_DEVICE T max(T a, T b) {
#if defined(__CUDA_ARCH__)
  T d;
  if constexpr (cuda::std::same_as<T, float>) {
    asm("max.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  } else {
    asm("max.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  }
  return d;
#else
  // Of two zeros the positive one: both signs in one AND.
  return a < b || a != a ? b : a == b ? from_bits(bits(a) & bits(b)) : a;
#endif
}

}  // namespace v0_1
}  // namespace tieropt
