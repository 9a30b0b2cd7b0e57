// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// expect: [tieropt-view-layout]

#include <tieropt/view.hpp>

// A layout whose strides depend on the index.
struct triangular {
  template <class Extents>
  struct mapping : cuda::std::layout_right::mapping<Extents> {
    using layout_type = triangular;
    using cuda::std::layout_right::mapping<Extents>::mapping;
    static constexpr bool is_always_strided() noexcept { return false; }
  };
};
using extents = cuda::std::dextents<tieropt::int64_t, 2>;

#ifdef FIXED
using layout = cuda::std::layout_right;
#else
using layout = triangular;
#endif

tieropt::tensor_view<float> bind(cuda::std::mdspan<float, extents, layout> const& m) { return m; }
