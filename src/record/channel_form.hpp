// SPDX-License-Identifier: Apache-2.0
// Our recordings' metadata of a channel beyond MCAP, so that it can be played again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/mcap/records.hpp"

namespace cardan::record {

/// In a channel's metadata: message_traits<T>::type_hash() of the published type, as 16 hexadecimal digits. What lies
/// in memory follows from it and the schema; from the schema alone it does not.
inline constexpr const char* kTypeHashKey = "cardan.type_hash";
[[nodiscard]] std::string type_hash_text(std::uint64_t hash);
/// Empty: it is missing, or not such a number.
[[nodiscard]] std::optional<std::uint64_t> type_hash_of(const mcap::Channel& channel);

}  // namespace cardan::record
