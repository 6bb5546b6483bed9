// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cardan::apps {

/// As UTF-8; half of a pair becomes '?'.
[[nodiscard]] std::string utf8(std::u16string_view wide);

}  // namespace cardan::apps
