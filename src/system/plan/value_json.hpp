// SPDX-License-Identifier: Apache-2.0
// Values of parameters as JSON. Any thread; does not block.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "cardan/configuration.hpp"

namespace cardan::plan {

[[nodiscard]] nlohmann::json json_of(const config::Value& value);

/// A list of numbers is one of integers if all are whole; an empty one is of numbers. Empty: `j` is null, an object, or
/// a list of different kinds, of lists, or of more than kMostElements.
[[nodiscard]] std::optional<config::Value> value_of(const nlohmann::json& j);

/// The same, for a text. Empty also: it is not JSON.
[[nodiscard]] std::optional<config::Value> value_in_json(std::string_view text);

/// Of an answer that another process of Cardan gives. Throws Error (Incompatible) for anything else.
[[nodiscard]] config::Value needed_value_of(const nlohmann::json& j);

}  // namespace cardan::plan
