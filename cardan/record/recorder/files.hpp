// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/record/recorder/recorder.hpp"
#include "cardan/record/recorder/segment.hpp"
#include "cardan/record/recorder/worker.hpp"

namespace cardan::record {

/// The files of a recording: makes the next one before it is needed, asks for room ahead of the writes, finishes those
/// that are full, watches the disk. What blocks happens on its thread. Functions: the thread that records; none blocks
/// but the constructor, first() and finish_all().
class Files {
 public:
  /// Throws Error (InvalidArgument, System): the preamble's attachments cannot be read.
  Files(const RecorderOptions& options, const DiskProbe& probe, IoQueue& queue);
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files();

  /// The first file. Throws Error.
  std::unique_ptr<Segment> first();
  /// Begins to make the next one, if nobody does.
  void prepare_next();
  /// It; null: not there yet. `failure()` says whether it never will be.
  std::unique_ptr<Segment> next();
  /// Writes the end of a quiet segment, and gives the file its name.
  void finish(std::unique_ptr<Segment> segment, std::vector<mcap::Metadata> metadata);
  /// Waits for all that was begun, and removes what was prepared in vain.
  void finish_all();

  /// Asks for room ahead of `segment`, as it needs; looks at the disk now and then.
  void look_after(Segment& segment, std::int64_t now);
  /// Lets the page cache go, of what is durable.
  void drop_cache(Segment& segment);
  /// Deletes the oldest finished file; false: there is none.
  bool delete_oldest();
  /// When the oldest finished file was finished (steady clock); the largest number: there is none.
  [[nodiscard]] std::int64_t oldest_ended_ns() const;

  /// What is free on the disk, and what is reserved and not written yet.
  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return free_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool full() const noexcept;  ///< less is free than shall stay free
  [[nodiscard]] std::vector<std::string> finished() const;
  [[nodiscard]] std::uint64_t finished_bytes() const noexcept { return finished_bytes_.load(); }
  [[nodiscard]] std::string failure() const;

 private:
  std::unique_ptr<Segment> make(std::size_t number);
  void reserve(RecordingFile& file, std::uint64_t to);
  void note_free();
  void look_at_space(const RecordingFile& file, std::uint64_t written);
  void refuse_earlier_files() const;
  void fail(const std::string& what);
  [[nodiscard]] bool splits() const noexcept { return options_.split_bytes != 0 || options_.split_time.count() != 0; }

  const RecorderOptions& options_;
  DiskProbe probe_;
  IoQueue& queue_;
  std::string folder_;
  SeamLayout::Preamble preamble_;
  std::uint64_t window_ = 0;  ///< bytes that are asked for at once
  std::size_t made_ = 0;
  bool preparing_ = false;
  std::atomic<bool> allocating_{false};
  std::int64_t space_at_ns_ = 0;
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> reserved_{0};
  std::atomic<bool> refused_room_{false};
  std::atomic<std::uint64_t> finished_bytes_{0};
  mutable std::mutex mutex_;
  std::unique_ptr<Segment> next_;
  struct Finished {
    std::string path;
    std::int64_t ended_ns;
  };
  std::deque<Finished> finished_;
  std::string failure_;
  std::unique_ptr<Worker> worker_ = std::make_unique<Worker>();
};

}  // namespace cardan::record
