// SPDX-License-Identifier: Apache-2.0
// The letters of JSON: strings with their escapes, and what a number looks like.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cardan::config {

struct TextError {
  std::string cause{};  ///< empty: none
  std::string remedy{};
  bool fatal = false;  ///< the end of the string is not known
};

/// Decodes the string that starts with the '"' at `at`, which moves past it.
[[nodiscard]] TextError json_text(std::string_view text, std::size_t& at, std::string& out);

[[nodiscard]] bool is_json_number(std::string_view text) noexcept;

/// As a JSON string, in double quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace cardan::config
