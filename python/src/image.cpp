// SPDX-License-Identifier: Apache-2.0
#include "python/src/image.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "cardan/image.hpp"
#include "src/messages/layout_walk.hpp"
#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"
#include "python/src/message.hpp"
#include "python/src/numpy_array.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Kind = TypeLayout::Kind;

/// Where an image's fields are.
struct Fields {
  std::shared_ptr<const AnyType> type;  ///< keeps the layout, whose address is the key
  const TypeLayout* layout = nullptr;
  std::array<const TypeLayout::Field*, 5> numbers{};
  const TypeLayout::Field *encoding = nullptr, *data = nullptr;
};
enum Number : std::uint8_t { kHeight, kWidth, kStep, kBigEndian, kNumbers };

/// Of the last layout: a search by names would read memory that is cold in a reader that has just woken.
const Fields& fields_of(const Message& m) {
  static Fields known;
  if (known.layout == m.layout) return known;
  const auto field_of = [&](const char* name) {
    const TypeLayout::Field* const f = find_field(*m.layout, name);
    if (f == nullptr) raise(PyExc_TypeError, m.layout->name + " has no field '" + name + "', which an image has");
    return f;
  };
  Fields found{.type = m.content->shared_type(), .layout = m.layout};
  constexpr std::array<const char*, kNumbers> kNames{"height", "width", "step", "is_bigendian"};
  for (std::size_t i = 0; i < kNumbers; ++i) {
    found.numbers[i] = field_of(kNames[i]);
    const Kind kind = found.numbers[i]->type->kind;
    if (kind != Kind::Bool && kind != Kind::Integer)
      raise(PyExc_TypeError, std::string("an image's '") + kNames[i] + "' is an integer");
  }
  found.encoding = field_of("encoding");
  if (found.encoding->type->kind != Kind::FixedString && found.encoding->type->kind != Kind::String)
    raise(PyExc_TypeError, "an image's 'encoding' is a text");
  found.data = field_of("data");
  if (found.data->type->kind != Kind::Vector || found.data->type->element->size != 1)
    raise(PyExc_TypeError, "an image's 'data' is a list of bytes");
  known = std::move(found);
  return known;
}

std::uint64_t number(const Message& m, const TypeLayout::Field& f) {
  if (f.type->kind == Kind::Bool) return static_cast<std::uint8_t>(m.at[f.offset]) != 0 ? 1 : 0;
  return detail::with_number_of(f.type->size, [&](auto value) {
    std::memcpy(&value, m.at + f.offset, sizeof value);
    return std::uint64_t{value};
  });
}

/// The text lies in the message, or in its payload.
std::string_view encoding_of(const Message& m, const TypeLayout::Field& f) {
  std::byte* const at = m.at + f.offset;
  if (f.type->kind == Kind::FixedString) {
    const std::size_t bytes = std::min<std::size_t>(detail::count_at(at), f.type->count);
    return {reinterpret_cast<const char*>(at) + sizeof(std::uint32_t), bytes};
  }
  const Elements all = elements_of(*m.content, *f.type, at);
  return {reinterpret_cast<const char*>(all.first), std::min<std::size_t>(all.count, 256)};
}

/// Of the last encoding, which is copied first: a publisher may write while it is read.
const ImageFormat& format_of(std::string_view encoding) {
  static std::array<char, 32> name{};
  static std::size_t bytes = 0;
  static ImageFormat format;
  std::array<char, 32> copied{};
  if (encoding.size() > copied.size()) return format = image_format_or_throw(std::string(encoding));
  std::memcpy(copied.data(), encoding.data(), encoding.size());
  if (encoding.size() == bytes && copied == name && format.known()) return format;
  bytes = 0;
  format = image_format_or_throw({copied.data(), encoding.size()});
  name = copied;
  bytes = encoding.size();
  return format;
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

}  // namespace

nb::object image_mat(nb::handle self) {
  const Message& m = message_in(self.ptr());
  m.content->require_readable();
  const Fields& fields = fields_of(m);
  const auto value = [&](Number which) { return number(m, *fields.numbers[which]); };
  const ImageFormat format = format_of(encoding_of(m, *fields.encoding));
  const std::uint64_t width = value(kWidth), step = value(kStep), height = value(kHeight);
  const Elements data = elements_of(*m.content, *fields.data->type, m.at + fields.data->offset);
  if (width > kMostImageRows || height > kMostImageRows || step > (std::uint64_t{1} << 32))
    contradiction(std::to_string(height) + " rows of " + std::to_string(width) + " pixels");
  const std::uint64_t rows = format.rows(static_cast<std::uint32_t>(height)),
                      row = format.row_bytes(static_cast<std::uint32_t>(width));
  if (step < row) contradiction("a row of " + std::to_string(step) + " bytes for " + std::to_string(width) + " pixels");
  if (rows * step > data.count)
    contradiction(std::to_string(rows) + " rows of " + std::to_string(step) + " bytes in " +
                  std::to_string(data.count));
  const auto pixel = static_cast<Py_ssize_t>(format.pixel_bytes());
  const std::array<Py_ssize_t, 3> sizes{static_cast<Py_ssize_t>(rows), static_cast<Py_ssize_t>(width),
                                        Py_ssize_t{format.channels}};
  const std::array<Py_ssize_t, 3> strides{static_cast<Py_ssize_t>(step), pixel, pixel / format.channels};
  const std::size_t dimensions = format.channels == 1 ? 2 : 3;
  return numpy_array(dtype_of(format, value(kBigEndian) != 0),
                     {{sizes.data(), dimensions}, {strides.data(), dimensions}}, m.content, data.first, data.count,
                     self);
}

void bind_image(nb::module_& m) {
  m.def("image_format", [](const std::string& encoding) {
    const ImageFormat format = image_format_or_throw(encoding);
    return nb::make_tuple(static_cast<int>(format.depth), format.channels, format.row_halves);
  });
  m.def("image_mat", [](nb::handle_t<Message> image) { return image_mat(image); }, nb::arg("image"));
}

}  // namespace cardan::python
