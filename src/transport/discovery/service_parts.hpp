// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/observer_report.hpp"
#include "src/base/socket.hpp"
#include "src/transport/discovery/handshake.hpp"

namespace cardan::detail {

/// Identifies one client of one service in its server's process; never 0.
using CallerNumber = std::uint64_t;

/// The serving end of a service (docs/protocols/service.md), as discovery sees it. Helper thread only.
class ServiceDesk {
 public:
  /// A process that asks to be served.
  struct Caller {
    CallerNumber number = 0;
    socket::Peer peer{};
    std::string name{};
    bool is_here = false;  ///< in this process
    handshake::Ask asked{};
  };
  /// Fills `answer`, except its id. Returns why the caller is not served.
  [[nodiscard]] virtual std::optional<handshake::Refused> admit(const Caller& caller, handshake::Served& answer) = 0;
  /// The caller has ended, or does not want to be served any more.
  virtual void caller_gone(CallerNumber number) = 0;
  virtual void cancelled(CallerNumber number, std::uint64_t sequence) = 0;
  [[nodiscard]] virtual ServiceReport report() const = 0;

 protected:
  ServiceDesk() = default;
  ServiceDesk(const ServiceDesk&) = default;
  ServiceDesk& operator=(const ServiceDesk&) = default;
  ~ServiceDesk() = default;
};

/// The asking end. Helper thread only.
class ServiceCaller {
 public:
  /// `process` and `owner`: where the answers are published.
  virtual void served(const std::string& process, uid_t owner, const handshake::Served& answer) = 0;
  /// `foreign`: by another user's server.
  virtual void refused(const handshake::Refused& answer, bool foreign) = 0;
  /// The connection has ended. Streams that were attached over it end by themselves.
  virtual void hung_up() = 0;
  virtual void declined(std::uint64_t sequence, const std::string& why) = 0;

 protected:
  ServiceCaller() = default;
  ServiceCaller(const ServiceCaller&) = default;
  ServiceCaller& operator=(const ServiceCaller&) = default;
  ~ServiceCaller() = default;
};

}  // namespace cardan::detail
