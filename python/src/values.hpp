// SPDX-License-Identifier: Apache-2.0
// The fields of messages as Python values, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>

#include "cardan/type_layout.hpp"
#include "python/src/content.hpp"

namespace cardan::python {

/// The value at `at`: numbers and texts as copies; arrays of numbers as NumPy arrays over the message's memory;
/// messages as objects over it. Throws Error: a hostile vector.
[[nodiscard]] nanobind::object read(const std::shared_ptr<Content>& content, const TypeLayout& t, std::byte* at);

/// Sets the value at `at` in a loan. `name` is for the text of errors. Throws Error (no room), and TypeError,
/// ValueError and OverflowError of Python.
void write(const std::shared_ptr<Content>& content, const TypeLayout& t, std::byte* at, nanobind::handle value,
           const std::string& name);

/// Makes room for `count` uninitialized (numbers) or zeroed elements of a vector in a loan.
void make_room(Content& content, const TypeLayout& t, std::byte* at, std::size_t count, const std::string& name);

/// Where a vector's elements are, with the checks that it needs.
struct Elements {
  std::byte* first;
  std::size_t count;
};
[[nodiscard]] Elements elements_of(const Content& content, const TypeLayout& t, std::byte* at);

/// A plain number or a bool: what NumPy has.
[[nodiscard]] bool is_number(const TypeLayout& t) noexcept;

}  // namespace cardan::python
