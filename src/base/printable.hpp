// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cardan::detail {

/// Foreign text made safe for a terminal, a log line and a JSON document: valid UTF-8, cut between two characters to at
/// most `longest` bytes. These become '?': control characters (C0, DEL, C1), characters that change the direction of
/// text, that have no width or that separate lines, and bytes that are not UTF-8.
/// Any thread; never blocks.
std::string printable(std::string_view text, std::size_t longest = std::string_view::npos);

/// The same for text of several lines: line feeds and tabs stay.
std::string printable_lines(std::string_view text, std::size_t longest = std::string_view::npos);

/// A JSON document with the same values: such characters in its strings become \uXXXX.
std::string printable_json(std::string_view json);

}  // namespace cardan::detail
