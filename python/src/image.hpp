// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// The pixels of a message as an array: (rows, columns) of one channel, else (rows, columns, channels). `self` is a
/// Message. Throws Error, python_error. With the GIL.
[[nodiscard]] nanobind::object image_mat(nanobind::handle self);

/// `image_format()` and `image_mat()`: pixels as a NumPy array. In C++, because a reader that has just woken has cold
/// caches, where each line of Python costs microseconds.
void bind_image(nanobind::module_& m);

}  // namespace cardan::python
