// SPDX-License-Identifier: Apache-2.0
#include "python/src/arrays.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <bit>

#include "python/src/errors.hpp"
#include "python/src/instance.hpp"
#include "python/src/numpy_array.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Kind = TypeLayout::Kind;

int get_buffer(PyObject* self, Py_buffer* buffer, int flags) noexcept {
  try {
    buffer->obj = nullptr;  // what a failure leaves
    const View& view = instance<View>(self);
    if (!view.content->own()) refuse_fork();
    const bool read_only = !view.content->writable();
    return PyBuffer_FillInfo(buffer, self, view.first, static_cast<Py_ssize_t>(view.bytes), read_only ? 1 : 0, flags);
  } catch (...) {
    set_python_error();
    return -1;
  }
}

/// Never freed: the module is not unloaded. A call of NumPy by name would take longer than making the array.
PyObject* number_dtype(const TypeLayout& number) {
  static std::array<PyObject*, 16> known{};
  const std::size_t kind = number.kind == Kind::Bool ? 0 : number.kind == Kind::Float ? 1 : is_signed(number) ? 2 : 3;
  PyObject*& dtype = known[4 * kind + static_cast<std::size_t>(std::countr_zero(number.size))];
  if (dtype == nullptr) {
    nb::object made = nb::module_::import_("numpy").attr("dtype")(dtype_name(number));
    dtype = made.release().ptr();
  }
  return dtype;
}

}  // namespace

const TypeLayout& byte_type() noexcept {
  static const auto kByte = layout_of<std::uint8_t>();
  return *kByte;
}

bool is_signed(const TypeLayout& t) noexcept { return t.kind == Kind::Enum ? t.element->is_signed : t.is_signed; }

std::string dtype_name(const TypeLayout& number) {
  if (number.kind == Kind::Bool) return "bool";
  const std::string bits = std::to_string(8 * number.size);
  if (number.kind == Kind::Float) return "float" + bits;
  return (is_signed(number) ? "int" : "uint") + bits;
}

nb::object array_over(const std::shared_ptr<Content>& content, const TypeLayout& number, std::byte* first,
                      std::size_t count) {
  const auto size = static_cast<Py_ssize_t>(count), stride = static_cast<Py_ssize_t>(number.size);
  return numpy_array(number_dtype(number), {{&size, 1}, {&stride, 1}}, content, first, count * number.size);
}

void bind_view(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};
  nb::class_<View>(m, "View", nb::type_slots(slots));
}

}  // namespace cardan::python
