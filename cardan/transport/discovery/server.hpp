// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "cardan/transport/discovery/outbox.hpp"
#include "cardan/transport/discovery/process.hpp"

namespace cardan::detail {

/// The publishing side of the handshake: who connects, what they may attach to, and what they hear of it. Helper thread
/// only.
class Server {
 public:
  explicit Server(Process& process);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  void publisher_ended(const Process::Published& published);
  /// Cuts liars off and tells the demoted.
  void attend(const Process::Published& published);
  void housekeeping();

 private:
  struct Attachment {
    std::shared_ptr<PublisherCore> publisher;
    Attached* subscriber = nullptr;  ///< null: an observer
    DescriptorShares::Claim notify;
  };
  struct Connection {
    std::shared_ptr<BoundFd> socket;  ///< the publishing thread may shut it down until it has seen the end
    socket::Peer peer;
    bool foreign = false;
    std::string name;
    std::shared_ptr<BellBoard> board;  ///< its user's, or its own where the user is unmapped; once it has attached
    std::int64_t clock_offset = 0;
    bool greeted = false;
    bool lost = false;    ///< closed at the next housekeeping
    bool paused = false;  ///< not read from until it has read our answers, and its user may have time again
    DescriptorShares::Claim claim;
    Outbox outbox;
    std::map<std::uint64_t, Attachment> attachments;
  };
  struct Counts {  ///< of one user, and of all strangers together
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
  bool handle(Connection& c, const nlohmann::json& message, std::vector<Fd>& fds);
  void attach(Connection& c, const nlohmann::json& message, std::vector<Fd>& fds);
  void notify(Attachment& attachment, const Connection& c, Fd socket);
  void refuse(Connection& c, std::uint64_t id, const char* code, const std::string& why, const std::string& remedy);
  void reply(Connection& c, const nlohmann::json& message, const std::vector<int>& fds = {},
             std::shared_ptr<const void> keep = {}, DescriptorShares::Claim claim = {});
  void pause(Connection& c);
  void list(Connection& c, const nlohmann::json& message);
  [[nodiscard]] nlohmann::json describe(const Process::Published& p) const;

  Process& process_;
  BoundFd listener_;
  bool paused_ = false;
  std::int64_t accept_again_ = 0;
  std::map<int, std::unique_ptr<Connection>> connections_;
};

}  // namespace cardan::detail
