// SPDX-License-Identifier: Apache-2.0
// NumPy arrays over messages.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>

#include "cardan/type_layout.hpp"
#include "python/src/content.hpp"

namespace cardan::python {

/// Bytes of a message, for Python's buffer protocol: what an array is over. It keeps the message. Of a loan it is
/// writable until the publication.
struct View {
  std::shared_ptr<Content> content;
  std::byte* first;
  std::size_t bytes;
};

/// A NumPy array over `count` numbers. Of a loan it is writable, and read-only after the publication.
[[nodiscard]] nanobind::object array_over(const std::shared_ptr<Content>& content, const TypeLayout& number,
                                          std::byte* first, std::size_t count);

/// NumPy's name for a number: "uint8", "float64", "bool".
[[nodiscard]] std::string dtype_name(const TypeLayout& number);

/// Whether an integer or an enum is signed.
[[nodiscard]] bool is_signed(const TypeLayout& t) noexcept;

/// The type of plain bytes.
[[nodiscard]] const TypeLayout& byte_type() noexcept;

void bind_view(nanobind::module_& m);

}  // namespace cardan::python
