// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cardan/messages/clock.hpp"
#include "cardan/recorder.hpp"
#include "cardan/subscriber.hpp"
#include "src/record/recorder/batches.hpp"
#include "src/record/recorder/cause_log.hpp"
#include "src/record/recorder/log_order.hpp"
#include "src/record/recorder/recorded_topics.hpp"
#include "src/record/recorder/recording_time.hpp"
#include "src/record/recorder/scout.hpp"
#include "src/record/schedule/scheduler.hpp"

namespace cardan::record {

/// From publishers to queues: adopts the topics that the scout has attached, takes their samples, gives them log times
/// in order, and puts large ones into their topic's queue and small ones into a chunk. The recorder's thread; the
/// constructor, leave() and the destructor block, the rest does not.
class Intake {
 public:
  /// `on_news`: as the scout's. Throws Error (Unavailable), and what Subscriber's constructor throws.
  Intake(const RecorderOptions& options, RecordedTopics& topics, Batches& batches, Scheduler& scheduler,
         std::function<void()> on_news);
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;
  ~Intake() = default;

  void adopt_topics();
  /// `paused`: nothing is recorded, and nothing counts as lost.
  void take_all(std::int64_t now, bool paused);
  /// The recording ends: takes what came until `now`, as far as there is room. The rest is lost.
  void stop(std::int64_t now, bool paused);
  /// After stop(), when no sample is held any more: counts those losses, and looks for topics no longer.
  void leave();

  /// Log times are the wall clock's of the first call. It may be set while we run: that is noted.
  void look_at_wall_clock();
  [[nodiscard]] const RecordingTime& time() const noexcept { return time_; }
  /// When the scout began its last look whose topics are adopted. Steady clock.
  [[nodiscard]] std::int64_t looked_ns() const noexcept { return looked_ns_; }
  /// Of topics that cannot be recorded.
  [[nodiscard]] std::map<std::string, Scout::Problem> problems() const;
  /// Samples whose origin and cause are not in the files, because too much waits for the disk.
  [[nodiscard]] std::uint64_t causes_left_out() const noexcept { return causes_.left_out(); }

 private:
  void take_clock();
  void put(TopicQueue& topic, TopicQueue::Waiting&& sample, std::int64_t now);
  void write_causes(std::int64_t now, bool all);

  const RecorderOptions& options_;
  RecordedTopics& topics_;
  Batches& batches_;
  Scheduler& scheduler_;
  RecordingTime time_;
  LogOrder order_;
  CauseLog causes_;
  std::unique_ptr<Subscriber<Clock>> clock_;  ///< of the simulation
  std::optional<std::int64_t> noted_ahead_;   ///< of the wall clock to the steady one
  std::int64_t last_taken_ns_ = 0;            ///< steady clock
  std::int64_t looked_ns_ = 0;
  std::int64_t stopped_ns_ = 0;
  std::map<std::string, Scout::Problem> last_problems_;  ///< when the scout has gone
  std::unique_ptr<Scout> scout_;
};

}  // namespace cardan::record
