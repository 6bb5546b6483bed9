// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cardan/base/bound_fd.hpp"
#include "cardan/record/recorder/recorder.hpp"
#include "cardan/record/recorder/selection.hpp"
#include "cardan/record/recorder/topic_queue.hpp"
#include "cardan/transport/discovery/run_directory.hpp"
#include "cardan/transport/observer.hpp"

namespace cardan::record {

/// Looks for topics to record and attaches to them, on its own thread: both ask other processes, which may take
/// their time. Thread safety: any thread; take() does not block.
class Scout {
 public:
  /// Has looked once when it returns. `on_look`: called after each look, on whatever thread. Throws Error
  /// (Unavailable).
  Scout(const RecorderOptions& options, std::function<void()> on_look);
  Scout(const Scout&) = delete;
  Scout& operator=(const Scout&) = delete;
  ~Scout();

  /// When the last look that is over began; what was announced before is attached. Steady clock.
  [[nodiscard]] std::int64_t looked_ns() const noexcept { return looked_ns_.load(); }
  /// Topics that were attached since the last call.
  [[nodiscard]] std::vector<std::unique_ptr<TopicQueue>> take();
  /// A requested topic that is not recorded, or not completely.
  struct Problem {
    std::string why;
    std::uint64_t refused = 0;     ///< publications that are not accepted
    std::uint64_t unreadable = 0;  ///< publications whose type cannot be recorded
  };
  /// By the topics' names; the first of many.
  [[nodiscard]] std::map<std::string, Problem> problems() const;

 private:
  /// How a publication lies in memory: what one channel can hold.
  struct Form {
    std::string type;
    std::uint64_t type_hash = 0;
    std::size_t message_bytes = 0;
    [[nodiscard]] bool operator==(const Form&) const = default;
  };
  bool look();  ///< false: a process did not answer, or must be asked again
  bool look_at(const std::string& topic, const std::vector<std::string>& publications, std::int64_t now);
  void look_at(const std::string& topic, const ObservedStream& stream, const std::string& publication);
  void attach(const std::string& topic, const ObservedStream& stream);
  void note_problem(const std::string& topic, const std::string& problem, std::uint64_t refused = 0,
                    std::uint64_t unreadable = 0);
  void run();

  const RecorderOptions& options_;
  const detail::RunDirectory& directory_;
  const std::int64_t since_ns_;
  BoundFd watch_;
  std::function<void()> on_look_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> looked_ns_{0};
  const Selection selection_;
  std::map<std::string, std::vector<Form>> forms_;  ///< of the thread; by topic, those that are recorded
  std::size_t channels_ = 0;                        ///< of the thread; in all of them
  std::set<std::string> done_;                      ///< of the thread; publications that need no other look
  std::map<std::string, std::int64_t> not_now_;     ///< of the thread; others, and when to look at them again
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<TopicQueue>> found_;
  std::map<std::string, Problem> problems_;
  std::thread thread_;
};

}  // namespace cardan::record
