// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>

#include "cardan/transport/outbox.hpp"
#include "cardan/transport/process.hpp"

namespace cardan::detail {

/// The subscribing side: finds publishers in the run directory, connects to their processes (one connection each),
/// attaches, and turns hang-ups into events. Helper thread only.
class Client {
 public:
  /// What became of a subscriber's first attachments.
  struct Answer {
    std::promise<void> given;
    std::exception_ptr error{};  ///< the only answers were refusals; whoever waits owns it once the answer is given
  };

  explicit Client(Process& process);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// Attaches the subscriber to all publishers that are there; the answer is given when each has answered.
  void add(SubscriberCore& subscriber, Answer* answer);
  void forget_answer(const SubscriberCore& subscriber);
  void remove(SubscriberCore& subscriber);
  void local_publisher_ended(const PublisherCore& publisher);
  void remember_local(SubscriberCore& subscriber, const PublisherCore& publisher, Attached* attached,
                      std::uint64_t stream);
  void hand_over_notify(const Stream& stream, Fd peer_socket);
  void housekeeping(std::int64_t now);

 private:
  struct Link {  ///< one subscriber's attachment to one publisher
    SubscriberCore* subscriber = nullptr;
    TopicEntry entry;
    std::uint64_t id = 0;
    std::shared_ptr<Area> page;  ///< until the answer comes
    std::uint64_t stream = 0;    ///< its id, once attached
    bool refused = false;        ///< kept, so that it is not asked again
  };
  struct Connection {
    std::string process;
    BoundFd fd;
    socket::Peer peer;
    std::string name = "?";
    std::int64_t clock_offset = 0;
    std::map<std::uint64_t, Link> links;
    std::weak_ptr<Mapping> bells;
    Outbox outbox;
  };
  struct Waiter {
    Answer* answer;
    std::size_t open = 0;
    std::size_t attached = 0;
    std::exception_ptr error;
  };

  void watch();
  void changed();
  void scan();
  void found(const TopicEntry& entry);
  Connection* connection_to(const std::string& process, bool& stale);
  void attach(SubscriberCore& subscriber, const TopicEntry& entry);
  void receive(int fd);
  void hang_up(int fd, bool shun = false);
  void send(Connection& c, const nlohmann::json& message, const std::vector<int>& fds = {});
  bool handle(Connection& c, const nlohmann::json& message, std::vector<Fd>& fds);
  bool attached(Connection& c, Link& link, const nlohmann::json& message, std::vector<Fd>& fds);
  void refused(Connection& c, const Link& link, const nlohmann::json& message);
  void answered(const SubscriberCore* subscriber, bool attached, std::exception_ptr error);

  Process& process_;
  BoundFd inotify_;
  std::uint64_t next_id_ = 1;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::map<std::string, int> by_process_;
  std::multimap<std::uint64_t, SubscriberCore*> by_hash_;
  std::map<const SubscriberCore*, Waiter> waiters_;
  std::set<std::string> busy_;     ///< processes whose socket was full
  std::set<std::string> shunned_;  ///< processes that broke the handshake
  std::int64_t scan_at_ = 0;
  bool poll_directory_ = false;
  struct Local {
    SubscriberCore* subscriber;
    const PublisherCore* publisher;
    Attached* attached;
    std::uint64_t stream;
  };
  std::vector<Local> locals_;
};

}  // namespace cardan::detail
