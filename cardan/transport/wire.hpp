// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace cardan::detail::wire {

/// The handshake is JSON, one object a datagram, `op` says what it is (docs/handshake.md). Whoever reads treats every field as a
/// stranger's: missing, of another type or out of range means "no".
inline constexpr int kVersion = 1;

inline std::optional<nlohmann::json> parse(const std::string& text) {
  auto j = nlohmann::json::parse(text, nullptr, false);
  if (j.is_discarded() || !j.is_object() || !j.contains("op") || !j["op"].is_string()) return std::nullopt;
  return j;
}

inline std::uint64_t number(const nlohmann::json& j, const char* key, std::uint64_t otherwise = 0) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : otherwise;
}

inline std::int64_t signed_number(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

inline bool flag(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_boolean() && it->get<bool>();
}

inline std::string text(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_string()) return {};
  std::string s = it->get<std::string>().substr(0, 1024);
  for (char& c : s)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') c = '?';  // it may end up on a terminal
  return s;
}

/// Never throws for text that is not UTF-8: names of processes need not be.
inline std::string print(const nlohmann::json& j) { return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

}  // namespace cardan::detail::wire
