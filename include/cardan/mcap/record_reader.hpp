// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/compression.hpp"

namespace cardan::mcap {

/// A header, schema, channel, metadata or summary record is read whole and kept; a longer one is damage. Bytes.
inline constexpr std::uint64_t kMostSmallRecordBytes = std::uint64_t{64} << 20;
/// Whether that limit is for it. Others hold data, or are unknown.
[[nodiscard]] constexpr bool is_small(Opcode opcode) noexcept {
  return opcode <= Opcode::DataEnd && opcode != Opcode::Message && opcode != Opcode::Chunk &&
         opcode != Opcode::MessageIndex && opcode != Opcode::Attachment;
}

/// A record and its place.
struct RecordView : RawRecord {  ///< its content: until the next record is asked for
  std::uint64_t offset = 0;      ///< of its opcode in the file; of its chunk's, if it is in one
  bool in_chunk = false;
};

/// How far a file goes, and why not further.
struct Finish {
  /// Where the file ends.
  enum class How : std::uint8_t {
    Complete,  ///< to the magic at its end
    Cut,       ///< ends in the middle, or in reserved space that was never written: a crash
    Damaged,   ///< has an impossible value
  };
  How how = How::Complete;
  std::uint64_t valid = 0;  ///< bytes up to which all is well
  bool lossy = false;       ///< after them comes (part of) something that could not be read; not set by streams
  std::string cause{};      ///< if not complete
};

/// Options of a RecordReader.
struct RecordReaderOptions {
  bool open_chunks = true;  ///< give the records in a chunk instead of the chunk itself
  bool check_crcs = true;   ///< of chunks, if `open_chunks`; costs a pass over their bytes
  std::uint64_t most_record_bytes = std::uint64_t{4} << 30;  ///< a record that claims more is damage
  std::uint64_t most_unpacked_bytes = unpacked_limit();      ///< of a compressed chunk; one that holds more is refused
};

/// Reads a file from its beginning, record by record, from any source of bytes, such as a pipe. Unknown records are
/// returned as they are, for the caller to skip. Not to be shared by threads; blocks as `read` does, and throws its
/// exceptions.
class RecordReader {
 public:
  /// Fills the span or a part of it, and returns the number of bytes; 0: the end.
  using Read = std::function<std::size_t(std::span<std::byte>)>;

  /// Reads nothing yet.
  explicit RecordReader(Read read, RecordReaderOptions options = {});

  /// The next record. Empty: finish() says why.
  [[nodiscard]] std::optional<RecordView> next();
  /// How far the file goes, once next() has returned empty.
  [[nodiscard]] const Finish& finish() const noexcept { return finish_; }

 private:
  [[nodiscard]] std::size_t need(std::uint64_t bytes);
  [[nodiscard]] std::optional<RecordView> next_in_chunk();
  [[nodiscard]] bool open(View content);
  std::optional<RecordView> end(Finish::How how, std::string cause);

  Read read_;
  RecordReaderOptions options_;
  Bytes buffer_;           ///< bytes that were read and are still needed
  std::size_t begin_ = 0;  ///< of what is not used yet, in the buffer
  std::size_t filled_ = 0;
  std::uint64_t offset_ = 0;  ///< of `begin_` in the file
  bool at_end_ = false, started_ = false, done_ = false, footer_seen_ = false;
  Bytes records_;  ///< of the open chunk, if it was compressed
  View in_chunk_;  ///< what is left of the open chunk
  std::uint64_t chunk_offset_ = 0;
  std::size_t chunk_bytes_ = 0;  ///< in the buffer, until it is closed
  Finish finish_;
};

/// A chunk's records, checked. Empty: `cause` says why. Compressed ones are put into `buffer`, unless they have more
/// than `most_unpacked_bytes`.
[[nodiscard]] std::optional<View> records_of(const Chunk& chunk, bool check_crc, Bytes& buffer, std::string& cause,
                                             std::uint64_t most_unpacked_bytes = unpacked_limit());

/// How many messages they have, up to the first record that is damaged.
[[nodiscard]] std::size_t message_count(View records) noexcept;

/// The text of an error about such a chunk, after its name: "holds … when it is unpacked, more than …".
[[nodiscard]] std::string too_large_text(std::uint64_t bytes, std::uint64_t most_bytes);

}  // namespace cardan::mcap
