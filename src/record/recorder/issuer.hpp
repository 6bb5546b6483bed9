// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "cardan/messages/cycle_hint.hpp"
#include "cardan/recorder.hpp"
#include "cardan/subscriber.hpp"
#include "src/record/disk/io_queue.hpp"
#include "src/record/recorder/batches.hpp"
#include "src/record/recorder/channels.hpp"
#include "src/record/recorder/durations.hpp"
#include "src/record/recorder/recorded_topics.hpp"
#include "src/record/recorder/rotation.hpp"
#include "src/record/schedule/scheduler.hpp"

namespace cardan::record {

/// From queues into files: asks the scheduler how much may go, gives chunks their place by log time, submits and
/// collects their writes, and keeps count of what is under way. The recorder's thread; does not block.
class Issuer {
 public:
  /// Subscribes to the applications' hints. Throws what Subscriber's constructor throws.
  Issuer(const RecorderOptions& options, IoQueue& queue, Scheduler& scheduler, RecordedTopics& topics, Batches& batches,
         Rotation& rotation);
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;
  ~Issuer() = default;

  /// Submits what may go now; `all`: whatever the scheduler would say.
  void issue(std::int64_t now, bool all);
  /// Accounts for the writes that have completed, and continues with what waited for them.
  void collect(std::int64_t now);

  /// More waits than may be under way.
  [[nodiscard]] bool pressed() const noexcept { return pressed_; }
  /// When the scheduler wants to be asked again (steady clock); 0: no matter.
  [[nodiscard]] std::int64_t look_again_ns() const noexcept { return look_again_ns_; }

  [[nodiscard]] std::uint64_t bytes_under_way() const noexcept { return bytes_under_way_; }
  [[nodiscard]] std::uint64_t copied_bytes() const noexcept { return copied_bytes_; }  ///< into seams
  [[nodiscard]] const Durations& writes() const noexcept { return writes_; }    ///< from submission to completion
  [[nodiscard]] const Durations& submits() const noexcept { return submits_; }  ///< in the system call
  [[nodiscard]] const Durations& paths() const noexcept { return paths_; }      ///< from publication to the disk

 private:
  [[nodiscard]] Decision decide(std::int64_t now);
  // Bytes; 0: there is nothing, or no room.
  std::uint64_t issue_next(bool fullest_first, std::int64_t now);
  std::uint64_t issue_batch(Batches::Ready& one, std::int64_t now);
  std::uint64_t issue_frame(TopicQueue& topic, std::int64_t now);
  void issue_copied(TopicQueue& topic, const TopicQueue::Waiting& sample);
  /// The beginning of a new file. False: a part of it has to wait.
  bool begin_file(std::int64_t now);
  void carry_over();
  void keep(TopicQueue& topic, const TopicQueue::Waiting& sample);
  [[nodiscard]] bool room_for(std::uint64_t bytes) const noexcept;
  [[nodiscard]] bool file_has_room(std::uint64_t bytes);
  [[nodiscard]] Segment::Listener listener(std::int64_t now);
  void note_written(const Extent& extent, const DiskDone& done, std::int64_t now);
  void note_committed(Extent& extent);

  const RecorderOptions& options_;
  IoQueue& queue_;
  Scheduler& scheduler_;
  RecordedTopics& topics_;
  Batches& batches_;
  Rotation& rotation_;
  Channels channels_;
  std::uint64_t carried_into_ = 0;              ///< the number of a file
  std::deque<std::unique_ptr<Batch>> carried_;  ///< that it still lacks
  std::unique_ptr<Subscriber<CycleHint>> hints_;
  std::vector<DiskDone> done_;
  bool pressed_ = false;
  std::int64_t look_again_ns_ = 0;
  std::uint64_t bytes_under_way_ = 0, copied_bytes_ = 0;
  Durations writes_, submits_, paths_;
};

}  // namespace cardan::record
