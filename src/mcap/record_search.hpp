// SPDX-License-Identifier: Apache-2.0
// Where records start, in bytes that no index points to: after damaged data.
#pragma once

#include <cstdint>
#include <optional>

#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/input_file.hpp"

namespace cardan::mcap {

/// Records that are not jumped over are read whole; a larger one is taken for damage. Bytes.
inline constexpr std::uint64_t kMostRecordBytes = std::uint64_t{1} << 30;
/// Of an attachment or a chunk, what holds its fields, unless a name in it is absurd. Bytes.
inline constexpr std::uint64_t kRecordHeadBytes = 64 << 10;

/// The head of a chunk, before its records.
struct ChunkHead {
  Chunk chunk{};                   ///< without its records
  std::uint64_t records_at = 0;    ///< where its content starts
  std::uint64_t records_size = 0;  ///< as compressed
};
/// From the first bytes of a chunk's content, which has `length` of them. Empty: they do not fit each other.
[[nodiscard]] std::optional<ChunkHead> chunk_head(View content, std::uint64_t length);

/// The fields of an attachment without its data, from the first bytes of its content, which has `length` of them.
/// Empty: they do not fit each other.
[[nodiscard]] std::optional<AttachmentIndex> attachment_head(View content, std::uint64_t length);

/// Finds the next record after damaged data. Not to be shared by threads; blocks for the disk. Its functions throw
/// Error (System): the disk fails.
class RecordSearch {
 public:
  explicit RecordSearch(const InputFile& file) : file_(file), end_(file.size()) {}

  /// The first place of [from, to) at which a chunk, a schema, a channel, metadata or an attachment
  /// stands whose lengths fit each other, other than at `not_there`. Empty: none, or too much of the file only looked
  /// like records.
  [[nodiscard]] std::optional<std::uint64_t> next(std::uint64_t from, std::uint64_t to, std::uint64_t not_there);

  /// Whether this content, of a record with an opcode that cannot occur there, is one of those instead.
  [[nodiscard]] bool hides_a_record(std::uint64_t content, std::uint64_t length);

  /// Whether an opcode and a length are there that may be a record's, or the end of the file.
  [[nodiscard]] bool may_go_on_at(std::uint64_t offset) const;

  /// Attempts that cost the reading of this many bytes. False: more than real records could be.
  [[nodiscard]] bool afford(std::uint64_t bytes);

 private:
  [[nodiscard]] bool looks_like_record(Opcode opcode, std::uint64_t content, std::uint64_t length, bool alone);
  [[nodiscard]] bool fill(std::uint64_t from);

  const InputFile& file_;
  std::uint64_t end_;
  Bytes buffer_;
  Bytes window_;  ///< of the file, from `window_at_` on
  std::uint64_t window_at_ = 0;
  std::size_t window_bytes_ = 0;
  std::uint64_t claimed_ = 0;  ///< bytes of all that was looked into
};

}  // namespace cardan::mcap
