// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cardan/memory/bound_fd.hpp"
#include "cardan/record/recorder/recorder.hpp"
#include "cardan/record/recorder/topic_queue.hpp"
#include "cardan/transport/observer.hpp"
#include "cardan/transport/run_directory.hpp"

namespace cardan::record {

/// Looks for topics to record and attaches to them, on a thread of its own: both ask other processes, who may take
/// their time. Thread safety: any thread; take() does not block.
class Scout {
 public:
  /// Has looked once when it returns. Throws Error (Unavailable).
  explicit Scout(const RecorderOptions& options);
  Scout(const Scout&) = delete;
  Scout& operator=(const Scout&) = delete;
  ~Scout();

  /// Topics that were attached since the last call.
  [[nodiscard]] std::vector<std::unique_ptr<TopicQueue>> take();
  /// Topics that were asked for and cannot be recorded: why, by their names.
  [[nodiscard]] std::map<std::string, std::string> problems() const;

 private:
  bool look();  ///< false: somebody did not answer
  [[nodiscard]] std::unique_ptr<TopicQueue> queue_for(const std::string& topic, const ObservedStream& stream,
                                                      std::string& problem) const;
  void note_problem(const std::string& topic, const std::string& problem);
  void run();

  const RecorderOptions& options_;
  const detail::RunDirectory& directory_;
  const std::int64_t since_ns_;
  BoundFd watch_;
  std::atomic<bool> stop_{false};
  std::set<std::string> known_;  ///< of the thread
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<TopicQueue>> found_;
  std::map<std::string, std::string> problems_;
  std::thread thread_;
};

}  // namespace cardan::record
