// SPDX-License-Identifier: Apache-2.0
#include "python/src/numpy_array.hpp"

#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

/// Of NumPy's table of C functions, whose places stay the same within a version of its binary interface. Its headers
/// cannot be used with Python's stable one.
struct Functions {
  PyObject* (*new_from_descr)(PyTypeObject*, PyObject* dtype, int dimensions, const Py_ssize_t* sizes,
                              const Py_ssize_t* strides, void* data, int flags, PyObject* like) = nullptr;
  int (*set_base_object)(PyObject* array, PyObject* base) = nullptr;
};
constexpr std::size_t kVersion = 0, kNewFromDescr = 94, kSetBaseObject = 282;
constexpr unsigned kNumPy1 = 0x01000009, kNumPy2 = 0x02000000;
constexpr int kWritable = 0x0400;

bool avoided = false;  // by a test

Functions load() {
  Functions found;
  nb::object table;
  for (const char* const module : {"numpy._core._multiarray_umath", "numpy.core._multiarray_umath"}) {
    nb::object imported = nb::steal(PyImport_ImportModule(module));
    if (imported.is_valid()) table = nb::steal(PyObject_GetAttrString(imported.ptr(), "_ARRAY_API"));
    if (table.is_valid()) break;
    PyErr_Clear();
  }
  auto** const functions = table.is_valid() ? static_cast<void**>(PyCapsule_GetPointer(table.ptr(), nullptr)) : nullptr;
  if (functions == nullptr) {
    PyErr_Clear();
    return found;
  }
  const unsigned version = reinterpret_cast<unsigned (*)()>(functions[kVersion])();
  if (version != kNumPy1 && version != kNumPy2) return found;
  found.new_from_descr = reinterpret_cast<decltype(found.new_from_descr)>(functions[kNewFromDescr]);
  found.set_base_object = reinterpret_cast<decltype(found.set_base_object)>(functions[kSetBaseObject]);
  table.release();  // its functions stay
  return found;
}

nb::object tuple_of(std::span<const Py_ssize_t> numbers) {
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  if (!made.is_valid()) throw_python();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromSsize_t(numbers[i]));
  return made;
}

}  // namespace

PyObject* array_class() {
  // Not in its initializer: an import gives up the GIL, and a second thread that waits for the first would not.
  static PyObject* found = nullptr;
  if (found == nullptr) {
    nb::object made = nb::module_::import_("numpy").attr("ndarray");
    found = made.release().ptr();
  }
  return found;
}

nb::object numpy_array(PyObject* dtype, const ArrayShape& shape, const std::shared_ptr<Content>& content,
                       std::byte* data, std::size_t bytes, nb::handle owner) {
  static Functions numpy;
  static bool loaded = false;
  if (!loaded) {  // as in array_class()
    numpy = load();
    loaded = true;
  }
  const bool known = numpy.new_from_descr != nullptr && !avoided;
  nb::object view;
  if (!known || !owner.is_valid()) owner = view = nb::cast(View{content, data, bytes});
  nb::object made;
  if (known) {
    Py_INCREF(dtype);  // the call takes it
    made = nb::steal(numpy.new_from_descr(reinterpret_cast<PyTypeObject*>(array_class()), dtype,
                                          static_cast<int>(shape.sizes.size()), shape.sizes.data(),
                                          shape.strides.data(), data, content->writable() ? kWritable : 0, nullptr));
    if (!made.is_valid()) throw_python();
    Py_INCREF(owner.ptr());  // the call takes it, also when it fails
    if (numpy.set_base_object(made.ptr(), owner.ptr()) != 0) throw_python();
  } else {
    made = nb::steal(PyObject_CallFunction(array_class(), "OOOiO", tuple_of(shape.sizes).ptr(), dtype, owner.ptr(), 0,
                                           tuple_of(shape.strides).ptr()));
    if (!made.is_valid()) throw_python();
  }
  if (content->writable()) content->track(made.ptr());
  return made;
}

void bind_numpy_array(nb::module_& m) {
  m.def("_avoid_numpy_functions", [](bool on) { avoided = on; });
}

}  // namespace cardan::python
