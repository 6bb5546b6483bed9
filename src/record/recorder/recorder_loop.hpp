// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cardan/recorder.hpp"
#include "src/record/disk/io_queue.hpp"
#include "src/record/recorder/batches.hpp"
#include "src/record/recorder/intake.hpp"
#include "src/record/recorder/issuer.hpp"
#include "src/record/recorder/latest_report.hpp"
#include "src/record/recorder/recorded_topics.hpp"
#include "src/record/recorder/reporter.hpp"
#include "src/record/recorder/requests.hpp"
#include "src/record/recorder/rotation.hpp"
#include "src/record/recorder/statistics_publisher.hpp"
#include "src/record/schedule/scheduler.hpp"

namespace cardan::record {

/// The work of the recorder's thread: in turns it takes samples, writes them and looks after the files, and sleeps in
/// between. It has the parts of the recorder; they live as long as the recording. Made, used and destroyed by that
/// thread.
class RecorderLoop {
 public:
  /// Opens the first file and begins to attach to the topics that are there. Throws Error, as Recorder's constructor.
  RecorderLoop(const RecorderOptions& options, const DiskProbe& probe, Requests& requests, LatestReport& latest);
  RecorderLoop(const RecorderLoop&) = delete;
  RecorderLoop& operator=(const RecorderLoop&) = delete;
  ~RecorderLoop() = default;

  /// Records until it is asked to stop or has to end, and finishes the files. `ready`: called once the topics that
  /// were there are attached. Blocks.
  void run(const std::function<void()>& ready);

 private:
  [[nodiscard]] bool goes_on() const noexcept { return !requests_.stopped() && rotation_.failure().empty(); }
  void turn(bool at_the_end);
  void sleep();
  void note_requests();
  void end();
  void write_what_is_left();
  void drop_everything(LossCause cause);
  [[nodiscard]] bool nothing_left() const noexcept;

  Requests& requests_;  ///< any thread
  // Each knows only parts above it. Lower ones are destroyed first.
  Scheduler scheduler_;
  std::unique_ptr<IoQueue> queue_;
  RecordedTopics topics_;
  Rotation rotation_;
  Batches batches_;
  Issuer issuer_;
  StatisticsPublisher statistics_;
  Intake intake_;
  Reporter reporter_;
  std::vector<detail::SubscriberCore*> awake_for_;  ///< of sleep()
  std::int64_t now_ = 0;
};

}  // namespace cardan::record
