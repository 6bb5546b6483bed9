// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cardan::detail {

// Names of topics and types by pattern, the same everywhere. Any thread; nothing blocks.

/// Whether a name fits a pattern: `*` is any text, `?` one letter.
[[nodiscard]] inline bool fits(const std::string& pattern, const std::string& name) noexcept {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

/// Whether it fits one of them.
[[nodiscard]] inline bool fits_one(const std::vector<std::string>& patterns, const std::string& name) noexcept {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return fits(pattern, name); });
}

}  // namespace cardan::detail
