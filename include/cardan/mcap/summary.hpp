// SPDX-License-Identifier: Apache-2.0
// The summary at the end of a file, collected while it is written.
#pragma once

#include <map>

#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

/// Which parts of a summary are written. All are worth their few bytes; a file without them must be read through.
struct SummaryOptions {
  bool schemas = true;
  bool channels = true;
  bool statistics = true;
  bool metadata_indexes = true;
  bool attachment_indexes = true;
  bool chunk_indexes = true;
  bool offsets = true;
  Bytes extra{};  ///< after the fields of each record that may be extended; for the conformance suite
};

/// The file's index and statistics. Not to be shared by threads; does not block.
class Summary {
 public:
  /// Of two with one number, the first. Compressed chunks may hold more than the file: definitions beyond 256 MiB are
  /// left out.
  void add(const Schema& schema);
  void add(const Channel& channel);
  /// A message is in the file; the channel's record too.
  void count(std::uint16_t channel, std::uint64_t log_time);
  void count_chunk() { ++statistics_.chunk_count; }
  void add(ChunkIndex index) { chunks_.push_back(std::move(index)); }
  void add(AttachmentIndex index);
  void add(MetadataIndex index);

  void set(const Statistics& statistics) { statistics_ = statistics; }  ///< as a file has them

  [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }
  [[nodiscard]] const std::map<std::uint16_t, Schema>& schemas() const noexcept { return schemas_; }
  [[nodiscard]] const std::map<std::uint16_t, Channel>& channels() const noexcept { return channels_; }
  [[nodiscard]] const std::vector<ChunkIndex>& chunks() const noexcept { return chunks_; }
  [[nodiscard]] const std::vector<AttachmentIndex>& attachments() const noexcept { return attachments_; }
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
