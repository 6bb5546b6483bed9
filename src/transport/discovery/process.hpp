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
#include <vector>

#include "src/base/socket.hpp"
#include "src/transport/discovery/loop.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "src/transport/discovery/service_parts.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/endpoint/helper_time.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {

class Server;
class Client;

/// This process in one domain: its socket, its entries in the run directory, its connections, and the helper thread
/// that serves them. None of this is on the path of a message. The first endpoint makes it; it lives until exit.
class Process {
 public:
  /// Returns the process's instance for `domain` (empty: $CARDAN_DOMAIN, else "default"). Throws Error. Set-up; any
  /// thread.
  static Process& of(const std::string& domain);
  /// Wakes all helper threads. Safe in a signal handler.
  static void poke_all_from_signal() noexcept;

  explicit Process(const std::string& domain);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Removes this process's names from the run directory, at exit.
  void leave();

  // Any thread; each call waits for the helper thread.
  void add(const std::shared_ptr<PublisherCore>& publisher);
  void remove(const std::shared_ptr<PublisherCore>& publisher);
  /// A publication without a name in the run directory: only subscribers that know topic and serial attach to it.
  /// Returns the serial.
  std::uint32_t add_unlisted(const std::shared_ptr<PublisherCore>& publisher);
  /// The card of a service, which its clients find and subscribe to.
  void add_service(const std::shared_ptr<PublisherCore>& card, ServiceDesk& desk);
  /// A subscriber that attaches to nothing by itself: attach_to() does.
  void add_unlisted(SubscriberCore* subscriber);
  void add(SubscriberCore* subscriber);  ///< waits, at most a second, until the existing publishers have answered;
                                         ///< throws their refusals
  void remove(SubscriberCore* subscriber);
  /// Runs `work` on the helper thread and waits for it; its exceptions are rethrown here. On the helper thread itself
  /// it runs `work` directly.
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
    bool listed = true;
    ServiceDesk* desk = nullptr;  ///< it is the card of this service
  };
  // Helper thread:
  [[nodiscard]] const std::map<std::uint32_t, Published>& published() const noexcept { return published_; }
  [[nodiscard]] const std::vector<SubscriberCore*>& subscribers() const noexcept { return subscribers_; }
  /// Requests a turn in `ms` milliseconds at the latest.
  void look_again_in(int ms) noexcept { look_again_ms_ = look_again_ms_ < 0 ? ms : std::min(look_again_ms_, ms); }
  /// Runs `work` after this time. Helper thread.
  void later(std::int64_t ns, std::function<void()> work);
  [[nodiscard]] HelperTime& strangers_time() noexcept { return strangers_time_; }
  void attach_local(SubscriberCore& subscriber, const Published& published, std::uint64_t tag = 0);
  [[nodiscard]] CallerNumber next_caller() noexcept { return ++last_caller_; }
  /// Attaches to an unlisted publication. `tag`: Stream::tag(), by which the subscriber knows it. Returns false if it
  /// cannot be requested; if it is refused later, the subscriber's `on_lost` gets the tag.
  [[nodiscard]] bool attach_to(SubscriberCore& subscriber, const TopicEntry& entry, const std::string& topic,
                               std::uint64_t tag);
  [[nodiscard]] Server& server() noexcept { return *server_; }
  [[nodiscard]] Client& client() noexcept { return *client_; }
  /// Removes the subscriber from the table now. Its page is unmapped once the publishing thread has passed a quiescent
  /// point.
  void detach(const std::shared_ptr<PublisherCore>& publisher, const Attached* subscriber);

 private:
  void announce(Published p);
  void prepare(SubscriberCore& subscriber);
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
      collecting_;  ///< pages of subscribers wait for these publishers' quiescent point
  std::vector<SubscriberCore*> subscribers_;
  HelperTime strangers_time_;
  std::uint32_t next_serial_ = 1;
  CallerNumber last_caller_ = 0;
  std::multimap<std::int64_t, std::function<void()>> later_;  ///< by the time when they are due
  int look_again_ms_ = -1;
  bool stop_told_ = false;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
  std::thread::id helper_id_;
  std::thread helper_;
};

/// The name of this program as peers see it: the name that was set, else its file name. Any thread; takes a mutex.
std::string program_name();
/// Sets the name that peers see. Call it before the first endpoint, because each peer receives it only once. Any
/// thread.
void set_program_name(std::string name);

}  // namespace cardan::detail
