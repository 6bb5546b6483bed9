// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cardan/subscriber.hpp"
#include "src/bridge/counts.hpp"
#include "src/bridge/dds/component_asker.hpp"
#include "src/bridge/dds/own_endpoints.hpp"
#include "src/bridge/dds/ros_servers.hpp"
#include "src/bridge/dds/ros_services.hpp"
#include "src/bridge/rules.hpp"
#include "src/system/launcher/topics.hpp"

namespace cardan::bridge::dds {

/// The parts of a node, besides topics, that a user of ROS 2 expects: the parameters of this computer's components as
/// the bridge node's own, their statistics on /diagnostics, and the log of `cardan run` on /rosout. Each can be
/// switched off in the rules. Thread safety: one thread. No function blocks but the destructor, for at most some
/// seconds.
class NodeInterfaces {
 public:
  /// Throws Error (System).
  NodeInterfaces(const Participant& participant, const Rules& rules, const MessageFinder& finder,
                 std::shared_ptr<Bell> bell);

  /// Takes requests, and sends what has been found out since.
  void carry();
  /// Sends lines of the log, at most some. Returns whether there may be more.
  bool carry_log();
  /// Readable when there are lines of the log; -1: they are not sent.
  [[nodiscard]] int fd() { return log_ ? log_->fd() : -1; }

  /// Of services of this computer. Returns whether endpoints have come or gone.
  bool carry_services(bool take) { return ros_services_.carry(take); }
  [[nodiscard]] int services_fd() const noexcept { return ros_services_.fd(); }
  /// Of services of nodes.
  [[nodiscard]] RosServers& servers() noexcept { return ros_servers_; }

  [[nodiscard]] std::vector<Guid> readers() const;
  [[nodiscard]] std::vector<Guid> writers() const;
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Of /diagnostics and the services, in which something was carried or lost.
  [[nodiscard]] std::vector<TopicReport> reports() const;

 private:
  struct Service {
    OwnReader requests;
    OwnWriter replies;
    TopicReport report{};
  };
  void take_requests(std::size_t place);
  void send(ComponentAsker::Result result, TopicReport& report);

  ComponentAsker asker_;
  RosServices ros_services_;
  RosServers ros_servers_;
  std::vector<Service> services_;  ///< in the order of kParameterServices; empty: switched off
  std::optional<OwnWriter> diagnostics_;
  TopicReport diagnostics_report_{};
  std::optional<Subscriber<LogMessage>> log_;
  std::optional<OwnWriter> rosout_;
  TopicReport rosout_report_{};
};

}  // namespace cardan::bridge::dds
