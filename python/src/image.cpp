// SPDX-License-Identifier: Apache-2.0
#include "python/src/image.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <string>

#include "cardan/messages/image_format.hpp"
#include "cardan/messages/layout_walk.hpp"
#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"
#include "python/src/message.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Kind = TypeLayout::Kind;

const TypeLayout::Field& field_of(const Message& m, const char* name) {
  const TypeLayout::Field* const f = find_field(*m.layout, name);
  if (f == nullptr) raise(PyExc_TypeError, m.layout->name + " has no field '" + name + "', which an image has");
  return *f;
}

std::uint64_t number(const Message& m, const char* name) {
  const TypeLayout::Field& f = field_of(m, name);
  if (f.type->kind == Kind::Bool) return static_cast<std::uint8_t>(m.at[f.offset]) != 0 ? 1 : 0;
  if (f.type->kind != Kind::Integer) raise(PyExc_TypeError, std::string("an image's '") + name + "' is an integer");
  return detail::with_number_of(f.type->size, [&](auto value) {
    std::memcpy(&value, m.at + f.offset, sizeof value);
    return std::uint64_t{value};
  });
}

std::string encoding_of(const Message& m) {
  const TypeLayout::Field& f = field_of(m, "encoding");
  std::byte* const at = m.at + f.offset;
  if (f.type->kind == Kind::FixedString) {
    const std::size_t bytes = std::min<std::size_t>(detail::count_at(at), f.type->count);
    return {reinterpret_cast<const char*>(at) + sizeof(std::uint32_t), bytes};
  }
  if (f.type->kind != Kind::String) raise(PyExc_TypeError, "an image's 'encoding' is a text");
  const Elements all = elements_of(*m.content, *f.type, at);
  return {reinterpret_cast<const char*>(all.first), std::min<std::size_t>(all.count, 256)};
}

/// Never freed: the module is not unloaded.
PyObject* dtype_of(const ImageFormat& format, bool big_endian) {
  static std::array<PyObject*, 16> known{};
  constexpr std::array<const char*, 7> kWords = {"u1", "i1", "u2", "i2", "i4", "f4", "f8"};
  PyObject*& dtype = known[2 * std::size_t{format.depth} + (big_endian ? 1 : 0)];
  if (dtype == nullptr) {
    nb::object made =
        nb::module_::import_("numpy").attr("dtype")(std::string(big_endian ? ">" : "<") + kWords[format.depth]);
    dtype = made.release().ptr();
  }
  return dtype;
}

[[noreturn]] void contradiction(const std::string& what) {
  throw Error(ErrorCode::InvalidArgument, "the image contradicts itself: " + what, "its publisher filled it wrongly");
}

/// The pixels: (rows, columns) of one channel, else (rows, columns, channels).
nb::object mat(const Message& m) {
  m.content->require_readable();
  const ImageFormat format = image_format_or_throw(encoding_of(m));
  const std::uint64_t width = number(m, "width"), step = number(m, "step"), height = number(m, "height");
  const TypeLayout::Field& f = field_of(m, "data");
  if (f.type->kind != Kind::Vector || f.type->element->size != 1)
    raise(PyExc_TypeError, "an image's 'data' is a list of bytes");
  const Elements data = elements_of(*m.content, *f.type, m.at + f.offset);
  if (width > kMostImageRows || height > kMostImageRows || step > (std::uint64_t{1} << 32))
    contradiction(std::to_string(height) + " rows of " + std::to_string(width) + " pixels");
  const std::uint64_t rows = format.rows(static_cast<std::uint32_t>(height)),
                      row = format.row_bytes(static_cast<std::uint32_t>(width));
  if (step < row) contradiction("a row of " + std::to_string(step) + " bytes for " + std::to_string(width) + " pixels");
  if (rows * step > data.count)
    contradiction(std::to_string(rows) + " rows of " + std::to_string(step) + " bytes in " +
                  std::to_string(data.count));
  const auto pixel = static_cast<Py_ssize_t>(format.pixel_bytes());
  const auto signed_rows = static_cast<Py_ssize_t>(rows), columns = static_cast<Py_ssize_t>(width),
             stride = static_cast<Py_ssize_t>(step);
  nb::object view = nb::cast(View{m.content, data.first, data.count});
  PyObject* const dtype = dtype_of(format, number(m, "is_bigendian") != 0);
  const Py_ssize_t channels = format.channels;
  nb::object array =
      nb::steal(channels == 1 ? PyObject_CallFunction(array_class(), "(nn)OOi(nn)", signed_rows, columns, dtype,
                                                      view.ptr(), 0, stride, pixel)
                              : PyObject_CallFunction(array_class(), "(nnn)OOi(nnn)", signed_rows, columns, channels,
                                                      dtype, view.ptr(), 0, stride, pixel, pixel / channels));
  if (!array.is_valid()) throw_python();
  if (m.content->writable()) m.content->track(array.ptr());
  return array;
}

}  // namespace

void bind_image(nb::module_& m) {
  m.def("image_format", [](const std::string& encoding) {
    const ImageFormat format = image_format_or_throw(encoding);
    return nb::make_tuple(static_cast<int>(format.depth), format.channels, format.row_halves);
  });
  m.def("image_mat", &mat, nb::arg("image"));
}

}  // namespace cardan::python
