// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/bridge/foxglove/preview.hpp"

namespace cardan::bridge::foxglove {

/// Makes previews of messages on its own thread, one message at a time, so that no other client waits meanwhile.
/// It gives way to others, and rests as long as it has worked: whatever clients ask for, it uses half of a processor.
/// Thread safety: all functions on one thread. None blocks but the destructor, which waits for the message in work.
class PreviewMaker {
 public:
  /// Throws Error (Limit): no descriptor is left.
  PreviewMaker();
  PreviewMaker(const PreviewMaker&) = delete;
  PreviewMaker& operator=(const PreviewMaker&) = delete;
  ~PreviewMaker();

  /// A message of a channel. The caller has at most one of each channel here at once; it is held until it is made.
  struct Job {
    std::uint32_t channel = 0;
    std::uint64_t number = 0;
    FramePtr frame{};
    std::vector<Preview> previews{};
  };
  void start(Job job);  ///< may throw bad_alloc; the job is not started then

  struct Made {
    std::uint32_t channel = 0;
    std::uint64_t number = 0;
    std::vector<std::pair<Preview, FramePtr>> previews{};  ///< the bytes are in `cdr.prefix`; they hold no slot
  };
  /// Empties fd().
  [[nodiscard]] std::vector<Made> results();
  /// Readable when there are results.
  [[nodiscard]] int fd() const noexcept { return ready_.get(); }

 private:
  void run();
  /// Rests until a stop, at most this long.
  void rest(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds time);

  Fd ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<Made> made_;
  std::size_t under_way_ = 0;  ///< jobs that are not in made_ yet
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cardan::bridge::foxglove
