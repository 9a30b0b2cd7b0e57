// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// mdspans of any rank and strided layout are accepted, and end up as (E, R, C).

#include "support/catch.hpp"
#include "support/model.hpp"

#include <tieropt/plan/checks.hpp>

#include <cuda/std/array>
#include <cuda/std/mdspan>

namespace {

using router = tieropt::skewadam::corrected::router;
using tieropt::int64_t;

bool is(tieropt::canonical_form const& f, int64_t E, int64_t R, int64_t C) {
  return f.code == tieropt::errc::ok && f.shape.E == E && f.shape.R == R && f.shape.C == C;
}

}  // namespace

TEST_CASE("a dense view has the extents and strides of its mdspan", "[view]") {
  float data[24];
  tieropt::tensor_view<float> const v = tieropt::view(data, 2, 3, 4);
  CHECK(v.data == data);
  CHECK(v.rank == 3);
  CHECK(v.size() == 24);
  CHECK((v.extent[0] == 2 && v.extent[1] == 3 && v.extent[2] == 4));
  CHECK((v.stride[0] == 12 && v.stride[1] == 4 && v.stride[2] == 1));
  tieropt::tensor_view<float const> const read = tieropt::view(data, 2, 3, 4);
  CHECK(read.data == data);
  CHECK_FALSE(tieropt::tensor_view<float>{});
  CHECK(tieropt::tensor_view<float>{}.size() == 0);
  tieropt::tensor_view<float> const scalar = tieropt::view(data);
  CHECK(scalar.rank == 0);
  CHECK(scalar.size() == 1);
}

TEST_CASE("other layouts keep their strides", "[view]") {
  float data[100];
  using extents = cuda::std::dextents<int, 2>;
  cuda::std::mdspan<float, extents, cuda::std::layout_left> const left{data, 3, 4};
  tieropt::tensor_view<float> const l = left;
  CHECK((l.stride[0] == 1 && l.stride[1] == 3));
  cuda::std::layout_stride::mapping<extents> const mapping{extents{3, 4},
                                                           cuda::std::array<int, 2>{20, 2}};
  tieropt::tensor_view<float> const s = cuda::std::mdspan{data, mapping};
  CHECK((s.stride[0] == 20 && s.stride[1] == 2));
  cuda::std::mdspan<float, cuda::std::extents<int, 5, 6>> const fixed{data};
  tieropt::tensor_view<float> const f = fixed;
  CHECK((f.extent[0] == 5 && f.extent[1] == 6 && f.stride[0] == 6));
}

TEST_CASE("a view of what may be written is one of what is read", "[view]") {
  float data[12];
  tieropt::tensor_view<float> const written = tieropt::view(data, 3, 4);
  tieropt::tensor_view<float const> const read = written;
  CHECK((read.data == data && read.rank == 2 && read.extent[1] == 4 && read.stride[0] == 4));
  STATIC_REQUIRE_FALSE(
      std::is_convertible_v<tieropt::tensor_view<float const>, tieropt::tensor_view<float>>);
}

TEST_CASE("any rank is a stack of matrices", "[view]") {
  static float data[4096];
  auto const form = [](auto const& view) {
    using type = std::remove_cvref_t<decltype(view)>;
    return tieropt::canonical(tieropt::tensor_view<typename type::element_type>{view});
  };
  CHECK(is(form(tieropt::view(data)), 1, 1, 1));
  CHECK(is(form(tieropt::view(data, 7)), 1, 1, 7));
  CHECK(is(form(tieropt::view(data, 3, 7)), 1, 3, 7));
  CHECK(is(form(tieropt::view(data, 2, 3, 7)), 2, 3, 7));
  CHECK(is(form(tieropt::view(data, 5, 2, 3, 7)), 10, 3, 7));
  CHECK(is(form(tieropt::view(data, 1, 5, 1, 2, 1, 3, 7)), 10, 3, 7));
  CHECK(is(form(tieropt::view(data, 5, 0, 3, 7)), 0, 3, 7));
  auto const f = form(tieropt::view(data, 5, 2, 3, 7));
  CHECK((f.between[0] == 21 && f.batch.n == 1 && f.row == 7 && f.col == 1));
}

TEST_CASE("a transposed parameter and a padded gradient give the dense result", "[view]") {
  using owned = testing::owned_tensor<router, float, float>;
  owned dense{{3, 4}, 5}, other{{3, 4}, 5};
  dense.new_gradient(0);
  testing::vector<float> transposed(12), padded(3 * 9, -1.0f), moment(12);
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) {
      transposed[static_cast<std::size_t>(c * 3 + r)] = dense.param[r * 4 + c];
      padded[static_cast<std::size_t>(r * 9 + 2 * c)] = dense.grad[r * 4 + c];
    }
  }
  using extents = cuda::std::dextents<int64_t, 2>;
  auto bound = other.whole();
  bound.param = cuda::std::mdspan<float, extents, cuda::std::layout_left>{transposed.data(), 3, 4};
  bound.grad = cuda::std::mdspan{static_cast<float const*>(padded.data()),
                                 cuda::std::layout_stride::mapping<extents>{
                                     extents{3, 4}, cuda::std::array<int64_t, 2>{9, 2}}};
  bound.variance.exact =
      cuda::std::mdspan<float, extents, cuda::std::layout_left>{moment.data(), 3, 4};
  std::vector one{bound}, straight{dense.whole()};
  testing::executor const x;
  REQUIRE(testing::step_of<router>(x, one, {}, {}) == "");
  REQUIRE(testing::step_of<router>(x, straight, {}, {}) == "");
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) {
      CHECK(transposed[static_cast<std::size_t>(c * 3 + r)] == dense.param[r * 4 + c]);
      CHECK(moment[static_cast<std::size_t>(c * 3 + r)] == dense.exact[r * 4 + c]);
      CHECK(padded[static_cast<std::size_t>(r * 9 + 2 * c)] == dense.grad[r * 4 + c]);
    }
  }
}

TEST_CASE("views that split their matrices in different places give the dense result", "[view]") {
  // (2, 3, 4, 2, 5): the parameter has a gap after 12 matrices, the gradient after each 4.
  using owned = testing::owned_tensor<router, float, float>;
  std::vector<std::int64_t> const shape{2, 3, 4, 2, 5};
  owned dense{shape, 5}, other{shape, 5};
  dense.new_gradient(0);
  testing::vector<float> param(2 * 150, -1.0f), grad(6 * 50, -1.0f);
  auto const place = [](std::int64_t i, std::int64_t each, std::int64_t gap) {
    return static_cast<std::size_t>(i / each * gap + i % each);
  };
  for (std::int64_t i = 0; i < 240; ++i) {
    param[place(i, 120, 150)] = dense.param[i];
    grad[place(i, 40, 50)] = dense.grad[i];
  }
  auto bound = other.whole();
  bound.param.data = param.data();
  bound.param.stride[0] = 150;
  bound.grad.data = grad.data();
  bound.grad.stride[0] = 150;
  bound.grad.stride[1] = 50;
  std::vector one{bound}, straight{dense.whole()};
  testing::executor const x;
  REQUIRE(testing::step_of<router>(x, one, {}, {}) == "");
  REQUIRE(testing::step_of<router>(x, straight, {}, {}) == "");
  for (std::int64_t i = 0; i < 240; ++i) {
    CHECK(param[place(i, 120, 150)] == dense.param[i]);
    CHECK(other.exact[i] == dense.exact[i]);
  }
  CHECK(param[120] == -1.0f);
}
