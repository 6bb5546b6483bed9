// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cardan::apps {

/// As UTF-8; half of a pair becomes '?'.
[[nodiscard]] std::string utf8(std::u16string_view wide);

/// Valid UTF-8 as UTF-16.
[[nodiscard]] std::u16string utf16(std::string_view text);

}  // namespace cardan::apps
