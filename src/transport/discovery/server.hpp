// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "src/transport/discovery/connection.hpp"
#include "src/transport/discovery/process.hpp"

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
  void list(Connection& c, const nlohmann::json& message);
  [[nodiscard]] nlohmann::json describe(const Process::Published& p) const;

  Process& process_;
  BoundFd listener_;
  bool paused_ = false;
  std::int64_t accept_again_ = 0;
  std::map<int, std::unique_ptr<Connection>> connections_;
};

}  // namespace cardan::detail
