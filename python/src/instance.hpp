// SPDX-License-Identifier: Apache-2.0
// Checks of arguments that are references, where nanobind cannot do them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "cardan/error.hpp"
#include "python/src/errors.hpp"

namespace cardan::python {

/// The C++ object in an object of a class of this module. T.__new__(T) makes one that has none. nanobind refuses it as
/// a reference, but slots (the buffer protocol, iteration, attributes) and handles get it. The class must be known:
/// Python checks it for a slot, nanobind for a handle_t<T>. Raises TypeError.
template <class T>
[[nodiscard]] T& instance(nanobind::handle object) {
  if (!nanobind::inst_ready(object))
    raise(PyExc_TypeError, "this object was not made by Cardan: it is an empty " +
                               nanobind::cast<std::string>(nanobind::str(object.type().attr("__name__"))));
  return *nanobind::inst_ptr<T>(object);
}

/// An enumerator that Python gives as its number. Throws Error.
template <class E>
[[nodiscard]] E enumerator(int number, E last, const char* what) {
  if (number < 0 || number > static_cast<int>(last))
    throw Error(ErrorCode::InvalidArgument, std::string(what) + " is " + std::to_string(number),
                "it is 0 to " + std::to_string(static_cast<int>(last)));
  return static_cast<E>(number);
}

}  // namespace cardan::python
