// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cardan/runtime/host/component_report.hpp"

namespace cardan::host {

struct ControlOptions {
  /// Domain to ask; empty: $CARDAN_DOMAIN, else "default".
  std::string domain{};
  /// How long to wait for a host; a change of a parameter gets 2 s more, which its component may take.
  std::chrono::nanoseconds timeout = std::chrono::seconds{1};
};

/// What the hosts of a domain said.
struct DomainComponents {
  std::vector<ComponentReport> components;  ///< by process and in their order of start
  std::vector<std::string> problems;        ///< in words: hosts that did not answer, with their pid
  std::size_t hosts = 0;                    ///< that answered
};

/// Asks the processes of `cardan run` about their components, over Cardan's own topics. One thread at a time.
class ControlClient {
 public:
  /// Throws Error as Publisher and Subscriber. Set-up; blocks for some ms.
  explicit ControlClient(ControlOptions options = {});
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;
  ~ControlClient();

  /// All components with their statistics and parameters. Throws Error (Unavailable). Blocks until all hosts have
  /// answered, at most the time-out.
  [[nodiscard]] DomainComponents components();

  /// Changes a parameter of a component that components() found. Throws Error: what Runtime::set_parameter() throws
  /// there, Unavailable (its host does not answer). Blocks until the component has answered.
  void set_parameter(const ComponentReport& component, const std::string& parameter, const config::Value& value);

 private:
  struct Link;
  struct Answer {
    std::string host, text;
  };
  /// One answer of each host in `hosts` (names in the run directory).
  std::vector<Answer> ask(const std::string& request, const std::vector<std::string>& hosts, const std::string& only,
                          std::chrono::nanoseconds timeout);

  ControlOptions options_;
  std::unique_ptr<Link> link_;
};

}  // namespace cardan::host
