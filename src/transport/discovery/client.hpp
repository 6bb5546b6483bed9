// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "src/base/limiter.hpp"
#include "src/base/recent_set.hpp"
#include "src/transport/discovery/connection.hpp"
#include "src/transport/discovery/descriptor_shares.hpp"
#include "src/transport/discovery/first_answers.hpp"
#include "src/transport/discovery/lost_streams.hpp"
#include "src/transport/discovery/not_asked.hpp"
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
  explicit Client(Process& process);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// Attaches the subscriber to all publishers that are there. The answer is given when each has answered.
  void add(SubscriberCore& subscriber, FirstAnswers::Answer* answer);
  void forget_answer(const SubscriberCore& subscriber) { answers_.forget(subscriber); }
  void remove(SubscriberCore& subscriber);
  void local_publisher_ended(const PublisherCore& publisher);
  void remember_local(SubscriberCore& subscriber, const PublisherCore& publisher, Attached* attached,
                      std::uint64_t stream);
  void hand_over_notify(const Stream& stream, Fd peer_socket);
  /// As Process::attach_to(), of another process.
  [[nodiscard]] bool attach_to(SubscriberCore& subscriber, const TopicEntry& entry, const std::string& topic,
                               std::uint64_t tag);
  // Services (client_service.cpp):
  /// Asks the process of this stream, which is a service's card. `asked`: without its id, serial and topic. The caller
  /// is told the answer as long as it does not withdraw(). Returns the id; 0: the stream has just ended.
  std::uint64_t ask(const Stream& card, handshake::Ask asked, ServiceCaller& caller);
  /// Withdraws what `caller` asked. It hears nothing more.
  void withdraw(const ServiceCaller& caller);
  void cancel(std::uint64_t id, std::uint64_t sequence);
  /// A service of this process declines a question of this process.
  void local_service_ended(const ServiceDesk& desk);
  void declined_local(CallerNumber number, std::uint64_t sequence, const std::string& why);
  void housekeeping(std::int64_t now);

 private:
  struct Link {  ///< one subscriber's attachment to one publisher
    SubscriberCore* subscriber = nullptr;
    TopicEntry entry;
    std::uint64_t id = 0;
    std::shared_ptr<Area> page;  ///< until the answer comes
    std::uint64_t stream = 0;    ///< the stream's id, once attached
    std::string unlisted{};      ///< the topic, if the publication is not listed
    std::uint64_t tag = 0;
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
    std::map<std::uint64_t, ServiceCaller*> asked;
    std::weak_ptr<Mapping> bells;
    bool had_stream = false;  ///< the publisher may still have to learn that a sample was dropped
    bool heard = false;       ///< a message has come: its process lived after any earlier connection had ended
    std::int64_t since = 0;
    [[nodiscard]] int fd() const noexcept { return socket->fd.get(); }
  };
  struct Held {  ///< a stream that counts in its user's share
    uid_t uid;
    std::uint64_t stream;
    DescriptorShares::Claim claim;
  };

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
  [[nodiscard]] std::optional<DescriptorShares::Claim> share_of_connection(uid_t owner) const;
  [[nodiscard]] Fd reach(const std::string& process, uid_t owner);
  bool accepts_name(SubscriberCore& subscriber, const TopicEntry& entry);
  bool accepts_peer(SubscriberCore& subscriber, const TopicEntry& entry, const socket::Peer& peer);
  bool request(SubscriberCore& subscriber, const TopicEntry& entry, Connection& c, const std::string& unlisted = {},
               std::uint64_t tag = 0);
  bool handle_service(Connection& c, const handshake::Message& message, bool& mine);
  void try_later(const std::string& process, std::int64_t first = Tries::kFirst);
  void no_descriptor(SubscriberCore& subscriber, int pid, const std::string& why);
  void not_accepted(SubscriberCore& subscriber, const TopicEntry& entry, const socket::Peer& peer,
                    const std::string& why);
  void tell(SubscriberCore& subscriber, uid_t uid, Event event);
  void settle_lost();

  // Answers of the processes.
  void receive(int fd);
  void take_message(int fd, Connection& c);
  void hang_up(int fd, bool shun = false);
  bool send(Connection& c, const handshake::Message& message, const std::vector<int>& fds = {});
  bool handle(Connection& c, handshake::Message& message, std::vector<Fd>& fds);
  bool without_descriptors(Connection& c, handshake::Message& message);
  void answered_attach(Connection& c, handshake::Attached& answer, std::vector<Fd>& fds);
  enum class Attaching { Done, Refused, Later };
  Attaching attached(Connection& c, Link& link, const handshake::Attached& answer, std::vector<Fd>& fds);
  struct Mapped;
  static Mapped map(Connection& c, const handshake::Attached& answer, std::vector<Fd>& fds);
  static void check(const Connection& c, const SubscriberCore& subscriber, const handshake::Attached& answer,
                    const Mapped& mapped);
  Stream* build(Connection& c, Link& link, const handshake::Attached& answer, Mapped mapped);
  void refused(const Connection& c, const Link& link, const handshake::Refused& answer);
  bool sent_away(Connection& c, const handshake::SentAway& answer);
  void lost(const Link& link);
  void forget_link(Connection& c, std::uint64_t id, bool for_now = false);

  Process& process_;
  BoundFd inotify_;
  std::uint64_t next_id_ = 1;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::map<std::string, int> by_process_;
  std::multimap<std::uint64_t, SubscriberCore*> by_hash_;
  FirstAnswers answers_;
  std::map<const SubscriberCore*, std::vector<Held>> held_;  ///< streams of other users
  RecentSet<std::string> shunned_;                           ///< processes that broke the handshake
  Declined declined_;
  Tries tries_;
  LostStreams lost_;
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
  struct LocalAsk {
    std::uint64_t id;
    ServiceCaller* caller;
    ServiceDesk* desk;
    CallerNumber number;
  };
  std::vector<LocalAsk> local_asks_;
};

}  // namespace cardan::detail
