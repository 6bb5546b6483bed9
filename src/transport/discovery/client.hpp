// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <tuple>

#include "src/base/limiter.hpp"
#include "src/base/recent_set.hpp"
#include "src/transport/discovery/connection.hpp"
#include "src/transport/discovery/descriptor_shares.hpp"
#include "src/transport/discovery/process.hpp"

namespace cardan::detail {

/// Makes a fresh page of a subscriber in `memory`.
layout::SubscriberPage* make_subscriber_page(std::byte* memory);

/// The subscribing side. It finds publishers in the run directory, connects to their processes (one connection each),
/// attaches, and turns hang-ups into events. The cost of other users' names, processes and answers is bounded; our own
/// user and root are served first.
/// Helper thread only.
class Client {
 public:
  /// The result of a subscriber's first attachments.
  struct Answer {
    std::promise<void> given;
    /// Set if the only answers were refusals. The waiting thread owns it once the answer is given.
    std::exception_ptr error{};
  };

  explicit Client(Process& process);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// Attaches the subscriber to all publishers that are there. The answer is given when each has answered.
  void add(SubscriberCore& subscriber, Answer* answer);
  void forget_answer(const SubscriberCore& subscriber);
  void remove(SubscriberCore& subscriber);
  void local_publisher_ended(const PublisherCore& publisher);
  void remember_local(SubscriberCore& subscriber, const PublisherCore& publisher, Attached* attached,
                      std::uint64_t stream);
  void hand_over_notify(const Stream& stream, Fd peer_socket);
  void housekeeping(std::int64_t now);

 private:
  static constexpr std::int64_t kFirstTry = 100'000'000;  ///< ns until a process is tried again for the first time

  struct Link {  ///< one subscriber's attachment to one publisher
    SubscriberCore* subscriber = nullptr;
    TopicEntry entry;
    std::uint64_t id = 0;
    std::shared_ptr<Area> page;  ///< until the answer comes
    std::uint64_t stream = 0;    ///< the stream's id, once attached
  };
  /// Open until the connection has ended here and the last sample of its streams is gone. The publisher's end holds
  /// their slots as long.
  struct Socket {
    BoundFd fd;
    DescriptorShares::Claim claim;
  };
  struct Connection : ConnectionBase {
    std::string process;
    std::shared_ptr<Socket> socket;
    std::map<std::uint64_t, Link> links;
    std::weak_ptr<Mapping> bells;
    bool had_stream = false;  ///< the publisher may still have to learn that a sample was dropped
    bool heard = false;       ///< a message has come: its process lived after any earlier connection had ended
    std::int64_t since = 0;
    [[nodiscard]] int fd() const noexcept { return socket->fd.get(); }
  };
  struct Waiter {
    Answer* answer;
    std::size_t open = 0;
    std::size_t attached = 0;
    std::exception_ptr error;
  };
  struct Try {  ///< a process that could not be reached, or that hung up although it lives
    std::int64_t at = 0;
    std::int64_t delay = 0;
  };
  struct Held {  ///< a stream that counts in its user's share
    uid_t uid;
    std::uint64_t stream;
    DescriptorShares::Claim claim;
  };
  using Place = std::tuple<const SubscriberCore*, std::string, std::uint32_t>;  ///< process, serial
  static Place place_of(const SubscriberCore& subscriber, const TopicEntry& entry) {
    return {&subscriber, entry.process, entry.serial};
  }

  // The search for publishers to attach to (client_search.cpp).
  void watch();
  void changed();
  void scan();
  void look_in(std::int64_t ns);
  void attach_all(const std::vector<TopicEntry>& entries);
  void attach(SubscriberCore& subscriber, const TopicEntry& entry);
  [[nodiscard]] bool is_linked(const SubscriberCore& subscriber, const TopicEntry& entry) const;
  [[nodiscard]] bool has_room(const SubscriberCore& subscriber, uid_t uid);
  Connection* connection_to(const std::string& process, uid_t owner);
  void try_later(const std::string& process, std::int64_t first);
  void no_descriptor(SubscriberCore& subscriber, int pid, const std::string& why);
  void not_accepted(SubscriberCore& subscriber, const TopicEntry& entry, const socket::Peer& peer,
                    const std::string& why);
  void tell(SubscriberCore& subscriber, uid_t uid, Event event);
  void cut_lost(const std::string& process);
  void release_lost(const std::string& process);
  [[nodiscard]] bool is_open(const std::string& process) const;
  void settle_lost();
  void resume(const Link& link, nlohmann::json& message);

  // Answers of the processes.
  void receive(int fd);
  void take_message(int fd, Connection& c);
  void hang_up(int fd, bool shun = false);
  bool send(Connection& c, const nlohmann::json& message, const std::vector<int>& fds = {});
  bool handle(Connection& c, nlohmann::json& message, std::vector<Fd>& fds);
  bool without_descriptors(Connection& c, nlohmann::json& message);
  void answered_attach(Connection& c, std::uint64_t id, nlohmann::json& message, std::vector<Fd>& fds);
  enum class Attaching { Done, Refused, Later };
  Attaching attached(Connection& c, Link& link, const nlohmann::json& message, std::vector<Fd>& fds);
  struct Mapped;
  static Mapped map(Connection& c, const nlohmann::json& message, std::vector<Fd>& fds);
  static void check(const Connection& c, const SubscriberCore& subscriber, const nlohmann::json& message,
                    const Mapped& mapped);
  Stream* build(Connection& c, Link& link, const nlohmann::json& message, Mapped mapped);
  void refused(Connection& c, const Link& link, const nlohmann::json& message, const std::string& why);
  bool sent_away(Connection& c, const nlohmann::json& message);
  void forget_link(Connection& c, std::uint64_t id, bool for_now = false);
  void answered(const SubscriberCore* subscriber, bool attached, std::exception_ptr error);

  Process& process_;
  BoundFd inotify_;
  std::uint64_t next_id_ = 1;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::map<std::string, int> by_process_;
  std::multimap<std::uint64_t, SubscriberCore*> by_hash_;
  std::map<const SubscriberCore*, Waiter> waiters_;
  std::map<const SubscriberCore*, std::vector<Held>> held_;  ///< strangers' streams
  RecentSet<std::string> shunned_;                           ///< processes that broke the handshake
  RecentSet<Place> refusals_;                                ///< not requested again
  std::set<Place> for_now_;  ///< those of them that were for lack of room: requested again later
  std::int64_t ask_again_at_ = 0;
  std::map<std::string, Try> tries_;
  struct Lost {                      ///< an attachment that was lost although the publisher seems to live
    std::shared_ptr<Stream> stream;  ///< until that is known
    uid_t owner = 0;                 ///< of the publication's name
    std::uint64_t taken = 0;         ///< once it is known: the last publication that was taken
  };
  std::map<Place, Lost> lost_;
  std::set<std::string> dead_;  ///< processes whose names are removed at the end of this look
  Limiter events_;
  std::int64_t scan_at_ = 0, not_before_ = 0;  ///< the next look at the whole folder
  std::int64_t burst_began_ = 0;
  std::size_t burst_ = 0;
  bool poll_directory_ = false;
  bool short_of_descriptors_ = false;
  struct Local {
    SubscriberCore* subscriber;
    const PublisherCore* publisher;
    Attached* attached;
    std::uint64_t stream;
  };
  std::vector<Local> locals_;
};

}  // namespace cardan::detail
