// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "cardan/type_layout.hpp"
#include "python/src/content.hpp"

namespace cardan::python {

/// A message, or a part of one, as Python sees it: its fields are attributes. Subclasses (Image) are written in Python.
struct Message {
  std::shared_ptr<Content> content;
  const TypeLayout* layout;  ///< lives as long as the content's type
  std::byte* at;
};

/// Messages in a list or an array, without a copy. A sequence in Python.
struct Records {
  std::shared_ptr<Content> content;
  const TypeLayout* element;
  std::byte* first;
  std::size_t count;
};

/// The message of an object of class Message, as instance(). Raises TypeError if it has none.
[[nodiscard]] Message& message_in(PyObject* self);

/// The field of that name, or null.
[[nodiscard]] const TypeLayout::Field* find_field(const TypeLayout& layout, std::string_view name) noexcept;

/// Raises `kind`: a message of the layout has no field `name`. The text says which ones it has. `path`: where the
/// message is in another one, "" or "detections[0].".
[[noreturn]] void raise_no_field(PyObject* kind, const TypeLayout& layout, const std::string& name,
                                 const std::string& path = {});

/// A new object of `cls`, a subclass of Message; none: the class that Python has for the type's name.
[[nodiscard]] nanobind::object make_message(nanobind::handle cls, std::shared_ptr<Content> content,
                                            const TypeLayout& layout, std::byte* at);

/// An object of `cls` without a message, for place_message(): what takes time before a message is there need not be
/// done after it. Raises TypeError: `cls` is not a subclass of Message.
[[nodiscard]] nanobind::object empty_message(nanobind::handle cls);
/// Gives an empty object its message.
void place_message(nanobind::handle empty, std::shared_ptr<Content> content, const TypeLayout& layout, std::byte* at);

void bind_message(nanobind::module_& m);

}  // namespace cardan::python
