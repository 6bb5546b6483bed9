// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cardan/observer_report.hpp"
#include "src/base/area.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/socket.hpp"
#include "src/transport/discovery/handshake.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "src/transport/endpoint/publisher_area.hpp"

namespace cardan::detail {

/// Nanoseconds by which this time namespace's steady clock is ahead of the machine's.
std::int64_t steady_clock_offset();

/// An observer's connection to one process. It sends requests, waits for the answer, and never offers anything.
/// Thread safety: one thread at a time.
class ObserverLink {
 public:
  /// Late: trace() has no answer yet, and the connection stays.
  enum class Failure : std::uint8_t { None, Stale, Unreachable, Silent, Late, Refused, Gone, NotForUs };

  /// Connects and greets. After a failure, `failure()` and `why()` describe it.
  ObserverLink(const RunDirectory& directory, std::string process, std::chrono::nanoseconds timeout);

  [[nodiscard]] Failure failure() const noexcept { return failure_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] std::int64_t failed_at() const noexcept { return failed_at_; }  ///< steady clock
  [[nodiscard]] const std::string& process() const noexcept { return process_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int pid() const noexcept { return peer_.pid; }
  [[nodiscard]] const socket::Peer& peer() const noexcept { return peer_; }
  /// Added to the process's steady stamps, it gives ours.
  [[nodiscard]] std::int64_t time_shift() const noexcept { return time_shift_; }
  /// Whether the process lives, as far as can be seen without a request.
  [[nodiscard]] bool alive();

  /// The publisher's memory, read-only and checked. Empty: see failure(). The attachment ends before this returns, so
  /// that we do not keep the publisher alive.
  std::optional<PublisherArea> attach(const TopicEntry& entry, const std::string& topic);
  /// Lists what the process publishes, all parts within the time limit and `most_bytes`. Returns false on failure (see
  /// failure()); the parts that arrived are in `into` all the same.
  bool list(const std::string& topic, std::vector<PublisherReport>& into, std::size_t most_bytes = kMostOfAList);
  /// Asks the process to trace, for as long as this link lives, and for the names from number `from` on. The area's
  /// descriptor comes with the first answer. Empty: see failure(). After Late, the next call looks for the answer that
  /// is owed, and does not wait.
  std::optional<handshake::Traced> trace(std::uint64_t from, Fd& area);
  static constexpr std::size_t kMostOfAList = std::size_t{8} << 20;
  [[nodiscard]] std::size_t listed_bytes() const noexcept { return listed_bytes_; }

 private:
  bool send(const handshake::Message& message);
  /// Waits for the answer to a request, of the kind `M`. `id`: of an attach.
  template <class M>
  std::optional<M> answer(std::int64_t until, std::uint64_t id = 0, std::vector<Fd>* fds = nullptr);
  /// The next message. Empty: see failure().
  std::optional<handshake::Message> next(std::int64_t until, std::vector<Fd>& fds);
  /// Returns false if nothing came until then. Then it has failed.
  bool wait(std::int64_t until);
  /// Whether it says that there will be no answer. Then it has failed.
  bool is_refusal(const handshake::Message& message, std::uint64_t id);
  [[nodiscard]] PublisherReport report_of(handshake::Publication publication) const;
  void fail(Failure failure, std::string why);

  std::string process_;
  std::chrono::nanoseconds timeout_;
  BoundFd fd_;
  socket::Peer peer_;
  std::string name_ = "?";
  std::int64_t time_shift_ = 0;
  std::uint64_t next_id_ = 1;
  bool dead_ = false;
  Failure when_late_ = Failure::Silent;
  std::uint64_t owed_trace_ = 0;  ///< number of a request whose answer is late; 0: none
  Failure failure_ = Failure::None;
  std::string why_;
  std::int64_t failed_at_ = 0;
  std::size_t bytes_ = 0;         ///< of the last message
  std::size_t listed_bytes_ = 0;  ///< of the last list
};

/// The connections of all observers of this process to one domain, one to each publishing process. Any thread.
class ObserverLinks {
 public:
  /// The domain's instance. It is shared while it is in use.
  static std::shared_ptr<ObserverLinks> of(const std::string& domain);
  explicit ObserverLinks(const std::string& domain) : directory_(domain) {}

  [[nodiscard]] const RunDirectory& directory() const noexcept { return directory_; }
  /// Returns the connection to `process`; makes it if necessary. A process that did not answer is tried again only
  /// after five seconds. Call it with the mutex held.
  std::shared_ptr<ObserverLink> to(const std::string& process, std::chrono::nanoseconds timeout);
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  RunDirectory directory_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ObserverLink>> links_;
};

}  // namespace cardan::detail
