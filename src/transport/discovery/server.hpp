// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/transport/discovery/connection.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {

/// The publishing side of the handshake: which peers connect, what they may attach to, and what they learn about it.
/// Helper thread only.
class Server {
 public:
  explicit Server(Process& process);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  void publisher_ended(const Process::Published& published);
  /// Cuts off liars and notifies demoted subscribers.
  void attend(const Process::Published& published);
  void housekeeping();
  /// A question of this caller gets no answer (server_service.cpp).
  void decline(CallerNumber number, std::uint64_t sequence, const std::string& why);

 private:
  struct Attachment {
    std::shared_ptr<PublisherCore> publisher;
    Attached* subscriber = nullptr;  ///< null: an observer
    DescriptorShares::Claim notify;
  };
  struct Connection : ConnectionBase {
    std::shared_ptr<BoundFd> socket;  ///< until it has seen the end, the publishing thread may shut it down
    /// Its user's board, or its own if the user is unmapped. Set once it has attached.
    std::shared_ptr<BellBoard> board;
    bool greeted = false;
    DescriptorShares::Claim claim;
    std::map<std::uint64_t, Attachment> attachments;
    std::optional<trace::Switch> tracing;  ///< from its first request on
    struct Asked {
      ServiceDesk* desk;
      CallerNumber number;
    };
    std::map<std::uint64_t, Asked> asked;  ///< services by which it is served
  };
  struct Counts {  ///< of one user, and of all other users together
    std::size_t connections = 0, attachments = 0, observers = 0;
    std::size_t of_strangers = 0, attachments_of_strangers = 0;
  };

  void accept();
  void admit(Fd fd, const socket::Peer& peer);
  [[nodiscard]] bool has_room(const socket::Peer& peer);
  [[nodiscard]] std::string nothing_for(const socket::Peer& peer) const;
  void send_away(const Fd& fd, const socket::Peer& peer, const std::string& why) const;
  [[nodiscard]] Counts counts_of(uid_t uid) const;
  void receive(int fd);
  void close(int fd);
  bool handle(Connection& c, const handshake::Message& message, std::vector<Fd>& fds);
  void detach(Connection& c, const handshake::Detach& asked);
  void notify(Connection& c, const handshake::Notify& asked, std::vector<Fd>& fds);
  void list(Connection& c, const handshake::List& asked);
  void trace(Connection& c, const handshake::Trace& asked);  // server_trace.cpp
  [[nodiscard]] handshake::Publication describe(const Process::Published& p) const;
  static void describe_subscribers(const PublisherCore& core, PublisherReport& into);
  // server_service.cpp:
  void ask(Connection& c, const handshake::Ask& asked);
  void cancel(Connection& c, const handshake::Cancel& asked);
  static void forget_asked(Connection& c);
  void refuse(Connection& c, std::uint64_t id, handshake::Refused refused);
  void reply(Connection& c, const handshake::Message& message, const std::vector<int>& fds = {},
             std::shared_ptr<const void> keep = {}, DescriptorShares::Claim claim = {});

  // The steps of an attach (server_attach.cpp).
  void attach(Connection& c, const handshake::Attach& asked, std::vector<Fd>& fds);
  [[nodiscard]] std::shared_ptr<PublisherCore> publication(const handshake::Attach& asked) const;
  [[nodiscard]] std::optional<handshake::Refused> beyond_limits(const Connection& c,
                                                                const handshake::Attach& asked) const;
  [[nodiscard]] std::optional<handshake::Refused> no_access(const Connection& c, const PublisherCore& core) const;
  [[nodiscard]] handshake::Refused no_share(const Connection& c) const;
  [[nodiscard]] std::optional<handshake::Refused> other_type(const Connection& c, const handshake::Attach& asked,
                                                             const PublisherCore& core) const;
  [[nodiscard]] std::optional<handshake::Refused> incomplete(const handshake::Attach& asked,
                                                             const std::vector<Fd>& fds) const;
  void attach_observer(Connection& c, const handshake::Attach& asked, const std::shared_ptr<PublisherCore>& core,
                       DescriptorShares::Claim claim);
  void attach_subscriber(Connection& c, const handshake::Attach& asked, const std::shared_ptr<PublisherCore>& core,
                         const Fd& page_fd, DescriptorShares::Claim claim);
  std::shared_ptr<BellBoard> board_for(Connection& c);

  Process& process_;
  BoundFd listener_;
  bool paused_ = false;
  std::int64_t accept_again_ = 0;
  std::map<int, std::unique_ptr<Connection>> connections_;
};

}  // namespace cardan::detail
