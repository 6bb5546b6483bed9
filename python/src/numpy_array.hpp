// SPDX-License-Identifier: Apache-2.0
// NumPy arrays over memory, made by NumPy's C functions: a reader that has just woken has cold caches, in which a call
// of `numpy.ndarray(…)` takes 30 µs.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <span>

#include "python/src/content.hpp"

namespace cardan::python {

/// The memory of an array.
struct ArrayShape {
  std::span<const Py_ssize_t> sizes;
  std::span<const Py_ssize_t> strides;  ///< bytes; as many as sizes
};

/// numpy.ndarray.
[[nodiscard]] PyObject* array_class();

/// An array over memory of a message, which the caller has checked to be large enough; `bytes` of it. It keeps `owner`,
/// an object that keeps the message and has no writable buffer; without one, a View. Throws python_error. With the GIL.
[[nodiscard]] nanobind::object numpy_array(PyObject* dtype, const ArrayShape& shape,
                                           const std::shared_ptr<Content>& content, std::byte* data, std::size_t bytes,
                                           nanobind::handle owner = {});

void bind_numpy_array(nanobind::module_& m);

}  // namespace cardan::python
