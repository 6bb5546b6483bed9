// SPDX-License-Identifier: Apache-2.0
// How chunks lie in a recording, so that a large sample goes to the disk from where it is and nothing unfinished is
// ever read as finished.
//
//   block n    [ rest of sample k | its MessageIndex ~~~~ zeros ~~~~ | head of chunk k+1 ]   a seam: copied, 4 KiB
//   block n+1… [ sample k+1, as it lies in the publisher's slot                          ]   not copied
//
// Two writes a chunk. First its *body* (blocks n+1… and the seam after it, without the next head: zeros), then, when
// that has completed, its *head*: the seam before it once more, the MessageIndex in it now extended up to the head. So:
//   S1 A head is on disk only if the body after it is, and the one before it: a reader that stops at the first
//      zero opcode reads whole chunks only.
//   S2 A sample's bytes start at a block, in memory and in the file: the disk takes them from the slot (O_DIRECT).
//   S3 Records are extended with zeros only where MCAP allows it: MessageIndex, Channel, Metadata.
// Source: recorder's notes on MCAP's `pad` variants; docs/recording.md tells the story.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/records.hpp"
#include "cardan/mcap/summary.hpp"
#include "src/record/chunks/aligned_buffer.hpp"
#include "src/record/chunks/batch.hpp"

namespace cardan::record {

/// The end of what is in the file so far: the next head is written into its last block.
struct Seam {
  std::uint64_t offset = 0;     ///< in the file; a multiple of kBlock
  mcap::Bytes bytes{};          ///< from there on
  std::size_t last_record = 0;  ///< where in `bytes` the last record starts, which may be extended
};

/// A sample that is a separate chunk.
struct FrameChunk {
  MessageHead head{};
  mcap::View prefix{}, payload{}, suffix{};  ///< the data in three parts
  bool checksum = false;                     ///< reads everything once more
};

/// A chunk that has its place: two writes, the second when the first has completed, and the body before it too.
struct PlacedChunk {
  std::uint64_t body_offset = 0;
  mcap::View payload{};  ///< whole blocks of a sample, written from where they are; may be empty
  AlignedBuffer tail{};  ///< follows it: of a frame; of a batch its body is written instead
  std::uint64_t head_offset = 0;
  AlignedBuffer head{};
  Seam end{};  ///< of the file with this chunk
};

/// The layout of one file: says where everything goes, touches no disk. Not to be shared by threads; does not block.
class SeamLayout {
 public:
  struct Preamble {
    std::string library = "cardan";
    mcap::MountIdentity mount{};  ///< where the file is written
    std::vector<mcap::Metadata> metadata{};
    mcap::Bytes records{};                             ///< whole records (attachments) that come first
    std::vector<mcap::AttachmentIndex> attachments{};  ///< of those, offsets from the first
  };
  explicit SeamLayout(const Preamble& preamble);

  /// The first bytes of the file, in whole blocks.
  [[nodiscard]] mcap::View preamble() noexcept { return preamble_.blocks(); }
  /// Its first block once more, now saying up to which byte all is durable: after a power loss readers trust what has
  /// no checksum up to there only.
  /// `at_the_end`: no channel will be added, so that the file's profile is known.
  [[nodiscard]] AlignedBuffer mark(std::uint64_t durable_bytes, bool at_the_end = false) const;
  /// The same, without the note where the file was written: no reader trusts more than that.
  [[nodiscard]] AlignedBuffer mark_of_nowhere(std::uint64_t durable_bytes) const;

  void add(const mcap::Schema& schema);      ///< in the file before the next chunk
  void add(const mcap::Channel& channel);    ///< the same
  void add(const mcap::Metadata& metadata);  ///< the same
  [[nodiscard]] PlacedChunk place(const FrameChunk& frame);
  [[nodiscard]] PlacedChunk place(Batch& batch);  ///< a closed one, whose body the second write is of

  [[nodiscard]] std::uint64_t bytes() const noexcept { return end_.offset + end_.bytes.size(); }
  [[nodiscard]] std::size_t chunks() const noexcept { return chunks_.size(); }
  [[nodiscard]] const std::vector<mcap::Schema>& schemas() const noexcept { return schemas_; }
  [[nodiscard]] const std::vector<mcap::Channel>& channels() const noexcept { return channel_records_; }
  /// An upper bound of the bytes that finish() will write, without the metadata that it is given.
  [[nodiscard]] std::uint64_t most_trailer_bytes() const noexcept;
  [[nodiscard]] const Seam& end() const noexcept { return end_; }

  struct Trailer {
    std::uint64_t offset = 0;  ///< where to write it
    AlignedBuffer bytes{};
    std::uint64_t file_bytes = 0;  ///< how long the file is then
    mcap::Statistics statistics{};
  };
  /// The end of a file of the first `chunks` chunks, the last of which ends in `end`.
  [[nodiscard]] Trailer finish(std::size_t chunks, const Seam& end, const std::vector<mcap::Metadata>& metadata) const;

 private:
  struct ChunkEntry {
    std::uint64_t offset = 0, length = 0, first_time = 0, last_time = 0;
    std::uint64_t records = 0, uncompressed = 0, index_length = 0;
    std::uint32_t first_channel = 0, channels = 0;  ///< in channels_
    std::uint32_t compression = 0;                  ///< in compressions_
    std::size_t schemas = 0, channel_records = 0;   ///< before its end
  };
  AlignedBuffer head_for(const mcap::Bytes& chunk_head, std::uint64_t& offset);
  void extend(mcap::Bytes& bytes, std::size_t record, std::uint64_t by) const;
  void append_first_block(mcap::Bytes& out, const mcap::MountIdentity& mount, std::uint64_t durable_bytes, bool ros2,
                          mcap::MetadataIndex* index) const;
  [[nodiscard]] AlignedBuffer first_block(const mcap::MountIdentity& mount, std::uint64_t durable_bytes,
                                          bool ros2) const;

  mcap::MountIdentity mount_;
  std::string library_;
  AlignedBuffer preamble_;
  Seam end_;
  bool ends_in_chunk_ = false;
  std::uint64_t preamble_gap_ = 0;  ///< by which the first chunk's head extended the last record before it
  mcap::Bytes records_;             ///< that come before the next chunk
  std::size_t last_of_records_ = 0;
  std::vector<ChunkEntry> chunks_;
  std::vector<ChannelInChunk> channels_;
  std::vector<std::string> compressions_{""};
  std::vector<mcap::Schema> schemas_;
  std::vector<mcap::Channel> channel_records_;
  std::uint64_t described_bytes_ = 0;  ///< by schemas_ and channel_records_
  bool ros2_ = true;                   ///< all of these are as ROS 2 writes them
  std::vector<mcap::MetadataIndex> metadata_;
  /// Records before a chunk.
  struct MetadataEntry {
    std::size_t chunk = 0;  ///< its number
    mcap::MetadataIndex index{};
  };
  std::vector<MetadataEntry> later_metadata_;
  std::vector<mcap::MetadataIndex> next_metadata_;  ///< in records_; offsets from its beginning
  std::vector<mcap::AttachmentIndex> attachments_;
};

}  // namespace cardan::record
