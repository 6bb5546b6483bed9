// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "cardan/observer_report.hpp"
#include "cardan/subscriber.hpp"
#include "src/bridge/foxglove/protocol.hpp"
#include "src/bridge/rules.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/launcher/topics.hpp"

namespace cardan::bridge::foxglove {

/// The result of a look at the domain, as far as the rules show it.
struct Look {
  Graph graph{};
  std::string json{};  ///< publishers, subscribers, counts, latencies and what the processes use, for the page
};

/// The latencies and ages of one look and the next: what has come since. Thread safety: none. No function blocks.
class LatencyHistory {
 public:
  enum class What : std::uint8_t { Transport, Age, Answer };
  /// A subscriber's stream: the publisher's process, its number there, the subscriber's place among its subscribers.
  using Key = std::tuple<std::string, std::uint32_t, int, std::size_t, What>;
  /// Changes since the last look.
  [[nodiscard]] LatencyHistogram since(const Key& key, const LatencyHistogram& now);
  /// A new look begins: what the one before did not see is forgotten.
  void next();

 private:
  std::map<Key, LatencyHistogram> before_, now_;
};

[[nodiscard]] Look look_of(const DomainReport& report, const Rules& rules, LatencyHistory& history);

/// The components, processes and parameters of what `cardan run` runs, and its state, for the page.
/// Thread safety: one thread.
class SystemWatch {
 public:
  explicit SystemWatch(std::string domain) : domain_(std::move(domain)) {}
  /// Blocks as ControlClient::components() and launchers(). Throws Error as they do.
  [[nodiscard]] std::string json(host::ControlClient& control);

 private:
  void take_states();

  std::string domain_;
  std::unique_ptr<Subscriber<SystemState>> states_;
  struct Change {
    std::string system{}, state{}, previous{}, reason{};
    std::int64_t wall_ns = 0;
  };
  std::deque<Change> changes_;  ///< the last ones
};

/// The text of what was found. Any thread; does not block.
[[nodiscard]] std::string system_text(const host::DomainComponents& components, const host::DomainLaunchers& launchers);

}  // namespace cardan::bridge::foxglove
