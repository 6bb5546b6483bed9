// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

/// The handshake is JSON, one object a datagram, `op` says what it is (docs/handshake.md). Whoever reads treats every
/// field as a stranger's: missing, of another type or out of range means "no". All of it is thread safe and does not
/// block.
namespace cardan::detail::wire {

inline constexpr int kVersion = 1;

/// An object with a textual `op`, or nothing.
std::optional<nlohmann::json> parse(const std::string& text);
std::uint64_t number(const nlohmann::json& j, const char* key, std::uint64_t otherwise = 0);
std::int64_t signed_number(const nlohmann::json& j, const char* key);
bool flag(const nlohmann::json& j, const char* key);
/// At most 1,024 bytes, printable (printable.hpp): it may end up on a terminal, in a log or in JSON.
std::string text(const nlohmann::json& j, const char* key);
/// Never throws for text that is not UTF-8: names of processes need not be.
std::string print(const nlohmann::json& j);

}  // namespace cardan::detail::wire
