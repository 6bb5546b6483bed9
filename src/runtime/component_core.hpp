// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cardan/component_options.hpp"
#include "cardan/configuration.hpp"
#include "cardan/cycle.hpp"
#include "cardan/detail/declaring.hpp"
#include "cardan/fusion_policy.hpp"
#include "cardan/log.hpp"
#include "cardan/parameter.hpp"
#include "cardan/topic.hpp"
#include "cardan/transforms.hpp"
#include "src/runtime/executor/channel.hpp"
#include "src/runtime/executor/output_core.hpp"
#include "src/runtime/executor/port.hpp"
#include "src/runtime/executor/timer_callback.hpp"
#include "src/runtime/fusion/fusion_watch.hpp"
#include "src/runtime/service/services.hpp"

namespace cardan {
class Component;
class Context;
class Runtime;
}  // namespace cardan

namespace cardan::detail {

/// Work for a component that comes from outside its callbacks, done as one of them.
class Errand final : public Callback {
 public:
  using Callback::Callback;
  void post(std::function<void()> work);

 private:
  [[nodiscard]] bool pending() const noexcept override { return !work_.empty(); }
  void pick(std::int64_t) noexcept override;
  void invoke() override;
  std::deque<std::function<void()>> work_;  // with the group's lock
  std::function<void()> picked_;
};

/// A component's declarations, and the parts that run it. Declaring is for on_start(), on one thread.
class ComponentCore {
 public:
  ComponentCore(Runtime& runtime, config::Component settings);
  ComponentCore(const ComponentCore&) = delete;
  ComponentCore& operator=(const ComponentCore&) = delete;
  ~ComponentCore();

  [[nodiscard]] Runtime& runtime() const noexcept { return runtime_; }
  [[nodiscard]] const std::string& name() const noexcept { return settings_.name; }
  [[nodiscard]] const config::Component& settings() const noexcept { return settings_; }
  /// A restart starts with this value. Not while components are added or restarted.
  void keep_parameter(const std::string& parameter, const config::Value& value) {
    settings_.parameters[parameter] = value;
  }
  /// The runtime's time; any thread.
  [[nodiscard]] std::int64_t now() const noexcept;

  // For Context.
  std::shared_ptr<OutputCore> output(const std::string& topic, const PayloadType& type, const TopicOptions& options);
  Port& input(const std::string& topic, const PayloadType& type, const TopicOptions& options, const InputOptions& input,
              Port::Call call, RemoteSource::Convert convert, bool at_once = false);
  /// The same tree at each call.
  Transforms transforms(const TransformsOptions& options);
  TransformOutput transform_output();
  void static_transform(std::string_view parent, std::string_view child, const Transform& place);
  void timer(std::chrono::nanoseconds period, const TimerOptions& options, std::function<void()> call);
  void service(const std::string& service, ServiceType type, const AnswerOptions& options, QuestionCall call);
  ClientCallback& client(const std::string& service, ServiceType type, const AskOptions& options);
  std::shared_ptr<ParameterCore> parameter(const std::string& name, ParameterValue initial,
                                           const std::function<void(ParameterCore&)>& describe);

  /// A fusion that it has declared.
  struct Fused {
    std::shared_ptr<FusionWatch> watch;
    std::function<FusionStatistics()> statistics{};
    std::vector<std::string> topics{};  ///< on the bus, in the order of its inputs
  };
  /// The next fusion, of topics as the code names them. Throws Error (InvalidArgument, NameTaken).
  Fused& fusion(const FusionPolicy& policy, const FuseOptions& options, const std::vector<std::string>& topics);
  /// Any thread.
  [[nodiscard]] const std::deque<Fused>& fusions() const noexcept { return fusions_; }

  /// An endpoint as it was declared, for check(), the table and the graph.
  struct Declared {
    std::string topic_in_code, topic;
    PayloadType type;
    TopicOptions options;  ///< with what the configuration changes
    TopicOptions options_in_code;
    bool output = false;
    Port* port = nullptr;               ///< of an input
    std::shared_ptr<OutputCore> out{};  ///< of an output
    RemoteSource::Convert convert{};
  };
  [[nodiscard]] const std::vector<Declared>& declared() const noexcept { return declared_; }
  [[nodiscard]] const std::vector<DeclaredService>& services() const noexcept { return services_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Callback>>& callbacks() const noexcept { return callbacks_; }
  [[nodiscard]] const std::map<std::string, std::shared_ptr<ParameterCore>>& parameters() const noexcept {
    return parameters_;
  }
  /// The least level of what Context::log() lets through; any thread.
  [[nodiscard]] LogLevel log_level() const noexcept { return log_level_.load(std::memory_order_relaxed); }
  void set_log_level(LogLevel level) noexcept { log_level_.store(level, std::memory_order_relaxed); }
  [[nodiscard]] Errand& errand() const noexcept { return *errand_; }
  /// Each call of its driving callback is a cycle from now on: of the one that the settings name, else of its first
  /// timer, else of its first input. After on_start(), while none of its groups runs. Throws Error: InvalidArgument (it
  /// has no such callback), and as Cycle.
  void mark_cycle(const std::string& domain);
  /// Takes everything back that was declared. While none of its groups runs.
  void take_back() noexcept;
  /// The groups that run its callbacks.
  [[nodiscard]] std::vector<Group*> groups() const;
  /// on_start() is over: what is declared from now on is refused.
  void all_is_declared() noexcept { sealed_.store(!stays_open_, std::memory_order_relaxed); }
  /// For a simulation's own endpoints, which are declared when they are requested.
  void stay_open() noexcept { stays_open_ = true; }
  using FailedSamples = std::map<std::string, std::vector<FailedOn>>;  ///< by the names of inputs
  /// The samples that its inputs' callbacks failed on. While its groups pause.
  [[nodiscard]] FailedSamples failed_on() const;
  /// Those of the one whose place it takes: it is not given what failed twice. Before on_start().
  void remember_failures(FailedSamples samples) { failed_before_ = std::move(samples); }

  /// For its component, before on_start().
  void make_context();
  std::unique_ptr<Context> context;
  std::shared_ptr<Component> component;  ///< may use its context until it ends

 private:
  struct Place {
    Group& group;
    int priority;
  };
  [[nodiscard]] Place place_of(const std::string& callback);
  template <class C>
  C& take_over(std::unique_ptr<C> callback);
  void refuse_second(const std::string& callback, const char* remedy) const;
  Strand& strand(bool overlaps);
  /// Of what must not wait for the component's callbacks.
  [[nodiscard]] Place own_place();
  void require_on_start(const char* what, const std::string& name) const;

  Runtime& runtime_;
  config::Component settings_;
  Strand strand_;
  std::vector<std::unique_ptr<Strand>> own_strands_;  ///< of inputs that may overlap
  std::vector<std::unique_ptr<Callback>> callbacks_;
  std::vector<TimerCallback*> timers_;
  std::vector<Declared> declared_;
  std::vector<DeclaredService> services_;
  std::deque<Fused> fusions_;
  FailedSamples failed_before_;
  Atomic<bool> sealed_{false};
  bool stays_open_ = false;
  std::map<std::string, std::shared_ptr<ParameterCore>> parameters_;
  Errand* errand_ = nullptr;
  Atomic<LogLevel> log_level_{LogLevel::Info};
  std::unique_ptr<Cycle> cycle_;
  Transforms transforms_;
  std::shared_ptr<OutputCore> static_output_;  ///< of the next
  std::vector<TransformStamped> static_transforms_;
};

}  // namespace cardan::detail
