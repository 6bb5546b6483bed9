// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/record/chunks/seam.hpp"
#include "src/record/disk/io_queue.hpp"
#include "src/record/disk/recording_file.hpp"
#include "src/record/recorder/extent.hpp"

namespace cardan::record {

/// One file of a recording while it is written: gives chunks their place, writes bodies, and heads after them (S1 in
/// seam.hpp), and knows which of them count. One thread.
class Segment {
 public:
  /// `number` tells its writes from those of other files in the same queue. The file's first blocks are written here.
  /// Throws Error (System). Blocks for the disk.
  Segment(std::uint64_t number, std::unique_ptr<RecordingFile> file, const SeamLayout::Preamble& preamble,
          IoQueue& queue);

  /// Entries of the queue that a chunk may need at once: its body, and heads that waited for room.
  static constexpr std::size_t kEntries = 4;

  void add(const mcap::Schema& schema) { layout_.add(schema); }
  void add(const mcap::Channel& channel) { layout_.add(channel); }
  void add(const mcap::Metadata& metadata) { layout_.add(metadata); }
  void write(const FrameChunk& frame, AnySample sample, const Share& share, std::int64_t publish_ns);
  void write(std::unique_ptr<Batch> batch, std::vector<Share> shares, std::int64_t oldest_publish_ns);
  /// Asks for all that has completed to be made durable; at most one at a time.
  void sync();

  /// Whose write it is.
  [[nodiscard]] static std::uint64_t number_of(const DiskDone& done) noexcept { return done.id >> kNumberShift; }
  /// Called when a body is written (its sample may go), when the chunk counts, when it never will, and when what a
  /// topic has in chunks that counted does not any more: a sync failed that should have made them durable.
  struct Listener {
    std::function<void(Extent&, const DiskDone&)> body_written;
    std::function<void(Extent&)> committed;
    std::function<void(Extent&, int error)> lost;
    std::function<void(const Share&)> taken_back;
  };
  void completed(const DiskDone& done, const Listener& listener);
  /// Writes the heads that may be written now; after completions, and when the queue has room again.
  void go_on(const Listener& listener);

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] RecordingFile& file() noexcept { return *file_; }
  [[nodiscard]] const RecordingFile& file() const noexcept { return *file_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return layout_.bytes(); }  ///< of the file so far
  [[nodiscard]] std::uint64_t committed_bytes() const noexcept { return committed_bytes_; }
  [[nodiscard]] std::uint64_t body_bytes_under_way() const noexcept { return bytes_under_way_; }
  [[nodiscard]] int error() const noexcept { return error_; }  ///< errno of the first write that failed
  /// Nothing is under way, and nothing waits.
  [[nodiscard]] bool quiet() const noexcept { return under_way_ == 0 && extents_.empty(); }

  [[nodiscard]] const SeamLayout& layout() const noexcept { return layout_; }
  /// For the end, of a quiet segment: what to write, and how long the file is.
  [[nodiscard]] SeamLayout::Trailer trailer(const std::vector<mcap::Metadata>& metadata) const;
  [[nodiscard]] std::size_t committed_chunks() const noexcept { return committed_; }
  /// The topics' samples in chunks that count, but of which no sync has said that the disk has them. Of a quiet
  /// segment.
  [[nodiscard]] std::vector<Share> not_durable() const;
  /// When the disk has failed and what it has is not known: readers on this computer too then trust what has no
  /// checksum only as far as it was made durable. Blocks for the disk; may be in vain.
  void doubt() noexcept;

 private:
  enum class Kind : std::uint8_t { Body, Head, Sync, Mark };
  static constexpr unsigned kNumberShift = 40;

  [[nodiscard]] std::uint64_t id_of(std::uint64_t extent, Kind kind) const noexcept {
    return (number_ << kNumberShift) | ((extent & ((std::uint64_t{1} << 38) - 1)) << 2) |
           static_cast<std::uint64_t>(kind);
  }
  void submit(Extent extent, mcap::View body);
  void take_back(const Listener& listener);
  void fail(int error) noexcept {
    if (error_ == 0) error_ = error;
  }

  std::uint64_t number_;
  std::unique_ptr<RecordingFile> file_;
  SeamLayout layout_;
  IoQueue& queue_;
  std::deque<Extent> extents_;  ///< from the first that does not count yet
  std::uint64_t first_ = 0;     ///< its number
  std::size_t committed_ = 0;
  std::uint64_t committed_bytes_ = 0;
  Seam committed_end_;
  std::uint64_t bytes_under_way_ = 0;
  std::size_t under_way_ = 0;
  int error_ = 0;
  /// How far the file is.
  struct State {
    std::size_t chunks = 0;
    std::uint64_t bytes = 0;
    Seam end{};
  };
  using Shares = std::map<std::size_t, Share>;  ///< by topic
  bool syncing_ = false, sync_failed_ = false;
  State durable_, syncing_to_;
  Shares not_durable_, being_synced_;  ///< in chunks that count
  AlignedBuffer mark_;
};

}  // namespace cardan::record
