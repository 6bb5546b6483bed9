// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// `image_format()` and `image_mat()`: pixels as a NumPy array. In C++, because a reader that has just woken has cold
/// caches, where each line of Python costs microseconds.
void bind_image(nanobind::module_& m);

}  // namespace cardan::python
