// SPDX-License-Identifier: Apache-2.0
// Components that are written in Python. Any thread; nothing blocks.
#pragma once

#include <algorithm>
#include <string_view>

#include "cardan/configuration.hpp"

namespace cardan::config {

/// Before the module's name, in Component::library. Component::class_name is "module:Class" then.
inline constexpr std::string_view kPythonLibrary = "python:";

[[nodiscard]] inline bool is_python(const Component& component) noexcept {
  return component.library.starts_with(kPythonLibrary);
}

/// Whether an interpreter runs the process: it has a component in Python.
[[nodiscard]] inline bool is_python(const Process& process) noexcept {
  return std::any_of(process.components.begin(), process.components.end(),
                     [](const Component& component) { return is_python(component); });
}

}  // namespace cardan::config
