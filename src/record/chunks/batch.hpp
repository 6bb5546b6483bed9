// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cardan/mcap/compression.hpp"
#include "cardan/mcap/records.hpp"
#include "src/record/chunks/aligned_buffer.hpp"

namespace cardan::record {

/// The head of a message, before its data.
struct MessageHead {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0, publish_time = 0;  ///< nanoseconds since 1970
  std::int64_t source_time = 0;                  ///< the publisher's own stamp; 0: none
};

/// Whether a message is kept in memory beyond its chunk, for the beginning of the next file.
struct Keep {
  std::uint64_t stream = 0;  ///< its publisher's
  std::uint32_t depth = 0;   ///< how many samples of that publisher are kept; 0: it keeps nothing
  bool whole = true;         ///< false: only that it was there
};

/// A message that is kept so.
struct KeptMessage {
  MessageHead head{};
  std::uint64_t stream = 0;
  bool whole = true;
  mcap::Bytes data{};
};

/// The file's index of one channel in one chunk.
struct ChannelInChunk {
  std::uint16_t channel = 0;
  std::uint32_t messages = 0;
  std::uint64_t index_offset = 0;  ///< of its MessageIndex, from the start of the chunk's body
};

/// A chunk of many samples in memory: they are copied in, then it is closed, and its bytes are written as they are.
/// Not to be shared by threads; does not block. Reused, it allocates only when it grows beyond what it ever was.
class Batch {
 public:
  /// The data is what the three parts hold, one after the other.
  void add(const MessageHead& head, mcap::View a, mcap::View b, mcap::View c, const Keep& keep = {});
  /// Compresses, adds checksum and indexes. Nothing can be added any more.
  void close(mcap::Compressor& compressor, bool checksum);
  void clear();

  [[nodiscard]] bool empty() const noexcept { return messages_ == 0; }
  [[nodiscard]] std::size_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return body_.size(); }  ///< closed: as in the file
  [[nodiscard]] std::size_t capacity() const noexcept { return body_.capacity() + packed_.capacity(); }

  // Of a closed one.
  /// Those of its messages that are to be kept, in their order. They leave it.
  [[nodiscard]] std::vector<KeptMessage> take_kept() noexcept { return std::move(kept_); }
  [[nodiscard]] AlignedBuffer& body() noexcept { return body_; }
  [[nodiscard]] std::uint64_t records_bytes() const noexcept { return records_bytes_; }  ///< as compressed
  [[nodiscard]] std::uint64_t uncompressed_bytes() const noexcept { return uncompressed_bytes_; }
  [[nodiscard]] std::uint32_t checksum() const noexcept { return checksum_; }
  [[nodiscard]] const std::string& compression() const noexcept { return compression_; }
  [[nodiscard]] std::uint64_t first_time() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t last_time() const noexcept { return last_; }
  [[nodiscard]] const std::vector<ChannelInChunk>& channels() const noexcept { return channels_; }
  /// Where the last MessageIndex starts in the body.
  [[nodiscard]] std::uint64_t last_record() const noexcept { return last_record_; }

 private:
  /// A channel's index, and its messages' source stamps.
  struct Index {
    mcap::MessageIndex messages{};
    std::vector<std::int64_t> source_times{};
  };
  /// A message that may be kept when the chunk is closed.
  struct Candidate {
    std::uint16_t channel = 0;
    Keep keep{};
    std::uint64_t place = 0;  ///< of its record
    std::int64_t source_time = 0;
  };
  Index& index_of(std::uint16_t channel);
  void keep_last();

  AlignedBuffer body_;
  mcap::Bytes packed_, scratch_, stamps_;
  std::vector<Index> indexes_;  ///< the first `used_` of them
  std::size_t used_ = 0;
  std::vector<std::uint32_t> place_of_;  ///< of a channel's index in them, and 1; 0: none
  std::vector<Candidate> candidates_;
  std::vector<KeptMessage> kept_;
  std::size_t messages_ = 0;
  std::uint64_t first_ = 0, last_ = 0;
  std::uint64_t records_bytes_ = 0, uncompressed_bytes_ = 0, last_record_ = 0;
  std::uint32_t checksum_ = 0;
  std::string compression_;
  std::vector<ChannelInChunk> channels_;
};

/// The record "Message" up to its data, for data of this many bytes.
void append_message_head(mcap::Bytes& out, const MessageHead& head, std::uint64_t data_bytes);

}  // namespace cardan::record
