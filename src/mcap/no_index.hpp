// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cardan::mcap {

/// Of a channel in ChunkIndex::message_index_offsets that scan() made: its messages are in the chunk, their index is
/// not in the file, which ends before it. No record is at the beginning of a file.
inline constexpr std::uint64_t kNoIndex = 0;

}  // namespace cardan::mcap
