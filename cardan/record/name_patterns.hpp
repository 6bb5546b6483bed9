// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cardan::record {

// Names of topics and types by pattern, the same in every command. Any thread; nothing blocks.

/// Whether a name fits a pattern: `*` is any text, `?` one letter.
[[nodiscard]] bool fits(const std::string& pattern, const std::string& name) noexcept;
/// Whether it fits one of them.
[[nodiscard]] bool fits_one(const std::vector<std::string>& patterns, const std::string& name) noexcept;

}  // namespace cardan::record
