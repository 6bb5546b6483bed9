// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/summary.hpp"

namespace cardan::mcap {

/// The summary at a file's end, as its writer left it.
struct StoredSummary {
  Summary summary{};
  bool has_statistics = false;
  bool checked = false;  ///< it has a checksum, which fits
};

/// Empty: it is missing or damaged. Throws Error (System): the disk fails. Any thread; blocks for the disk.
[[nodiscard]] std::optional<StoredSummary> read_stored_summary(const InputFile& file);

/// The record at `offset`, if it is whole and of this kind. Its views point into `buffer`. Throws and blocks as above.
template <class Record>
[[nodiscard]] std::optional<Record> read_record(const InputFile& file, std::uint64_t offset, std::uint64_t length,
                                                Bytes& buffer) {
  if (length < kPrefixBytes || !file.read_exactly(offset, length, buffer)) return std::nullopt;
  const Prefix prefix(buffer);
  if (!prefix.is(Record::kOpcode) || prefix.length != length - kPrefixBytes) return std::nullopt;
  return decode<Record>(View(buffer).subspan(kPrefixBytes));
}

}  // namespace cardan::mcap
