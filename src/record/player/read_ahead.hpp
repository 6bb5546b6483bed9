// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "src/record/player/file_set.hpp"

namespace cardan::record {

/// A message that was read before it was needed.
struct ReadMessage {
  std::size_t file = 0;
  const mcap::Channel* channel = nullptr;
  std::uint64_t log_time = 0;
  std::int64_t source_time = 0;  ///< that readers are given
  std::uint64_t lap = 0;         ///< how often the files had been played through before
  bool before = false;           ///< it is from before the start, and comes there
  mcap::View data{};

  mcap::Bytes copy{};                   ///< the data, if they are small …
  std::shared_ptr<const void> owner{};  ///< … or their owner
  std::size_t cost = 0;                 ///< memory that it counts for
};

struct ReadAheadOptions {
  std::uint64_t start = 0;                                        ///< log time at which it starts; included
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();  ///< not included
  bool loop = false;
  std::uint64_t loop_start = 0;              ///< log time at which later laps start
  std::size_t bytes = std::size_t{1} << 26;  ///< that are read ahead
  bool newest = false;  ///< the newest message of each topic from before the start comes first, not only latched ones
  bool log_times = false;  ///< source times are log times
};

/// Messages of files in order, read by a separate thread so that the disk is never waited for while it keeps up. One
/// thread takes.
class ReadAhead {
 public:
  /// `files` must outlive it.
  ReadAhead(const FileSet& files, WantedChannel wanted, ReadAheadOptions options);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  enum class Found : std::uint8_t { Message, NotYet, End };
  /// The next message, which stays the next one until pop(). Waits for the disk, at most this time. Throws Error
  /// (System): the disk fails.
  [[nodiscard]] Found front(const ReadMessage*& message, std::chrono::nanoseconds timeout);
  void pop();

  /// Ends the reading, and tells what could not be read until then, each thing once. Blocks until the disk has
  /// answered.
  std::vector<FileProblem> finish();

 private:
  void read();
  bool read_lap(std::uint64_t lap, bool& any);
  bool push(ReadMessage message);
  void note(std::vector<FileProblem> problems);

  const FileSet& files_;
  WantedChannel wanted_;
  ReadAheadOptions options_;

  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<ReadMessage> ahead_;
  std::size_t bytes_ = 0;
  bool ended_ = false, stopping_ = false;
  std::exception_ptr failure_;
  // The reading thread's, until it has ended.
  std::vector<FileProblem> problems_;
  std::set<std::pair<std::size_t, std::uint64_t>> known_problems_;
  std::atomic<bool> cancelled_{false};
  std::thread thread_;
};

}  // namespace cardan::record
