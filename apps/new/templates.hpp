// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cardan::apps {

/// A file that `cardan new` writes. In both texts, @name@ becomes lane_keeper, @Class@ LaneKeeper, and @schema@
/// for the line that names the schema.
struct NewFile {
  std::string_view path;
  std::string_view text;
};

[[nodiscard]] std::span<const NewFile> component_files() noexcept;
[[nodiscard]] std::span<const NewFile> project_files() noexcept;
[[nodiscard]] std::span<const NewFile> python_component_files() noexcept;
[[nodiscard]] std::span<const NewFile> python_project_files() noexcept;

}  // namespace cardan::apps
