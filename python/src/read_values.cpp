// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "src/messages/layout_walk.hpp"
#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"
#include "python/src/message.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Kind = TypeLayout::Kind;

template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

nb::object stolen(PyObject* object) {
  if (object == nullptr) throw_python();
  return nb::steal(object);
}

nb::object integer(const TypeLayout& t, const std::byte* at) {
  return detail::with_number_of(t.size, [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    if (is_signed(t)) return stolen(PyLong_FromLongLong(std::make_signed_t<decltype(value)>(value)));
    return stolen(PyLong_FromUnsignedLongLong(value));
  });
}

nb::object text(const std::byte* first, std::size_t bytes) {
  // Copied before it is decoded: the author of the payload may still be writing.
  const std::string copy(reinterpret_cast<const char*>(first), bytes);
  return stolen(PyUnicode_DecodeUTF8(copy.data(), static_cast<Py_ssize_t>(copy.size()), "replace"));
}

nb::object wide_text(const std::byte* first, std::size_t letters) {
  const std::string copy(reinterpret_cast<const char*>(first), letters * sizeof(char16_t));
  int little_endian = -1;
  return stolen(PyUnicode_DecodeUTF16(copy.data(), static_cast<Py_ssize_t>(copy.size()), "replace", &little_endian));
}

nb::object list_of(const std::shared_ptr<Content>& content, const TypeLayout& element, std::byte* first,
                   std::size_t count) {
  if (is_number(element)) return array_over(content, element, first, count);
  if (element.kind == Kind::Message) return nb::cast(Records{content, &element, first, count});
  nb::list all;
  for (std::size_t i = 0; i < count; ++i) all.append(read(content, element, first + i * element.size));
  return all;
}

}  // namespace

bool is_number(const TypeLayout& t) noexcept { return t.kind == Kind::Bool || detail::is_plain_number(t); }

Elements elements_of(const Content& content, const TypeLayout& t, std::byte* at) {
  if (t.kind == Kind::Array) return {at, t.count};
  if (t.kind == Kind::FixedVector)
    return {at + detail::first_of_fixed(t), std::min<std::size_t>(detail::count_at(at), t.count)};
  auto& vector = *reinterpret_cast<shm::VectorBase*>(at);
  if (content.checked(at)) return {static_cast<std::byte*>(vector.elements()), vector.element_count()};
  shm::VectorBase::Elements found{};
  static constexpr std::byte kNowhere{};
  const std::span<const std::byte> payload = content.payload();
  if (!vector.find_elements(payload.empty() ? &kNowhere : payload.data(), payload.size(), detail::element_bytes(t),
                            detail::element_alignment(t), found))
    throw Error(ErrorCode::Incompatible, "a list of the message lies outside of it: its publisher is hostile or broken",
                "cardan topic info names it");
  return {const_cast<std::byte*>(found.first), found.count};
}

nb::object read(const std::shared_ptr<Content>& content, const TypeLayout& t, std::byte* at) {
  switch (t.kind) {
    case Kind::Bool:
      return nb::bool_(load<std::uint8_t>(at) != 0);
    case Kind::Integer:
    case Kind::Enum:
      return integer(t, at);
    case Kind::Float:
      return nb::float_(t.size == sizeof(float) ? static_cast<double>(load<float>(at)) : load<double>(at));
    case Kind::FixedString:
      return text(at + sizeof(std::uint32_t), std::min<std::size_t>(detail::count_at(at), t.count));
    case Kind::String: {
      const Elements all = elements_of(*content, t, at);
      return text(all.first, all.count);
    }
    case Kind::WString: {
      const Elements all = elements_of(*content, t, at);
      return wide_text(all.first, all.count);
    }
    case Kind::Array:
    case Kind::FixedVector:
    case Kind::Vector: {
      const Elements all = elements_of(*content, t, at);
      return list_of(content, *t.element, all.first, all.count);
    }
    case Kind::Message:
      return make_message(nb::handle(), content, t, at);
    default:
      raise(PyExc_TypeError, "a field of a kind that Python does not know");
  }
}

}  // namespace cardan::python
