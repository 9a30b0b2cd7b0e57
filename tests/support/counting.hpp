// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counts what a step launches and multiplies, and runs it where tests run.
#pragma once

#include "support/plain_gemm.hpp"
#include "support/side.hpp"

#include <cstdint>

namespace testing {

/// Counts launches that have something to do.
struct counting_executor : executor {
  std::int64_t* launches;

  explicit counting_executor(std::int64_t& n) : launches{&n} {}
  template <tieropt::block_body Body>
  tieropt::status launch(std::int64_t blocks, Body const& body) const {
    *launches += blocks > 0;
    return executor::launch(blocks, body);
  }
};

/// Counts matrix products; their own launches are nobody's.
struct counting_gemm {
  std::int64_t* products;

  template <class T>
  tieropt::status operator()(tieropt::matrix_product<T> const& p) const {
    ++*products;
    return plain_gemm<executor>{}(p);
  }
};

}  // namespace testing
