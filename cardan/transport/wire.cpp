// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/wire.hpp"

#include "cardan/transport/printable.hpp"

namespace cardan::detail::wire {

std::optional<nlohmann::json> parse(const std::string& text) {
  auto j = nlohmann::json::parse(text, nullptr, false);
  if (j.is_discarded() || !j.is_object() || !j.contains("op") || !j["op"].is_string()) return std::nullopt;
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
