// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cardan::detail {

/// Text for an element or a quoted attribute of XML, SVG or HTML: the five characters that mean something there become
/// entities. Thread-safe; does not block.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace cardan::detail
