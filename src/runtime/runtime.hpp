// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cardan/component.hpp"
#include "cardan/configuration.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/executor/await_recorders.hpp"
#include "src/runtime/executor/channel.hpp"
#include "src/runtime/executor/failure_log.hpp"
#include "src/runtime/executor/group.hpp"
#include "src/runtime/executor/runtime_clock.hpp"
#include "src/runtime/service/services.hpp"

namespace cardan {

/// A sample that must not be delivered to a callback again, because its process crashed on it.
struct PoisonSample {
  std::string component{}, callback{};
  std::uint64_t sequence = 0;
  std::int64_t publish_ns = 0;
  bool operator==(const PoisonSample&) const = default;
};

struct RuntimeOptions {
  /// Domain of the topics. Empty: $CARDAN_DOMAIN, or "default" if that is not set.
  std::string domain{};
  /// Name of this process in the configuration, for the names of its threads.
  std::string process{};
  /// False: every topic stays in this process, and no part of the transport is started.
  bool transport = true;
  /// False: no threads; run_one() works. For simulations and unit tests.
  bool threads = true;
  /// Nanoseconds at which a simulated clock starts. Absent: the steady clock.
  std::optional<std::int64_t> simulated_time{};
  /// Executor groups that components name. "main" with one worker always exists.
  std::vector<config::Group> groups{};
  /// Changes to the topics that the components declare, by their names on the bus.
  std::map<std::string, config::TopicSettings> topics{};
  /// Chains of the system: what each component publishes carries how old it is by each of them, and publications at the
  /// end of a chain are counted (OutputCore::chain_ends()). At most kMaxChainBeginnings different beginnings.
  std::vector<config::Chain> chains{};
  /// Names of the system's components in other processes, which may be on the way of a chain.
  std::vector<std::string> hops{};
  /// Each component marks its cycle for recorders (cardan/cycle.hpp), as its `cycle` setting says.
  bool cycles = false;
  /// Samples that the named callbacks skip. Each is counted (CallbackStatistics::skipped) and logged.
  std::vector<PoisonSample> poison{};
  /// The minimum level of Context::log() lines, by component name. "": for all other components.
  std::map<std::string, LogLevel> log_levels{};
  /// Called before on_start() of each component, in start() and restart().
  std::function<void(const std::string& component)> on_begin{};
  /// How long start() waits at most until running recorders have attached to the outputs, and how long, in total,
  /// outputs that publish in on_start() wait for them. 0: no waiting.
  std::chrono::nanoseconds await_recorders{0};
  /// Called on a worker for each exception that leaves a callback, after it was counted and logged.
  std::function<void(const std::string& component, const std::string& callback, const std::string& what)> on_failure{};
  /// Called in start() and restart(): with false before callbacks are withdrawn, with true after all are declared and
  /// before they run. For code that reads the callbacks from other threads.
  std::function<void(bool declared)> on_change{};
  /// Called for each sample that is published here, on the publishing thread, before any subscriber reads it. Must not
  /// throw. For recorders; costs every publication a call.
  std::function<void(const detail::Channel& channel, const detail::SampleBlock& sample)> on_publish{};
};

/// Why a component is restarted: a callback failed, or a restart was ordered.
enum class RestartCause : std::uint8_t { Failure, Order };

/// A component was not restarted, because a callback of its groups did not end in time.
class StillRunning : public Error {
 public:
  using Error::Error;
};

/// The components of one process and everything that runs them.
/// Set-up and control: one thread at a time.
class Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();  ///< stops

  /// Adds a component that `settings` describe: made by `class_name` from `library` (empty: from this program), or the
  /// given one. Call it before start(). Throws Error: NameTaken, and as make_component().
  void add(config::Component settings, std::shared_ptr<Component> component = nullptr);
  /// Starts all components in the order in which they were added, then the workers. Throws what on_start() throws, with
  /// the component's name; then all started components are stopped.
  void start();
  /// Stops one component and starts a new one of its class in its place, with the configuration's parameters, while the
  /// others continue. Its groups pause until it has started; samples published meanwhile wait in the other components'
  /// queues.
  ///
  /// The new component is a late joiner like any other: of each topic it gets the last `depth` samples, regardless of
  /// the publisher. After a failure it gets none of the samples on which its predecessors' callback failed twice; after
  /// an order it gets all again. Other samples that waited in the old component's queues are lost.
  ///
  /// Throws Error: InvalidArgument (no component of that name, or it was not made by its class name), and what
  /// on_start() throws; then the component is gone, and the others continue.
  /// Must not be called from a callback. Blocks until callbacks of its groups have ended, at most for `pause`: then it
  /// throws StillRunning, and nothing has changed.
  void restart(const std::string& component, RestartCause cause = RestartCause::Failure,
               std::chrono::nanoseconds pause = std::chrono::hours{24});
  /// Lets running callbacks end, then calls on_stop() in the reverse order. Blocks for as long as that takes.
  void stop() noexcept;

  /// Without threads: runs the most urgent ready callback. Returns false if none is ready.
  bool run_one();
  /// Without threads: the time when the next timer is due; 0: no timer.
  [[nodiscard]] std::int64_t next_timer() const;
  [[nodiscard]] RuntimeClock& clock() noexcept { return clock_; }
  [[nodiscard]] const RuntimeClock& clock() const noexcept { return clock_; }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }

  /// Calls `on_publish` (RuntimeOptions) for each sample from now on. Before the first endpoint is declared.
  void tap(std::function<void(const detail::Channel& channel, const detail::SampleBlock& sample)> on_publish) {
    options_.on_publish = std::move(on_publish);
  }

  /// Logs the counts of repeated exceptions whose time is over (10 s). Returns when to call it again, in nanoseconds of
  /// the steady clock; 0: nothing is counted.
  /// Any thread; never blocks.
  std::int64_t say_repeated_failures();

  /// Changes a parameter as a callback of its component. Throws Error: InvalidArgument (no such component or parameter,
  /// type, range), Refused (the component refuses, or it is fixed), Unavailable (the component does not answer within
  /// the time-out; the value then stays unchanged for good).
  /// Any thread except the component's own; blocks.
  void set_parameter(const std::string& component, const std::string& parameter, ParameterValue value,
                     std::chrono::nanoseconds timeout = std::chrono::seconds{2});

  [[nodiscard]] const std::vector<std::unique_ptr<detail::ComponentCore>>& components() const noexcept {
    return components_;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<detail::Group>>& groups() const noexcept { return groups_; }

  // For ComponentCore.
  /// This process's part of a topic. Throws Error (Incompatible) if the topic is of another type here.
  std::shared_ptr<detail::Channel> channel(const std::string& topic, const detail::PayloadType& type,
                                           const std::string& component);
  [[nodiscard]] detail::Services& services() noexcept { return services_; }
  [[nodiscard]] detail::RecorderGate& recorder_gate() noexcept { return recorder_gate_; }
  detail::Group& group(const std::string& name);
  detail::Group& own_thread(const std::string& name, const config::Thread& thread);
  [[nodiscard]] TopicOptions options_of(const std::string& topic, TopicOptions in_code) const;
  /// ChainRole::key() of the topic if a chain begins there, or 0.
  [[nodiscard]] std::uint32_t chain_beginning(const std::string& topic) const noexcept;
  /// All components that may be on the way of a chain.
  [[nodiscard]] std::vector<std::string> hops() const;
  /// Room for chains in each slot of the outputs.
  [[nodiscard]] std::uint32_t chain_entries() const noexcept { return chain_entries_; }
  /// The transport's process. Null: nothing may leave this process.
  [[nodiscard]] detail::Process* process() const;

 private:
  void begin(detail::ComponentCore& core);
  void mark_cycle(detail::ComponentCore& core);
  void await_recorders() const;
  /// Connects this component, or all of them (null).
  void connect_remotes(const detail::ComponentCore* only);
  [[nodiscard]] std::unique_ptr<detail::RemoteSource> connect_remote(const detail::ComponentCore::Declared& declared,
                                                                     const std::vector<detail::Port*>& ports);
  /// For a restart when there is no memory for one more subscriber.
  void connect_in_need(detail::RemoteSet& remotes, const detail::ComponentCore::Declared& declared,
                       const std::vector<detail::Port*>& ports);
  /// The same for services.
  void connect_services(const detail::ComponentCore* only);
  void stop_keeping_for_nobody(const detail::ComponentCore& core) const;
  void failed(detail::Callback& callback, const std::string& what);
  void say_rest_of_failures() noexcept;
  detail::Group& make_group(GroupOptions options);

  RuntimeOptions options_;
  std::uint32_t chain_entries_ = 0;
  RuntimeClock clock_;
  detail::Services services_{clock_};
  detail::RecorderGate recorder_gate_;
  std::vector<std::unique_ptr<detail::Group>> groups_;
  std::map<std::string, std::shared_ptr<detail::Channel>> channels_;
  std::vector<std::unique_ptr<detail::ComponentCore>> components_;
  bool started_ = false;
  std::mutex failures_mutex_;
  detail::FailureLog failures_;
};

}  // namespace cardan
