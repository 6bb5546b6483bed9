// SPDX-License-Identifier: Apache-2.0
// What recordings of ours say of a channel beyond MCAP, so that it can be played again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/mcap/records.hpp"

namespace cardan::record {

/// In a channel's metadata: message_traits<T>::type_hash() of what was published, as 16 hexadecimal digits. What lies
/// in memory follows from it and the schema; from the schema alone it does not.
inline constexpr const char* kTypeHashKey = "cardan.type_hash";
[[nodiscard]] std::string type_hash_text(std::uint64_t hash);
/// Empty: there is none, or it is not such a number.
[[nodiscard]] std::optional<std::uint64_t> type_hash_of(const mcap::Channel& channel);

}  // namespace cardan::record
