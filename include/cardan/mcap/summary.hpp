// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The summary at the end of a file, collected while it is written.

#include <map>

#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

/// Which parts of a summary are written. All are worth their few bytes; a file without them must be read through.
struct SummaryOptions {
  bool schemas = true;             ///< repeats the schemas, so that a reader knows them without the chunks
  bool channels = true;            ///< repeats the channels
  bool statistics = true;          ///< numbers of messages and records, first and last time
  bool metadata_indexes = true;    ///< where the metadata records are
  bool attachment_indexes = true;  ///< where the attachments are
  bool chunk_indexes = true;       ///< places and times of the chunks; reading by time needs them
  bool offsets = true;             ///< where each of these groups is, for readers that need only some
  Bytes extra{};                   ///< after the fields of each record that may be extended; for the conformance suite
};

/// The file's index and statistics. Not to be shared by threads; does not block.
class Summary {
 public:
  /// Of two with one number, the first. Compressed chunks may hold more than the file: definitions beyond 256 MiB are
  /// left out.
  void add(const Schema& schema);
  /// The same for a channel.
  void add(const Channel& channel);
  /// A message is in the file; the channel's record too.
  void count(std::uint16_t channel, std::uint64_t log_time);
  /// A chunk is in the file.
  void count_chunk() { ++statistics_.chunk_count; }
  /// The place of a chunk; count_chunk() counts it.
  void add(ChunkIndex index) { chunks_.push_back(std::move(index)); }
  /// The place of an attachment, which is counted.
  void add(AttachmentIndex index);
  /// The place of a metadata record, which is counted.
  void add(MetadataIndex index);

  void set(const Statistics& statistics) { statistics_ = statistics; }  ///< as a file has them

  /// As counted or set. The numbers of schemas and channels are not counted: append_to() writes them.
  [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }
  /// The schemas by their number.
  [[nodiscard]] const std::map<std::uint16_t, Schema>& schemas() const noexcept { return schemas_; }
  /// The channels by their number.
  [[nodiscard]] const std::map<std::uint16_t, Channel>& channels() const noexcept { return channels_; }
  /// The places of the chunks, in the order in which they were added.
  [[nodiscard]] const std::vector<ChunkIndex>& chunks() const noexcept { return chunks_; }
  /// The same of the attachments.
  [[nodiscard]] const std::vector<AttachmentIndex>& attachments() const noexcept { return attachments_; }
  /// The same of the metadata records.
  [[nodiscard]] const std::vector<MetadataIndex>& metadata() const noexcept { return metadata_; }

  /// Appends the summary, its offsets, the footer and the magic, for a file in which they start at `file_offset`
  /// (after its DataEnd).
  void append_to(Bytes& out, std::uint64_t file_offset, const SummaryOptions& options = {}) const;

 private:
  bool afford(std::size_t bytes);

  std::size_t definition_bytes_ = 0;
  std::map<std::uint16_t, Schema> schemas_;
  std::map<std::uint16_t, Channel> channels_;
  std::vector<ChunkIndex> chunks_;
  std::vector<AttachmentIndex> attachments_;
  std::vector<MetadataIndex> metadata_;
  Statistics statistics_;
};

}  // namespace cardan::mcap
