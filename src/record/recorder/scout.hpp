// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cardan/recorder.hpp"
#include "src/record/recorder/selection.hpp"
#include "src/record/recorder/topic_queue.hpp"
#include "src/transport/topic_watch.hpp"

namespace cardan::record {

/// Looks for topics to record and attaches to them, on its own threads: both ask other processes, which may take
/// their time. Topics that are found together are attached at the same time, and given to take() as soon as they are:
/// their publishers overwrite samples that nobody takes. Thread safety: any thread; take() does not block.
class Scout : private detail::TopicWatchListener {
 public:
  /// `on_news`: called when a topic is attached and after each look, on whatever thread. Throws Error (Unavailable).
  Scout(const RecorderOptions& options, std::function<void()> on_news);
  Scout(const Scout&) = delete;
  Scout& operator=(const Scout&) = delete;
  ~Scout() override;

  /// When the last look that is over began; what was announced before is attached. Steady clock; 0: none is over.
  [[nodiscard]] std::int64_t looked_ns() const noexcept { return watch_.looked_ns(); }
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
  bool may_want(const std::string& topic) const override { return selection_.may_want(topic); }
  bool wants(const std::string& topic, const std::string& type) const override { return selection_.wants(topic, type); }
  void found(const std::string& topic, const ObservedStream& stream) override;
  void refused(const std::string& topic, const ObservedStream& stream, const std::string& why, bool again) override;
  void unusable(const std::string& topic, const std::string& why) override { note_problem(topic, why, 0, 1); }
  void silent(const std::string& topic, const std::string& why) override { note_problem(topic, why); }
  std::vector<std::pair<std::string, detail::PublicationForm>> settle() override;
  void looked() override { on_news_(); }
  /// Throws Error (Limit).
  void make_sure_of_room(const std::string& topic, bool foreign) const;
  void count(const std::string& topic, bool foreign, int by);
  void attach(std::unique_ptr<TopicQueue> queue);
  void note_problem(const std::string& topic, const std::string& problem, std::uint64_t refused = 0,
                    std::uint64_t unreadable = 0);

  const RecorderOptions& options_;
  const std::int64_t since_ns_;
  std::function<void()> on_news_;
  const Selection selection_;
  /// A topic that is being attached.
  struct Attaching {
    std::string topic;
    detail::PublicationForm form;
    bool foreign = false;  ///< its first publication is another user's
    std::future<void> done;
  };
  std::vector<Attaching> attaching_;  ///< of the watch's thread
  struct Number {
    std::size_t all = 0, of_others = 0;
  };
  std::map<std::string, Number> forms_;  ///< of the watch's thread; by topic, how many types are recorded
  Number channels_;                      ///< of the watch's thread; in all of them
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<TopicQueue>> found_;
  std::map<std::string, Problem> problems_;
  detail::TopicWatch watch_;  ///< last: it calls the rest
};

}  // namespace cardan::record
