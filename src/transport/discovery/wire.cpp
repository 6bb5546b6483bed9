// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/wire.hpp"

#include <nlohmann/json.hpp>

#include "src/base/printable.hpp"

namespace cardan::detail::wire {

std::optional<nlohmann::json> parse(const std::string& text) {
  constexpr int kDeepest = 16;  // copying or printing a value takes stack for each of its levels
  bool too_deep = false;
  const auto look = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  auto j = nlohmann::json::parse(text, look, false);
  if (too_deep || j.is_discarded() || !j.is_object() || !j.contains("op") || !j["op"].is_string()) return std::nullopt;
  return j;
}

std::uint64_t number(const nlohmann::json& j, const char* key, std::uint64_t otherwise) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : otherwise;
}

std::int64_t signed_number(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

bool flag(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_boolean() && it->get<bool>();
}

std::string text(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_string()) return {};
  return printable(it->get_ref<const std::string&>(), 1024);
}

std::string print(const nlohmann::json& j) { return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

}  // namespace cardan::detail::wire
