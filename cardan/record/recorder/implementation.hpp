// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cardan/base/futex.hpp"
#include "cardan/messages/clock.hpp"
#include "cardan/messages/recorder_statistics.hpp"
#include "cardan/record/recorder/files.hpp"
#include "cardan/record/recorder/open_batch.hpp"
#include "cardan/record/recorder/recorder.hpp"
#include "cardan/record/recorder/scout.hpp"
#include "cardan/record/recorder/selection.hpp"
#include "cardan/record/recorder/topic_queue.hpp"
#include "cardan/record/schedule/scheduler.hpp"
#include "cardan/runtime/histogram.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/subscriber.hpp"

namespace cardan::record {

/// The recorder's thread: takes samples, gives them their place in the file, submits and collects writes. Everything
/// without a comment is that thread's alone.
class Recorder::Implementation {
 public:
  explicit Implementation(RecorderOptions options);
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation();

  // Any thread.
  void stop();
  void pause(bool paused);
  [[nodiscard]] bool paused() const noexcept { return paused_.load(std::memory_order_relaxed); }
  void split();
  void trigger();
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  [[nodiscard]] RecorderReport report() const;

 private:
  /// A chunk of small samples that is closed and waits for its place.
  struct ReadyBatch {
    std::unique_ptr<Batch> batch{};  ///< empty: it is being compressed
    std::vector<Share> shares{};
    std::int64_t oldest_publish_ns = 0, opened_ns = 0, closed_ns = 0;
    std::uint64_t first_log_time = 0;
    std::uint64_t number = 0;
  };
  static constexpr std::size_t kCompressions = 3;

  void run(std::promise<void>& started);
  void turn();
  void sleep();
  void poke() noexcept;

  // Samples (samples.cpp).
  void adopt_topics();
  void take_all();
  [[nodiscard]] std::uint64_t in_order(std::uint64_t log_time) noexcept;
  [[nodiscard]] std::unique_ptr<Batch> take_batch();
  std::uint64_t add_to(Batch& batch, TopicQueue& topic, const TopicQueue::Waiting& sample);
  void add_to_batch(TopicQueue& topic, const TopicQueue::Waiting& sample);
  void close_batch(std::size_t compression);
  void close_old_batches(bool all);
  void collect_packed();

  // Chunks (writing.cpp).
  void issue();
  // Bytes; 0: there is nothing, or no room.
  std::uint64_t issue_next(bool fullest_first);
  std::uint64_t issue_batch(ReadyBatch& ready);
  std::uint64_t issue_frame(TopicQueue& topic);
  void issue_copied(TopicQueue& topic, const TopicQueue::Waiting& sample);
  [[nodiscard]] ReadyBatch* oldest_batch();
  [[nodiscard]] TopicQueue* next_frame(bool fullest_first) const;
  [[nodiscard]] Decision decide();
  void drop_late_frames();
  bool room_for(std::uint64_t bytes) const noexcept;
  bool file_has_room(std::uint64_t bytes);
  void ensure_channel(Segment& segment, TopicQueue& topic);
  void collect_completions();
  void lose(const Extent& extent, LossCause cause);
  void look_after_files();
  void switch_file();
  void forget_old_files(bool at_the_end);
  void drop_everything(LossCause cause);
  void end(const std::string& why);
  [[nodiscard]] std::vector<mcap::Metadata> losses() const;
  [[nodiscard]] bool nothing_left() const noexcept;

  void publish_report();
  void create_statistics();
  void publish_statistics();

  const RecorderOptions options_;
  DiskProbe probe_;
  std::unique_ptr<IoQueue> queue_;
  std::unique_ptr<Files> files_;
  std::unique_ptr<Scout> scout_;
  std::unique_ptr<Worker> packer_;  ///< compresses

  std::vector<std::unique_ptr<TopicQueue>> topics_;
  std::vector<detail::SubscriberCore*> awake_for_;  ///< of sleep()
  std::map<std::string, std::uint16_t> schemas_;    ///< numbers, by name, encoding and text
  std::vector<std::uint64_t> schema_in_segment_;    ///< by number: the last file that has it

  std::array<OpenBatch, kCompressions> open_;  ///< by compression
  std::array<mcap::Compressor, kCompressions> compressors_;
  std::deque<ReadyBatch> ready_;  ///< in the order in which they were closed
  std::vector<std::unique_ptr<Batch>> free_batches_;
  std::size_t batches_made_ = 0, packing_ = 0;
  std::uint64_t batches_closed_ = 0;
  std::uint64_t last_log_time_ = 0;
  std::int64_t last_taken_ns_ = 0;  ///< steady clock
  std::mutex packed_mutex_;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<Batch>>> packed_;  ///< by number; under packed_mutex_

  Scheduler scheduler_;
  Selection selection_;
  std::unique_ptr<Subscriber<CycleHint>> hints_;
  std::unique_ptr<Publisher<RecorderStatistics>> statistics_;
  std::int64_t looked_before_ = 0;   ///< the scout's last look whose topics are adopted
  std::int64_t told_looked_ns_ = 0;  ///< the one in the last statistics
  std::int64_t look_again_ns_ = 0;   ///< the scheduler wants to be asked again
  bool ending_ = false;              ///< all that is there goes at once
  bool pressed_ = false;             ///< more waits than may be under way

  std::unique_ptr<Segment> segment_;
  std::deque<std::unique_ptr<Segment>> closing_;  ///< full, but not quiet yet
  std::vector<DiskDone> done_;
  std::int64_t now_ = 0;
  RecordingTime time_;
  std::unique_ptr<Subscriber<Clock>> clock_;  ///< of the simulation
  std::int64_t started_ns_ = 0, segment_since_ns_ = 0, synced_ns_ = 0, reported_ns_ = 0, told_ns_ = 0;
  bool split_wanted_ = false;
  int failures_in_a_row_ = 0;
  std::uint64_t failed_segment_ = 0;
  std::uint64_t committed_closed_ = 0, copied_bytes_ = 0;
  std::uint64_t bytes_under_way_ = 0;
  Histogram write_times_, submit_times_, path_times_;
  std::int64_t write_sum_ = 0, submit_sum_ = 0, path_sum_ = 0;
  std::uint64_t writes_ = 0, submits_ = 0, paths_ = 0;
  std::string failure_;
  std::map<std::string, Scout::Problem> problems_;  ///< of topics that cannot be recorded

  std::atomic<bool> stop_{false}, paused_{false}, split_{false}, triggered_{false}, ended_{false};
  Atomic<std::uint32_t> poked_{0};
  mutable std::mutex report_mutex_;
  RecorderReport report_;  ///< under report_mutex_
  std::mutex stop_mutex_;
  std::exception_ptr start_error_;  ///< before the thread has started
  std::thread thread_;
};

}  // namespace cardan::record
