// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cardan/mcap/records.hpp"
#include "cardan/recorder_report.hpp"
#include "src/record/recorder/extent.hpp"
#include "src/record/recorder/topic_queue.hpp"

namespace cardan::record {

/// The topics that are recorded, by number: which of their large samples goes next, and what was lost of them. Topics
/// are added and never removed. The recorder's thread; does not block.
class RecordedTopics {
 public:
  using List = std::vector<std::unique_ptr<TopicQueue>>;

  /// Gives each its number.
  void adopt(List found);

  [[nodiscard]] List::const_iterator begin() const noexcept { return topics_.begin(); }
  [[nodiscard]] List::const_iterator end() const noexcept { return topics_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return topics_.size(); }
  [[nodiscard]] TopicQueue& operator[](std::size_t number) const noexcept { return *topics_[number]; }

  /// The topic whose first large sample goes next: the oldest by log time, or of the fullest queue if that is asked for
  /// and a queue is nearly full. Null: none waits.
  [[nodiscard]] TopicQueue* next_frame(bool fullest_first) const;
  [[nodiscard]] bool frames_wait() const noexcept;

  /// The topics' samples in a chunk that will not be in the file.
  void lose(const std::vector<Share>& shares, LossCause cause);
  /// They were recorded, and the disk has lost them.
  void take_back(const std::vector<Share>& shares);
  /// Large samples that were taken before this time (steady clock) waited too long for the disk.
  void lose_frames_before(std::int64_t oldest_ns);
  /// All large samples that wait.
  void lose_frames(LossCause cause);

  void note(const ClockStep& step);
  [[nodiscard]] const std::vector<ClockStep>& clock_steps() const noexcept { return clock_steps_; }

  /// The fate of each topic's samples, and of the clock, for the end of a file.
  [[nodiscard]] std::vector<mcap::Metadata> losses() const;

 private:
  List topics_;
  std::vector<ClockStep> clock_steps_;
};

}  // namespace cardan::record
