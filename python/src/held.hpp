// SPDX-License-Identifier: Apache-2.0
// Python objects that C++ code keeps, and calls from threads that are not the interpreter's.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "cardan/error.hpp"

namespace cardan::python {

/// A reference that any thread may drop.
using Held = std::shared_ptr<PyObject>;

[[nodiscard]] inline Held held(nanobind::object object) {
  return {object.release().ptr(), [](PyObject* last) {
            if (last == nullptr) return;
            const nanobind::gil_scoped_acquire inside;
            Py_DECREF(last);
          }};
}

/// Throws std::runtime_error, "ZeroDivisionError: division by zero (detector.py, line 12, in on_image)"; at `set_up` of
/// a cardan.Error the same one.
[[noreturn]] void throw_as_cpp(nanobind::python_error& error, bool set_up);

/// An exception that ends a program (KeyboardInterrupt, SystemExit) left a callback of this thread.
[[nodiscard]] bool is_interrupted() noexcept;
/// Keeps the interpreter's current exception, which ends the program.
void interrupt();
/// Raises it, once; nothing if there is none. With the interpreter's lock.
void raise_interruption();

/// Calls `work` with the interpreter's lock. An exception of Python leaves as a C++ one.
template <class Work>
void in_python(Work work, bool set_up = false) {
  const nanobind::gil_scoped_acquire inside;
  try {
    work();
  } catch (nanobind::python_error& error) {
    throw_as_cpp(error, set_up);
  }
}

}  // namespace cardan::python
