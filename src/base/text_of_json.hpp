// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan {

/// A value of nlohmann-json as text, on one line without its end, or indented. Names of others may not be UTF-8: that
/// does not throw.
template <class Json>
[[nodiscard]] std::string text_of_json(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cardan
