// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/observer_report.hpp"

namespace cardan {
class Runtime;
}

namespace cardan::host {

/// The cost and losses of one callback since its component started. Times in nanoseconds.
struct CallbackReport {
  enum class Kind : std::uint8_t { Input, Latest, Timer, Service, Client };
  std::string name;
  Kind kind = Kind::Input;
  std::string topic;  ///< of an input, on the bus; or the service
  std::string group;  ///< executor group
  int priority = 0;
  LatencyHistogram transport;  ///< publish → in the queue; of a client: asked → answer in the queue
  LatencyHistogram waiting;    ///< in the queue (a timer: due) → begun
  LatencyHistogram running;    ///< begun → done
  LatencyHistogram age;        ///< of an input: origin (Sample::origin_age()) → begun
  std::int64_t longest_transport = 0, longest_waiting = 0, longest_running = 0, greatest_age = 0;
  std::uint64_t unknown_ages = 0;  ///< samples whose origin is not known
  std::uint64_t calls = 0;
  std::uint64_t queue_full = 0;  ///< dropped: newer samples pushed them out of the queue
  std::uint64_t kept = 0;        ///< dropped because the component keeps too many samples
  std::uint64_t missed = 0;      ///< lost before they came to this process's queue
  std::uint64_t failures = 0;    ///< exceptions
  std::uint64_t overruns = 0;    ///< of a timer: periods that were over before it could run
  std::uint64_t skipped = 0;     ///< samples that it was not given: its process crashed on each twice
  std::uint64_t unanswered = 0;  ///< of a service: overdue or cancelled before their turn; of a client: all
  std::uint64_t late = 0;        ///< publishers of other processes that missed the topic's deadline
  std::uint32_t queued = 0, capacity = 0;
  std::int64_t running_since = 0;  ///< for how long it has been running right now; 0: it is not
  bool operator==(const CallbackReport&) const = default;
};

struct OutputReport {
  std::string topic, type;
  std::uint64_t published = 0;
  std::uint32_t readers_here = 0;     ///< inputs in the same process
  std::uint32_t readers_outside = 0;  ///< subscribers in others
  bool operator==(const OutputReport&) const = default;
};

struct ParameterReport {
  std::string name, description;
  config::Value value;
  std::optional<config::Value> min{}, max{};
  bool fixed = false;  ///< only the configuration sets it
  bool operator==(const ParameterReport&) const = default;
};

/// The fate of the samples of one input of a fusion since its component started; as FusionInputStatistics.
struct FusionInputReport {
  std::string name, topic;  ///< topic: on the bus
  std::uint64_t offered = 0, used = 0, unfired = 0, replaced = 0, overtaken = 0, pushed_out = 0, late = 0, cleared = 0;
  std::uint64_t waiting = 0, never_arrived = 0, too_old = 0, absent = 0, unstamped = 0;
  bool operator==(const FusionInputReport&) const = default;
};

struct FusionReport {
  std::string name;
  std::string policy;       ///< FusionPolicy::name(): "primary"
  std::string time;         ///< the one that it uses: "source", "publish" or "header.stamp"
  std::uint64_t fired = 0;  ///< sets
  bool silent = false;      ///< gets samples and makes no set of them
  std::string why{};        ///< not, in words; of a silent one
  std::vector<FusionInputReport> inputs{};
  bool operator==(const FusionReport&) const = default;
};

/// A component that may be on the way of a chain.
struct ChainHopReport {
  std::string component;
  std::uint64_t longest = 0;    ///< publications on whose way it took longest
  std::uint64_t late = 0;       ///< those of them that exceeded the budget
  std::int64_t longest_ns = 0;  ///< the most that it took of them
  bool operator==(const ChainHopReport&) const = default;
};

/// How old the information of a chain is at what the component publishes at its end (docs/chains.md).
struct ChainReport {
  std::string chain, from, to;  ///< from, to: on the bus
  std::int64_t budget_ns = 0;   ///< 0: no limit
  std::uint64_t publications = 0;
  std::uint64_t late = 0;     ///< those that exceeded the budget
  std::uint64_t unknown = 0;  ///< those whose age is not known
  LatencyHistogram age{};
  std::int64_t greatest_age = 0;
  std::int64_t late_ago_ns = -1;       ///< the last late one; −1: none yet
  std::vector<ChainHopReport> hops{};  ///< without those that never took longest
  bool operator==(const ChainReport&) const = default;
};

/// The component that took longest most often; null: none is known. Any thread; does not block.
[[nodiscard]] const ChainHopReport* slowest_of(const ChainReport& chain) noexcept;

/// A component that runs now.
struct ComponentReport {
  std::string name, class_name, library;
  std::string process;  ///< as the configuration names it
  std::string host;     ///< the process's name in the run directory
  int pid = 0;
  std::uint64_t restarts = 0;  ///< within its process
  std::vector<CallbackReport> callbacks;
  std::vector<OutputReport> outputs;
  std::vector<FusionReport> fusions;
  std::vector<ParameterReport> parameters;
  std::vector<ChainReport> chains;  ///< that end with one of its outputs
  bool operator==(const ComponentReport&) const = default;
};

/// The declarations and counts of a runtime's components. While none is added or restarted; any thread; takes each
/// group's lock for some instructions. It copies only what the callbacks count anyway: without an observer, a
/// component pays nothing.
[[nodiscard]] std::vector<ComponentReport> report_of(const Runtime& runtime);

/// As JSON text, and back. Throws Error (Incompatible) for other text.
[[nodiscard]] std::string to_json(const std::vector<ComponentReport>& components);
[[nodiscard]] std::vector<ComponentReport> components_from_json(const std::string& text);

[[nodiscard]] const char* name_of(CallbackReport::Kind kind) noexcept;

}  // namespace cardan::host
