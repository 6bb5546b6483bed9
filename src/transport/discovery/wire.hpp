// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

/// The handshake is JSON: one object for each datagram; `op` names its kind (docs/handshake.md). The receiver treats
/// every field as a stranger's: missing, of another type or out of range means "no".
/// Everything here is thread safe and does not block.
namespace cardan::detail::wire {

inline constexpr int kVersion = 1;

/// An object with a textual `op`. Empty: it is not one.
std::optional<nlohmann::json> parse(const std::string& text);
std::uint64_t number(const nlohmann::json& j, const char* key, std::uint64_t otherwise = 0);
std::int64_t signed_number(const nlohmann::json& j, const char* key);
bool flag(const nlohmann::json& j, const char* key);
/// At most 1,024 bytes, printable (printable.hpp), because it may be shown on a terminal, in a log or in JSON.
std::string text(const nlohmann::json& j, const char* key);
/// Never throws for text that is not UTF-8, because names of processes need not be UTF-8.
std::string print(const nlohmann::json& j);

}  // namespace cardan::detail::wire
