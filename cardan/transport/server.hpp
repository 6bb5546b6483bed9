// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "cardan/transport/outbox.hpp"
#include "cardan/transport/process.hpp"

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
  };
  struct Connection {
    BoundFd fd;
    socket::Peer peer;
    std::string name;
    std::shared_ptr<BellBoard> own_board;  ///< of an unmapped user
    std::int64_t clock_offset = 0;
    bool greeted = false;
    Outbox outbox;
    std::map<std::uint64_t, Attachment> attachments;
  };

  void accept();
  void receive(int fd);
  void close(int fd);
  bool handle(Connection& c, const nlohmann::json& message, std::vector<Fd>& fds);
  void attach(Connection& c, const nlohmann::json& message, std::vector<Fd>& fds);
  void refuse(Connection& c, std::uint64_t id, const char* code, const std::string& why, const std::string& remedy);
  bool reply(Connection& c, const nlohmann::json& message, const std::vector<int>& fds = {});
  void list(Connection& c, const nlohmann::json& message);
  [[nodiscard]] nlohmann::json describe(const Process::Published& p) const;

  Process& process_;
  BoundFd listener_;
  bool paused_ = false;
  std::map<int, std::unique_ptr<Connection>> connections_;
};

}  // namespace cardan::detail
