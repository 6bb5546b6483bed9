// SPDX-License-Identifier: Apache-2.0
// The recorder's parts. Each uses the parts below it (─ its own, ─► those of RecorderLoop), and none knows
// one that uses it.
//
//   Implementation               its thread, and what other threads call
//   └─ RecorderLoop              turns and sleep
//      ├─ Reporter               puts the report together; reads all the others
//      │  └─► StatisticsPublisher
//      ├─ Intake                 from publishers to queues and batches, with log times in order
//      │  ├─ Scout, LogOrder, CauseLog
//      │  └─► Scheduler, Batches, RecordedTopics
//      ├─ Issuer                 from queues and batches to files, by log time
//      │  ├─ Channels            the records before a topic's first chunk
//      │  └─► Scheduler, Batches, RecordedTopics, Rotation
//      ├─ Rotation               one file after the other
//      │  ├─ SplitRule, Files, Segment
//      │  └─► RecordedTopics     their losses are at the end of each file
//      ├─ Batches                chunks of small samples, from the first sample to the next use
//      │  └─► TopicQueue
//      ├─ RecordedTopics         queues of large samples, and losses
//      │  └─ TopicQueue
//      └─ Scheduler              when to write
//
// All of them belong to the recorder's thread. Other threads touch: Requests and LatestReport; what the scout has found
// (Scout); chunks that are being compressed, and then are under a mutex (Batches); files that are being made and
// finished (Files). Members that say nothing else are the recorder's thread's alone.
#pragma once

#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <thread>

#include "cardan/disk_mode.hpp"
#include "cardan/recorder.hpp"
#include "src/record/recorder/latest_report.hpp"
#include "src/record/recorder/requests.hpp"

namespace cardan::record {

/// A recorder as other threads see it: its thread, what they ask of it, and its newest report. Any thread; only the
/// constructor, stop() and the destructor block.
class Recorder::Implementation {
 public:
  explicit Implementation(RecorderOptions options);
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation();

  void stop();
  void pause(bool paused) { requests_.pause(paused); }
  [[nodiscard]] bool paused() const noexcept { return requests_.paused(); }
  void split() { requests_.split(); }
  void trigger() { requests_.trigger(); }
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  [[nodiscard]] RecorderReport report() const { return latest_.get(); }

 private:
  void run(std::promise<void>& started);

  const RecorderOptions options_;  ///< any thread
  const DiskProbe probe_;          ///< any thread
  Requests requests_;              ///< any thread
  LatestReport latest_;            ///< any thread
  std::atomic<bool> ended_{false};
  std::mutex stop_mutex_;
  std::exception_ptr start_error_;  ///< of the thread, before the constructor returns
  std::thread thread_;              ///< joined under stop_mutex_
};

}  // namespace cardan::record
