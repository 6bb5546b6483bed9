// SPDX-License-Identifier: Apache-2.0
// The publishers' own stamps, which MCAP's messages have no field for. They follow the fields of the chunk's
// MessageIndex, where the specification lets a record grow and every reader skips what it does not know:
//
//   MessageIndex  channel_id │ records: (log_time, offset) × n ┃ "SRC1" │ CRC-32 │ source_time × n │ zeros …
//
// One number a message, in the order of `records`; 0: its publisher gave none. An index without any such number has
// nothing after its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

/// "SRC1", then the checksum of the stamps.
inline constexpr std::size_t kSourceTimesHead = 4 + 4;

/// Appends the bytes after the fields of a MessageIndex with this number of messages; nothing if all of them are 0. Any
/// thread; does not block.
void append_source_times(Bytes& out, std::span<const std::int64_t> times);

/// A MessageIndex with the bytes after its fields.
struct IndexWithSourceTimes {
  MessageIndex index{};
  std::vector<std::int64_t> source_times{};  ///< one for each of its records; or empty: no stamps
  bool damaged = false;                      ///< there should be some, and they are cut short or changed
};
/// From the record's content. Empty: the record itself is damaged. Its memory is bounded by the content's. Any thread;
/// does not block.
[[nodiscard]] std::optional<IndexWithSourceTimes> decode_index(View content);

}  // namespace cardan::mcap
