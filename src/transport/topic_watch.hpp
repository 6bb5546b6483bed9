// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/observer.hpp"
#include "cardan/topic.hpp"
#include "src/base/bound_fd.hpp"

namespace cardan::detail {

class RunDirectory;

/// How a publication lies in memory. Publications of a topic that are alike are one thing for the code that attaches to
/// them.
struct PublicationForm {
  std::string type;
  std::uint64_t type_hash = 0;
  std::size_t message_bytes = 0;
  Access access = Access::Owner;  ///< only with WatchOptions::by_access
  [[nodiscard]] bool operator==(const PublicationForm&) const = default;
};

/// The receiver of a TopicWatch's findings. All functions are called on one thread at a time: at first the one that
/// calls look(), then the watch's own.
class TopicWatchListener {
 public:
  virtual ~TopicWatchListener() = default;
  /// False: the topic is of no interest, whatever its type.
  [[nodiscard]] virtual bool may_want(const std::string& topic) const = 0;
  [[nodiscard]] virtual bool wants(const std::string& topic, const std::string& type) const = 0;
  /// A wanted topic has its first publication of this form. Throws Error: it cannot be used; it is found again with the
  /// next publication.
  virtual void found(const std::string& topic, const ObservedStream& stream) = 0;
  /// The end of a look. Waits for what found() only began. Returns what came to nothing, each with its topic: it is
  /// found again with the next publication.
  [[nodiscard]] virtual std::vector<std::pair<std::string, PublicationForm>> settle() { return {}; }
  /// A wanted publication is not accepted by the access rule. `again`: the topic was found before.
  virtual void refused(const std::string& topic, const ObservedStream& stream, const std::string& why, bool again) = 0;
  /// found() threw.
  virtual void unusable(const std::string& topic, const std::string& why) = 0;
  /// A process did not answer.
  virtual void silent(const std::string& topic, const std::string& why) = 0;
  /// The last publication of this form has left. Called only with WatchOptions::report_ends.
  virtual void ended(const std::string& /*topic*/, const PublicationForm& /*form*/) {}
  /// A look is over.
  virtual void looked() = 0;
};

struct TopicWatchOptions {
  std::string domain{};
  Access access = Access::Owner;  ///< whose publications are accepted
  bool report_ends = false;
  bool by_access = false;  ///< publications of different access are not alike
};

/// Looks for topics of a domain on its own thread, because asking other processes may take its time.
/// Thread safety: any thread. No function blocks but look(), start() and the destructor.
class TopicWatch {
 public:
  /// Throws Error (Unavailable). The listener must outlive the watch.
  TopicWatch(const TopicWatchOptions& options, TopicWatchListener& listener);
  TopicWatch(const TopicWatch&) = delete;
  TopicWatch& operator=(const TopicWatch&) = delete;
  ~TopicWatch();

  /// Looks once, on this thread, and continues looking on its own thread. Call it once.
  void start();
  /// The same, with the first look on that thread too: looked_ns() then says when it is over.
  void start_on_own_thread();
  /// Ends the thread. The destructor does so too; a listener that is destroyed first calls this.
  void stop() noexcept;
  /// When the last look that is over began. Earlier announcements have been found. Steady clock, ns.
  [[nodiscard]] std::int64_t looked_ns() const noexcept { return looked_ns_.load(); }

 private:
  struct Found {
    PublicationForm form;
    std::set<std::string> publications;
  };
  bool look();  ///< false: a process did not answer, or must be asked again
  /// A topic with publications that are new, and the answer of their processes.
  struct Asked {
    std::string topic;
    std::vector<std::string> publications;
    std::future<std::unique_ptr<const Observer>> observer;
  };
  /// At those that have been answered, or gave none in time. They leave the list.
  bool look_at_answers(std::list<Asked>& asked, std::int64_t now);
  bool look_at(Asked& asked, std::int64_t now);
  void look_at(const std::string& topic, const ObservedStream& stream, const std::string& publication);
  void end_missing(const std::set<std::string>& present);
  void run();

  const TopicWatchOptions options_;
  TopicWatchListener& listener_;
  const RunDirectory& directory_;
  BoundFd watch_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> looked_ns_{0};
  std::map<std::string, std::vector<Found>> found_;  ///< by topic
  std::set<std::string> done_;                       ///< publications that need no other look
  std::map<std::string, std::int64_t> not_now_;      ///< others, and when to look at them again
  std::thread thread_;
};

}  // namespace cardan::detail
