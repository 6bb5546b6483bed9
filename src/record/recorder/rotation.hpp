// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cardan/recorder.hpp"
#include "src/record/disk/io_queue.hpp"
#include "src/record/recorder/files.hpp"
#include "src/record/recorder/recorded_topics.hpp"
#include "src/record/recorder/segment.hpp"
#include "src/record/recorder/split_rule.hpp"

namespace cardan::record {

/// One file after the other: the open one, those that are full but not quiet yet, when the next one is due, what is
/// done when the disk fails or is full, and which files are forgotten. The recorder's thread; the constructor, begin(),
/// finish_all() and the destructor block, the rest does not.
class Rotation {
 public:
  /// Throws what the constructor of Files throws. `topics`: the fate of their samples is at the end of each
  /// file.
  Rotation(const RecorderOptions& options, const DiskProbe& probe, IoQueue& queue, const RecordedTopics& topics);
  Rotation(const Rotation&) = delete;
  Rotation& operator=(const Rotation&) = delete;
  ~Rotation() = default;

  /// The first file. Throws what Files::first() throws. Nothing else may be called before it.
  void begin();
  /// From now on (steady clock) the files take what comes.
  void start(std::int64_t now) noexcept;
  /// The file that takes what comes; until finish_all().
  [[nodiscard]] Segment& current() const noexcept { return *current_; }
  /// To the next file, if that is due and the file is there; until it is, the one that is open takes what comes.
  void switch_if_due(std::int64_t now);
  /// A chunk of what was there before the current file. It does not make the file full.
  void write_carried(std::unique_ptr<Batch> batch, std::int64_t now);
  /// Whether the current file may take this many more bytes. If not, asks for that room.
  [[nodiscard]] bool has_room(std::uint64_t bytes) { return files_.has_room(*current_, bytes); }
  [[nodiscard]] bool out_of_room() const noexcept { return files_.out_of_room(*current_); }

  // Writes that have completed.
  /// To the file whose write it is.
  void completed(const DiskDone& done, const Segment::Listener& listener);
  /// In all files.
  void go_on(const Segment::Listener& listener);
  /// A chunk counts: the disk works.
  void note_committed() noexcept { failures_in_a_row_ = 0; }

  void split() noexcept { rule_.request(); }
  /// Of a flight recorder: no file is forgotten any more.
  void keep_everything() noexcept { keeps_everything_ = true; }
  /// In each turn: failures, the next file, durability, the disk's room, ends of full files, files to be forgotten.
  void look_after(std::int64_t now);
  /// Ends all files, which are quiet by now.
  void finish_all();
  /// As Files::take_lost().
  [[nodiscard]] std::vector<Share> take_lost() { return files_.take_lost(); }
  /// Of a flight recorder: deletes all finished files, unless they are kept.
  void forget_all();

  /// Why the recording has to end; empty: it has not.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] std::string active_path() const;                 ///< of the open file; empty: none
  [[nodiscard]] std::uint64_t committed_bytes() const noexcept;  ///< of all files
  [[nodiscard]] std::vector<std::string> finished() const { return files_.finished(); }
  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return files_.free_bytes(); }  ///< on the disk

 private:
  [[nodiscard]] bool goes_on_after_failure();
  void look_after_room();
  void finish(std::unique_ptr<Segment> segment);
  void forget_before(std::int64_t oldest_ns);
  void fail(const std::string& why);

  const RecorderOptions& options_;
  const RecordedTopics& topics_;
  SplitRule rule_;
  bool keeps_everything_ = false;
  std::int64_t synced_ns_ = 0;
  int failures_in_a_row_ = 0;
  std::uint64_t failed_segment_ = 0;
  std::uint64_t committed_in_finished_ = 0;
  std::string failure_;
  std::unique_ptr<Segment> current_;
  std::uint64_t carried_bytes_ = 0;               ///< in it
  std::deque<std::unique_ptr<Segment>> closing_;  ///< full, but not quiet yet
  Files files_;                                   ///< the first to go: its thread works on the files above
};

}  // namespace cardan::record
