// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// IEEE arithmetic with the same bits on every compiler, flag and side. Layer: precision.
///
/// On the device it is PTX without .ftz, since --use_fast_math rewrites even the _rn intrinsics.
/// On the host a product is an fma with -0, which no compiler contracts into a following add.
/// A user's own part gets the same bits on both sides only through these functions.
#pragma once

#include <tieropt/config.hpp>

#include <cuda/std/concepts>

namespace tieropt {
inline namespace v0_1 {

/// The types that are computed in.
template <class T>
concept compute_type = cuda::std::same_as<T, float> || cuda::std::same_as<T, double>;

#if defined(__CUDA_ARCH__)

/// a b + c, rounded once. @param[in] a factor @param[in] b factor @param[in] c addend @return sum
TIEROPT_HOST_DEVICE float fma(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}
/// a b + c, rounded once. @param[in] a factor @param[in] b factor @param[in] c addend @return sum
TIEROPT_HOST_DEVICE double fma(double a, double b, double c) {
  double d;
  asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(d) : "d"(a), "d"(b), "d"(c));
  return d;
}
/// a b, never contracted. @param[in] a factor @param[in] b factor @return product
TIEROPT_HOST_DEVICE float mul(float a, float b) {
  float d;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
/// a b, never contracted. @param[in] a factor @param[in] b factor @return product
TIEROPT_HOST_DEVICE double mul(double a, double b) {
  double d;
  asm("mul.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  return d;
}
/// a + b. @param[in] a addend @param[in] b addend @return sum
TIEROPT_HOST_DEVICE float add(float a, float b) {
  float d;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
/// a + b. @param[in] a addend @param[in] b addend @return sum
TIEROPT_HOST_DEVICE double add(double a, double b) {
  double d;
  asm("add.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  return d;
}
/// a / b. @param[in] a dividend @param[in] b divisor @return quotient
TIEROPT_HOST_DEVICE float div(float a, float b) {
  float d;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
/// a / b. @param[in] a dividend @param[in] b divisor @return quotient
TIEROPT_HOST_DEVICE double div(double a, double b) {
  double d;
  asm("div.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  return d;
}
/// Square root. @param[in] a radicand @return root
TIEROPT_HOST_DEVICE float sqrt(float a) {
  float d;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(d) : "f"(a));
  return d;
}
/// Square root. @param[in] a radicand @return root
TIEROPT_HOST_DEVICE double sqrt(double a) {
  double d;
  asm("sqrt.rn.f64 %0, %1;" : "=d"(d) : "d"(a));
  return d;
}
/// The larger; the other one where one is NaN. @param[in] a value @param[in] b value @return maximum
TIEROPT_HOST_DEVICE float max(float a, float b) {
  float d;
  asm("max.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
/// The larger; the other one where one is NaN. @param[in] a value @param[in] b value @return maximum
TIEROPT_HOST_DEVICE double max(double a, double b) {
  double d;
  asm("max.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));
  return d;
}
/// Rounds to float, overflow to infinity. @param[in] x value @return nearest float
TIEROPT_HOST_DEVICE float narrow(double x) {
  float y;
  asm("cvt.rn.f32.f64 %0, %1;" : "=f"(y) : "d"(x));
  return y;
}
/// Exact widening, subnormals too. @param[in] x value @return the same value
TIEROPT_HOST_DEVICE double widen(float x) {
  double y;
  asm("cvt.f64.f32 %0, %1;" : "=d"(y) : "f"(x));
  return y;
}

#else

/// a b + c, rounded once. @param[in] a factor @param[in] b factor @param[in] c addend @return sum
TIEROPT_HOST_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
/// a b + c, rounded once. @param[in] a factor @param[in] b factor @param[in] c addend @return sum
TIEROPT_HOST_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
/// a b, never contracted. @param[in] a factor @param[in] b factor @return product
TIEROPT_HOST_DEVICE float mul(float a, float b) { return __builtin_fmaf(a, b, -0.0f); }
/// a b, never contracted. @param[in] a factor @param[in] b factor @return product
TIEROPT_HOST_DEVICE double mul(double a, double b) { return __builtin_fma(a, b, -0.0); }
#else
/// a b, never contracted. @param[in] a factor @param[in] b factor @return product
TIEROPT_HOST_DEVICE float mul(float a, float b) { return a * b; }
/// a b, never contracted. @param[in] a factor @param[in] b factor @return product
TIEROPT_HOST_DEVICE double mul(double a, double b) { return a * b; }
#endif
/// a + b. @param[in] a addend @param[in] b addend @return sum
TIEROPT_HOST_DEVICE float add(float a, float b) { return a + b; }
/// a + b. @param[in] a addend @param[in] b addend @return sum
TIEROPT_HOST_DEVICE double add(double a, double b) { return a + b; }
/// a / b. @param[in] a dividend @param[in] b divisor @return quotient
TIEROPT_HOST_DEVICE float div(float a, float b) { return a / b; }
/// a / b. @param[in] a dividend @param[in] b divisor @return quotient
TIEROPT_HOST_DEVICE double div(double a, double b) { return a / b; }
/// Square root. @param[in] a radicand @return root
TIEROPT_HOST_DEVICE float sqrt(float a) { return __builtin_sqrtf(a); }
/// Square root. @param[in] a radicand @return root
TIEROPT_HOST_DEVICE double sqrt(double a) { return __builtin_sqrt(a); }
/// The larger; the other one where one is NaN. @param[in] a value @param[in] b value @return maximum
TIEROPT_HOST_DEVICE float max(float a, float b) { return a < b || a != a ? b : a; }
/// The larger; the other one where one is NaN. @param[in] a value @param[in] b value @return maximum
TIEROPT_HOST_DEVICE double max(double a, double b) { return a < b || a != a ? b : a; }
/// Rounds to float, overflow to infinity. @param[in] x value @return nearest float
TIEROPT_HOST_DEVICE float narrow(double x) { return static_cast<float>(x); }
/// Exact widening, subnormals too. @param[in] x value @return the same value
TIEROPT_HOST_DEVICE double widen(float x) { return x; }

#endif

/// Whether a value is NaN. @param[in] x value @return true for NaN
TIEROPT_HOST_DEVICE bool is_nan(float x) { return x != x; }
/// Whether a value is NaN. @param[in] x value @return true for NaN
TIEROPT_HOST_DEVICE bool is_nan(double x) { return x != x; }

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

/// b^k by repeated squaring: the same bits on host and device, unlike pow.
/// @param[in] b base
/// @param[in] k exponent, at least 0
/// @return b^k
TIEROPT_HOST_DEVICE double power(double b, int64_t k) {
  double result = 1;
  for (; k > 0; k >>= 1) {
    if (k & 1) result = mul(result, b);
    b = mul(b, b);
  }
  return result;
}

}  // namespace v0_1
}  // namespace tieropt
