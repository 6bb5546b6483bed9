// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cardan::bridge::foxglove {

/// A file of the page, which the build puts into the program (page.cmake).
struct PageFile {
  std::string_view path, type, body;
};
/// Null: no such page. Any thread; does not block.
[[nodiscard]] const PageFile* page_file(std::string_view path) noexcept;

}  // namespace cardan::bridge::foxglove
