// SPDX-License-Identifier: Apache-2.0
// How failures reach Python: cardan::Error as cardan.Error, the interpreter's own as they are.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "cardan/error.hpp"

namespace cardan::python {

/// Throws the interpreter's current exception.
[[noreturn]] inline void throw_python() { throw nanobind::python_error(); }

/// Throws Error (Forked) in a child of fork(), with multiprocessing's remedy.
void refuse_fork();
/// In a child of fork(): gives up what has threads, which are the parent's, without its destructor.
template <class T>
void leave_to_parent(std::unique_ptr<T>& owned) noexcept {
  [[maybe_unused]] const T* const parents = owned.release();
}

/// `raise kind(text)`; kind is PyExc_TypeError and the like.
[[noreturn]] void raise(PyObject* kind, const std::string& text);

/// Makes cardan::Error the class `error` of Python: error(code, cause, remedy).
void translate_errors(nanobind::object error);

/// Sets the Python exception of the C++ one in flight. For slots of types, which nanobind does not wrap.
void set_python_error() noexcept;

}  // namespace cardan::python
