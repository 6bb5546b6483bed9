// SPDX-License-Identifier: Apache-2.0
#include "python/src/errors.hpp"

#include <exception>
#include <new>
#include <typeinfo>
#include <utility>

#include "cardan/detail/forked.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

PyObject* error_class = nullptr;  // lives as long as the module, which is never unloaded

const char* word(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return "invalid_argument";
    case ErrorCode::Refused:
      return "refused";
    case ErrorCode::Incompatible:
      return "incompatible";
    case ErrorCode::NameTaken:
      return "name_taken";
    case ErrorCode::NoMemory:
      return "no_memory";
    case ErrorCode::Limit:
      return "limit";
    case ErrorCode::Unavailable:
      return "unavailable";
    case ErrorCode::Forked:
      return "forked";
    case ErrorCode::System:
      break;
  }
  return "system";
}

void set(const Error& e) noexcept {
  const char* const remedy =
      e.code() == ErrorCode::Forked
          ? "start processes with multiprocessing.get_context(\"spawn\"), and make endpoints in them"
          : e.remedy().c_str();
  PyObject* const made = PyObject_CallFunction(error_class, "sss", word(e.code()), e.cause().c_str(), remedy);
  if (made == nullptr) return;
  PyErr_SetObject(error_class, made);
  Py_DECREF(made);
}

}  // namespace

void refuse_fork() {
  if (is_forked_child()) refuse_forked_child();
}

void raise(PyObject* kind, const std::string& text) {
  PyErr_SetString(kind, text.c_str());
  throw_python();
}

void translate_errors(nb::object error) {
  error_class = error.release().ptr();
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& e) {
      set(e);
    }
  });
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    set(e);
  } catch (const std::bad_cast& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

}  // namespace cardan::python
