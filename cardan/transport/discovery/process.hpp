// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cardan/base/bound_fd.hpp"
#include "cardan/base/socket.hpp"
#include "cardan/transport/discovery/helper_time.hpp"
#include "cardan/transport/discovery/run_directory.hpp"
#include "cardan/transport/endpoint/bell_board.hpp"
#include "cardan/transport/endpoint/publisher_core.hpp"
#include "cardan/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {

/// A stopwatch-free event loop on one thread: descriptors with handlers, a time to wake up, and closures from other
/// threads. on() and off() on the loop's thread only; post() and poke() anywhere. What a handler or a closure throws is
/// logged, and the loop goes on.
class Loop {
 public:
  using Handler = std::function<void()>;
  Loop();
  void on(int fd, Handler handler);
  void off(int fd);
  void post(std::function<void()> work);
  void poke() noexcept;
  [[nodiscard]] int poke_fd() const noexcept { return wake_.get(); }
  /// Handles what there is, waiting at most `timeout_ms` (−1: for ever).
  void turn(int timeout_ms);

 private:
  BoundFd epoll_;
  BoundFd wake_;
  std::unordered_map<int, std::shared_ptr<Handler>> handlers_;
  std::mutex mutex_;
  std::vector<std::function<void()>> work_;
};

class Server;
class Client;

/// This process in one domain: its socket, its entries in the run directory, its connections, and the helper thread
/// that serves them. None of it is on the path of a message. Made at the first endpoint, there until exit.
class Process {
 public:
  /// The process's instance for `domain` (empty: $CARDAN_DOMAIN, else "default"). Throws Error. Set-up; any thread.
  static Process& of(const std::string& domain);
  /// Wakes all helper threads; safe in a signal handler.
  static void poke_all_from_signal() noexcept;

  explicit Process(const std::string& domain);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Takes this process's names out of the run directory; at exit.
  void leave();

  // Any thread; each waits for the helper thread.
  void add(const std::shared_ptr<PublisherCore>& publisher);
  void remove(const std::shared_ptr<PublisherCore>& publisher);
  void add(SubscriberCore* subscriber);  ///< waits, at most a second, until the publishers that are there have
                                         ///< answered; throws what they refused with
  void remove(SubscriberCore* subscriber);
  /// Runs `work` on the helper thread and waits for it; exceptions come back. Called on the helper thread itself, it
  /// just runs it.
  void run(const std::function<void()>& work);

  [[nodiscard]] const RunDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  [[nodiscard]] std::shared_ptr<BellBoard> board_of(uid_t uid);
  /// Nanoseconds by which this time namespace's steady clock is ahead of the machine's.
  [[nodiscard]] std::int64_t clock_offset() const noexcept { return clock_offset_; }

  struct Published {
    std::shared_ptr<PublisherCore> core;
    TopicEntry entry;
  };
  // Helper thread.
  [[nodiscard]] const std::map<std::uint32_t, Published>& published() const noexcept { return published_; }
  [[nodiscard]] const std::vector<SubscriberCore*>& subscribers() const noexcept { return subscribers_; }
  /// Asks for a turn in `ms` milliseconds at the latest.
  void look_again_in(int ms) noexcept { look_again_ms_ = look_again_ms_ < 0 ? ms : std::min(look_again_ms_, ms); }
  [[nodiscard]] HelperTime& strangers_time() noexcept { return strangers_time_; }
  void attach_local(SubscriberCore& subscriber, const Published& published);
  /// Out of the table now, unmapped once the publishing thread has passed a quiescent point.
  void detach(const std::shared_ptr<PublisherCore>& publisher, const Attached* subscriber);

 private:
  void refuse_if_taken(const PublisherCore& core, const TopicEntry& own) const;
  void serve();
  [[nodiscard]] int next_timeout();
  void housekeeping();

  RunDirectory directory_;
  std::string id_;
  std::string name_;
  std::int64_t clock_offset_;
  Loop loop_;
  std::map<uid_t, std::weak_ptr<BellBoard>> boards_;
  std::shared_ptr<BellBoard> own_board_;
  std::map<std::uint32_t, Published> published_;
  std::vector<std::shared_ptr<PublisherCore>>
      collecting_;  ///< readers' pages wait for these publishers' quiescent point
  std::vector<SubscriberCore*> subscribers_;
  HelperTime strangers_time_;
  std::uint32_t next_serial_ = 1;
  int look_again_ms_ = -1;
  bool stop_told_ = false;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
  std::thread::id helper_id_;
  std::thread helper_;
};

/// Name of this program as peers see it: what it was given, else its file name. Any thread; takes a mutex.
std::string program_name();
/// From now on peers see this name; before the first endpoint, because each is told once. Any thread.
void set_program_name(std::string name);

}  // namespace cardan::detail
