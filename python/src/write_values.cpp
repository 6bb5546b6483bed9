// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "src/messages/layout_walk.hpp"
#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"
#include "python/src/message.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Kind = TypeLayout::Kind;

/// As print() shows it.
std::string shown(const nb::object& value) { return nb::cast<std::string>(nb::str(nb::handle(value))); }

std::string class_of(nb::handle value) { return nb::cast<std::string>(nb::str(value.type().attr("__name__"))); }

[[noreturn]] void wrong_class(const std::string& name, const std::string& wanted, nb::handle value) {
  raise(PyExc_TypeError, "field '" + name + "' takes " + wanted + ", not " + class_of(value));
}

/// The text as UTF-8; valid as long as `value`.
std::string_view utf8(nb::handle value, const std::string& name) {
  if (!PyUnicode_Check(value.ptr())) wrong_class(name, "a str", value);
  Py_ssize_t bytes = 0;
  const char* const first = PyUnicode_AsUTF8AndSize(value.ptr(), &bytes);
  if (first == nullptr) throw_python();
  return {first, static_cast<std::size_t>(bytes)};
}

void write_integer(const TypeLayout& t, std::byte* at, nb::handle value, const std::string& name) {
  const bool is_signed = t.kind == Kind::Enum ? t.element->is_signed : t.is_signed;
  nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    wrong_class(name, "an int", value);
  }
  const auto out_of_range = [&] {
    PyErr_Clear();
    raise(PyExc_OverflowError, "field '" + name + "': " + nb::cast<std::string>(nb::str(number)) + " is not a " +
                                   (is_signed ? "int" : "uint") + std::to_string(8 * t.size));
  };
  const auto bits = 8 * t.size;
  std::uint64_t raw = 0;
  if (is_signed) {
    int overflow = 0;
    const long long wide = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    const long long most = std::numeric_limits<long long>::max() >> (64 - bits);
    if (overflow != 0 || wide > most || wide < -most - 1) out_of_range();
    raw = static_cast<std::uint64_t>(wide);
  } else {
    const unsigned long long wide = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr || wide > std::numeric_limits<unsigned long long>::max() >> (64 - bits))
      out_of_range();
    raw = wide;
  }
  std::memcpy(at, &raw, t.size);
}

void write_float(const TypeLayout& t, std::byte* at, nb::handle value, const std::string& name) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    wrong_class(name, "a float", value);
  }
  if (t.size == sizeof(float)) {
    const auto narrow = static_cast<float>(number);
    std::memcpy(at, &narrow, sizeof narrow);
  } else {
    std::memcpy(at, &number, sizeof number);
  }
}

void write_bool(std::byte* at, nb::handle value, const std::string& name) {
  const std::string kind = class_of(value);
  if (!PyBool_Check(value.ptr()) && kind != "bool_" && kind != "bool") wrong_class(name, "a bool", value);
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw_python();
  *at = static_cast<std::byte>(truth);
}

/// `value` as a NumPy array that can be copied to numbers of the type without loss (to floats: as floats).
nb::object as_array(const TypeLayout& number, nb::handle value, const std::string& name) {
  nb::module_ numpy = nb::module_::import_("numpy");
  if (PyBytes_Check(value.ptr()) || PyByteArray_Check(value.ptr()) || PyMemoryView_Check(value.ptr())) {
    if (number.size != 1) wrong_class(name, "a list or an array of " + dtype_name(number), value);
    return numpy.attr("frombuffer")(value, nb::arg("dtype") = "uint8");
  }
  if (PyUnicode_Check(value.ptr()) || value.is_none())
    wrong_class(name, "a list or an array of " + dtype_name(number), value);
  const std::string wanted = dtype_name(number);
  try {
    if (!nb::isinstance(value, numpy.attr("ndarray"))) {
      nb::object found = numpy.attr("asarray")(value);
      // Python's numbers take the wanted type; what does not fit is an OverflowError.
      const std::string kind = nb::cast<std::string>(found.attr("dtype").attr("kind"));
      if (nb::isinstance(value, nb::handle((PyObject*)&PyList_Type)) ||
          nb::isinstance(value, nb::handle((PyObject*)&PyTuple_Type))) {
        if (nb::cast<std::size_t>(found.attr("size")) == 0) return numpy.attr("empty")(0, nb::arg("dtype") = wanted);
        const bool fits =
            (wanted.starts_with("float") && kind != "O" && kind != "U" && kind != "S" && kind != "c") ||
            (wanted == "bool" && kind == "b") ||
            (!wanted.starts_with("float") && wanted != "bool" && (kind == "i" || kind == "u" || kind == "b"));
        if (!fits)
          raise(PyExc_TypeError, "field '" + name + "' takes a list or an array of " + wanted + ", not of " +
                                     shown(found.attr("dtype")));
        return numpy.attr("array")(value, nb::arg("dtype") = wanted);
      }
      return found;
    }
  } catch (nb::python_error& e) {
    if (e.matches(PyExc_OverflowError))
      raise(PyExc_OverflowError, "field '" + name + "': " + nb::cast<std::string>(nb::str(e.value())));
    if (e.matches(PyExc_ValueError))
      raise(PyExc_ValueError, "field '" + name + "': " + nb::cast<std::string>(nb::str(e.value())));
    throw;
  }
  return nb::borrow(value);
}

const char* casting_to(const TypeLayout& number) noexcept {
  // Floats may become less exact, as in C++; integers keep their value.
  return number.kind == Kind::Float ? "same_kind" : "safe";
}

void check_numbers(const TypeLayout& number, const nb::object& from, const std::string& name) {
  nb::object can =
      nb::module_::import_("numpy").attr("can_cast")(from.attr("dtype"), dtype_name(number), casting_to(number));
  if (PyObject_IsTrue(can.ptr()) == 1) return;
  raise(PyExc_TypeError, "field '" + name + "' takes an array of " + dtype_name(number) + ", not of " +
                             shown(from.attr("dtype")) + ": convert it with .astype()");
}

void copy_numbers(const std::shared_ptr<Content>& content, const TypeLayout& number, const Elements& to,
                  const nb::object& from) {
  if (to.count == 0) return;
  nb::object array = array_over(content, number, to.first, to.count);
  nb::module_::import_("numpy").attr("copyto")(array, from.attr("reshape")(-1),
                                               nb::arg("casting") = casting_to(number));
}

void write_message(const std::shared_ptr<Content>& content, const TypeLayout& t, std::byte* at, nb::handle value,
                   const std::string& name) {
  const std::string prefix = name.empty() ? "" : name + ".";
  if (PyDict_Check(value.ptr())) {
    for (auto [key, unused] : nb::borrow<nb::dict>(value)) {
      if (!PyUnicode_Check(key.ptr()) || find_field(t, utf8(key, name)) == nullptr)
        raise_no_field(PyExc_TypeError, t, nb::cast<std::string>(nb::str(key)), prefix);
    }
    for (const TypeLayout::Field& f : t.fields) {
      nb::object item = nb::borrow(PyDict_GetItemString(value.ptr(), f.name.c_str()));
      if (item.is_valid()) write(content, *f.type, at + f.offset, item, prefix + f.name);
    }
    return;
  }
  const bool message = nb::isinstance<Message>(value);
  for (const TypeLayout::Field& f : t.fields) {
    nb::object part = nb::steal(message ? PyObject_GetItem(value.ptr(), nb::str(f.name.c_str()).ptr())
                                        : PyObject_GetAttrString(value.ptr(), f.name.c_str()));
    if (!part.is_valid()) {
      if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0 && PyErr_ExceptionMatches(PyExc_KeyError) == 0)
        throw_python();
      PyErr_Clear();
      raise(PyExc_TypeError, (name.empty() ? "the message" : "field '" + name + "'") + " takes a " + t.name +
                                 ", a dict or an object with its fields; " + class_of(value) + " has no '" + f.name +
                                 "'");
    }
    write(content, *f.type, at + f.offset, part, prefix + f.name);
  }
}

void write_list(const std::shared_ptr<Content>& content, const TypeLayout& t, std::byte* at, nb::handle value,
                const std::string& name) {
  const auto fits = [&](std::size_t count) {
    if (t.kind == Kind::Array && count != t.count)
      raise(PyExc_ValueError,
            "field '" + name + "' has " + std::to_string(t.count) + " elements, not " + std::to_string(count));
  };
  if (is_number(*t.element)) {
    nb::object from = as_array(*t.element, value, name);
    if (t.kind != Kind::Array && nb::cast<std::size_t>(from.attr("ndim")) != 1)
      raise(PyExc_ValueError, "field '" + name + "' is one list of numbers; the array has the shape " +
                                  shown(from.attr("shape")) + ": use .ravel()");
    check_numbers(*t.element, from, name);
    const auto count = nb::cast<std::size_t>(from.attr("size"));
    fits(count);
    if (t.kind != Kind::Array) make_room(*content, t, at, count, name);
    copy_numbers(content, *t.element, elements_of(*content, t, at), from);
    return;
  }
  if (PyUnicode_Check(value.ptr()) || PyDict_Check(value.ptr())) wrong_class(name, "a list", value);
  nb::object items = nb::steal(PySequence_List(value.ptr()));
  if (!items.is_valid()) {
    PyErr_Clear();
    wrong_class(name, "a list", value);
  }
  const auto count = static_cast<std::size_t>(PyList_Size(items.ptr()));
  fits(count);
  if (t.kind != Kind::Array) make_room(*content, t, at, count, name);
  const Elements all = elements_of(*content, t, at);
  for (std::size_t i = 0; i < all.count; ++i)
    write(content, *t.element, all.first + i * t.element->size, PyList_GetItem(items.ptr(), static_cast<Py_ssize_t>(i)),
          name + "[" + std::to_string(i) + "]");
}

void write_text(const std::shared_ptr<Content>& content, const TypeLayout& t, std::byte* at, nb::handle value,
                const std::string& name) {
  if (t.kind == Kind::WString) {
    if (!PyUnicode_Check(value.ptr())) wrong_class(name, "a str", value);
    nb::object letters = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-16-le", "strict"));
    if (!letters.is_valid()) throw_python();
    const auto bytes = static_cast<std::size_t>(PyBytes_Size(letters.ptr()));
    make_room(*content, t, at, bytes / sizeof(char16_t), name);
    if (bytes != 0) std::memcpy(elements_of(*content, t, at).first, PyBytes_AsString(letters.ptr()), bytes);
    return;
  }
  const std::string_view letters = utf8(value, name);
  if (t.kind == Kind::FixedString) {
    if (letters.size() > t.count)
      raise(PyExc_ValueError, "field '" + name + "' has at most " + std::to_string(t.count) + " bytes; the text has " +
                                  std::to_string(letters.size()));
    const auto count = static_cast<std::uint32_t>(letters.size());
    std::memcpy(at, &count, sizeof count);
    std::memcpy(at + sizeof count, letters.data(), letters.size());
    return;
  }
  make_room(*content, t, at, letters.size(), name);
  if (!letters.empty()) std::memcpy(elements_of(*content, t, at).first, letters.data(), letters.size());
}

}  // namespace

void make_room(Content& content, const TypeLayout& t, std::byte* at, std::size_t count, const std::string& name) {
  if (t.count != 0 && count > t.count)
    raise(PyExc_ValueError,
          "field '" + name + "' has at most " + std::to_string(t.count) + " elements, not " + std::to_string(count));
  if (t.kind == Kind::FixedVector) {
    const auto fixed = static_cast<std::uint32_t>(count);
    std::memcpy(at, &fixed, sizeof fixed);
    std::memset(at + detail::first_of_fixed(t), 0, count * t.element->size);
    return;
  }
  auto& vector = *reinterpret_cast<shm::VectorBase*>(at);
  const std::size_t each = detail::element_bytes(t);
  const bool nested = at < content.root() || at >= content.root() + content.type().layout().size;
  const bool large = !nested && count >= detail::kLargeList / each;
  const std::uint64_t piece = nested ? detail::kNestedAlignment : shm::Arena::kAlignment;
  if (!(large && vector.try_resize_elements(count, each, detail::kLargeAlignment)) &&
      !vector.try_resize_elements(count, each, piece))
    throw Error(ErrorCode::Limit,
                "field '" + name + "' needs " + std::to_string(count) + " elements of " + std::to_string(each) +
                    " bytes, and " + (content.own() ? "" : "the topic's ") + "max_bytes is " +
                    std::to_string(content.capacity()),
                content.own() ? "raise max_bytes" : "raise max_bytes of the topic");
  if (count == 0 || t.kind != Kind::Vector || is_number(*t.element)) return;
  auto* const first = static_cast<std::byte*>(vector.elements());
  std::memset(first, 0, count * each);
  if (!t.element->in_payload) return;
  for (std::size_t i = 0; i < count; ++i)
    detail::for_each_vector_in(*t.element, first + i * each,
                               [&](shm::VectorBase& inner, const TypeLayout&) { inner.bind_to(*vector.storage()); });
}

void write(const std::shared_ptr<Content>& content, const TypeLayout& t, std::byte* at, nb::handle value,
           const std::string& name) {
  switch (t.kind) {
    case Kind::Bool:
      return write_bool(at, value, name);
    case Kind::Integer:
    case Kind::Enum:
      return write_integer(t, at, value, name);
    case Kind::Float:
      return write_float(t, at, value, name);
    case Kind::FixedString:
    case Kind::String:
    case Kind::WString:
      return write_text(content, t, at, value, name);
    case Kind::Array:
    case Kind::FixedVector:
    case Kind::Vector:
      return write_list(content, t, at, value, name);
    case Kind::Message:
      return write_message(content, t, at, value, name);
    default:
      raise(PyExc_TypeError, "field '" + name + "' is of a kind that Python does not know");
  }
}

}  // namespace cardan::python
