// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How often a step reads each element of the gradient: the trait, and what really happens.

#include "support/catch.hpp"
#include "support/model.hpp"
#include "support/plain_gemm.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

/// A float that counts how often it is read.
struct counted {
  float value;
};
std::int64_t reads = 0;

struct clipped_adamw : tieropt::adamw::tensor {
  using clip = tieropt::rms_clip<>;
};
struct unclipped_experts : tieropt::skewadam::corrected::experts {
  using clip = tieropt::no_clip;
};
struct unclipped_backbone : tieropt::skewadam::corrected::backbone {
  using clip = tieropt::no_clip;
};
struct clipped_lion : tieropt::lion::tensor {
  using clip = tieropt::rms_clip<>;
};
struct norm_adamw : tieropt::adamw::tensor {
  using grad_clip = tieropt::global_norm_clip;
};
struct norm_backbone : tieropt::skewadam::corrected::backbone {
  using grad_clip = tieropt::global_norm_clip;
  using fault = tieropt::skip_step;
};
struct norm_l2_experts : tieropt::skewadam::corrected::experts {
  using decay = tieropt::l2_decay;
  using grad_clip = tieropt::global_norm_clip;
};
struct narrow_backbone : tieropt::skewadam::corrected::backbone {
  using momentum = tieropt::ema_momentum<tieropt::bf16>;
};
struct cautious_adamw : tieropt::adamw::tensor {
  using transform = tieropt::cautious_update;
  using clip = tieropt::cautious_scale<>;
};

}  // namespace

template <>
struct tieropt::storage<counted> {
  static constexpr bool draws = false;
  template <class T>
  static T decode(counted const& x) {
    ++reads;
    return x.value;
  }
  static counted nearest(float x) { return {x}; }
  static counted stochastic(float x, std::uint32_t) { return {x}; }
};
template <>
struct testing::element<counted> {
  static counted encode(double x) { return {static_cast<float>(x)}; }
};

namespace {

/// Reads of a step, per element.
template <class Tier>
double reads_of(std::vector<std::int64_t> const& shape) {
  testing::model<Tier, float, counted> m{{shape}};
  tieropt::serial_executor const serial;
  auto const x = tieropt::with_gemm(serial, testing::plain_gemm<tieropt::serial_executor>{serial});
  reads = 0;
  REQUIRE(m.run(x, 2) == "");
  return static_cast<double>(reads) / static_cast<double>(2 * m.tensors[0].grad.size());
}

template <class Tier>
void check(int expected) {
  STATIC_REQUIRE(tieropt::grad_reads<Tier> == tieropt::needs<Tier>::grad_reads);
  CHECK(tieropt::grad_reads<Tier> == expected);
  CHECK(reads_of<Tier>({3, 130, 1030}) == expected);
  CHECK(reads_of<Tier>({33, 40}) == expected);
}

}  // namespace

TEST_CASE("an unclipped exact tier reads a gradient once", "[grad-reads]") {
  check<tieropt::adamw::tensor>(1);
  check<tieropt::adam::tensor>(1);
  check<tieropt::lion::tensor>(1);
  check<tieropt::rmsprop::tensor>(1);
  check<tieropt::sgd::tensor>(1);
  check<tieropt::sgd::nesterov>(1);
}

TEST_CASE("a clipped exact tier reads it twice without momentum, once with", "[grad-reads]") {
  check<tieropt::skewadam::corrected::router>(2);
  check<clipped_adamw>(1);
}

TEST_CASE("a factored tier reads it once more", "[grad-reads]") {
  check<unclipped_experts>(2);
  check<unclipped_backbone>(2);
  check<tieropt::skewadam::corrected::experts>(3);
  check<tieropt::skewadam::corrected::backbone>(2);
}

TEST_CASE("a momentum of the update does not save a reading", "[grad-reads]") {
  check<tieropt::adafactor::tensor>(3);
  check<tieropt::adafactor::with_momentum>(3);
}

TEST_CASE("what the states do not tell is read again", "[grad-reads]") {
  check<clipped_lion>(2);
  check<cautious_adamw>(2);
  check<tieropt::muon::matrix>(2);
}

TEST_CASE("a norm of all gradients costs a reading where no squares are summed", "[grad-reads]") {
  check<norm_adamw>(2);
  check<norm_backbone>(2);
  check<norm_l2_experts>(4);
}

TEST_CASE("a momentum that is rounded is not read back", "[grad-reads]") {
  check<narrow_backbone>(3);
}
