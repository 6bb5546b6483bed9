// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cardan/component.hpp"
#include "cardan/configuration.hpp"

namespace cardan {

class Runtime;
class Simulation;

namespace detail {
/// For the library's own programs and tests.
[[nodiscard]] Runtime& runtime_of(Simulation& simulation) noexcept;
}  // namespace detail

/// Options of a Simulation.
struct SimulationOptions {
  std::int64_t begin = 0;  ///< the clock's first time, nanoseconds
  /// Changes to the topics, as in a configuration.
  std::map<std::string, config::TopicSettings> topics{};
  /// As in a configuration (docs/chains.md).
  std::vector<config::Chain> chains{};
  /// As in a configuration (docs/transforms.md): start() publishes them.
  std::vector<config::FrameTransform> transforms{};
  /// Called before on_start() of each component.
  std::function<void(const std::string& component)> on_begin{};
  /// Called with true after all components are declared and before they run, and with false before they are withdrawn.
  std::function<void(bool declared)> on_change{};
  /// Asked before each callback and each step of the clock: true returns from run() and run_until() with the rest
  /// undone.
  std::function<bool()> ended{};
};

/// Runs components on given samples, on one thread, with its own clock and in a fixed order: what is due first, then
/// what is more urgent, then what was ready first. The same samples give the same output, bit for bit. It uses no
/// transport and no threads, and it never waits. For unit tests and for replaying.
/// One thread at a time; the components run inside start(), run() and run_until().
class Simulation {
 public:
  /// Without components; add() adds them.
  explicit Simulation(SimulationOptions options = {});
  /// Adds all components of a configuration except those named in `without` (drivers that wait for hardware), in the
  /// file's order, with its topics' options (before those in `options`), chains and transforms. Throws Error as add(),
  /// and InvalidArgument (no such component). Loads libraries.
  explicit Simulation(const config::Configuration& file, const std::vector<std::string>& without = {},
                      SimulationOptions options = {});
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation();

  /// Adds a component of this program. `settings` may name parameters, renamed topics and a priority.
  template <class C>
  C& add(const std::string& name, const std::map<std::string, ParameterValue>& parameters = {}) {
    auto component = std::make_shared<C>();
    C& c = *component;
    add({.name = name, .parameters = parameters}, std::move(component));
    return c;
  }
  /// The same with all settings of a configuration. `component` null: the class that `settings` names is made, from its
  /// library if it names one. Throws Error: NameTaken, and as make_component() and load_component_library().
  void add(config::Component settings, std::shared_ptr<Component> component = nullptr);
  /// Collects every sample that is published on the topic from now on, in order. Call it before start().
  template <class T>
  [[nodiscard]] const std::vector<Sample<T>>& collect(const Topic<T>& topic) {
    auto samples = std::make_shared<std::vector<Sample<T>>>();
    kept_.push_back(samples);
    outside().input(topic,
                    [samples](const Sample<T>& sample) {
                      if constexpr (Message<T>)
                        samples->push_back(copy_of(sample));
                      else
                        samples->push_back(sample);
                    },
                    {.depth = 64, .name = "collect" + std::to_string(kept_.size())});
    return *samples;
  }

  /// Calls on_start() of all components, in the order in which they were added. If one throws, those before it are
  /// stopped, and start() throws Error with the component's name: with the code of the Error that it threw, else
  /// System; InvalidArgument also for a parameter that the component does not declare, and for wrong transforms. When
  /// it returns, components know the transforms of the file.
  void start();
  /// Publishes a message now, filled by `fill(T&)`, with the publisher's own stamp. Throws Error (Limit) if no slot is
  /// free, because components keep more samples than their inputs announce.
  template <Message T, std::invocable<T&> F>
  void push(const Topic<T>& topic, F fill, std::int64_t source_time = 0) {
    Output<T>& out = output(topic);
    Loan<T> loan = loan_of(out, topic.name);
    fill(*loan);
    loan.set_source_time(source_time);
    out.publish(std::move(loan));
  }
  /// Publishes a copy of a plain struct, or an object of a type that is not a message.
  template <class T>
  void push(const Topic<T>& topic, T object, std::int64_t source_time = 0) {
    Output<T>& out = output(topic);
    if constexpr (Message<T>) {
      Loan<T> loan = loan_of(out, topic.name);
      *loan = object;
      loan.set_source_time(source_time);
      out.publish(std::move(loan));
    } else {
      out.publish(std::move(object), source_time);
    }
  }
  /// Calls `what` when the clock reaches `time`. Several calls for one time run in the order in which they were added.
  void at(std::int64_t time, std::function<void()> what);

  /// Runs what is ready now, until nothing is. The clock does not move. Returns the number of callbacks that ran.
  std::size_t run();
  /// Advances the clock to `time`, from one event to the next, and runs what is due on the way.
  /// Returns the number of callbacks that ran.
  std::size_t run_until(std::int64_t time);
  /// The same for a duration from now on.
  std::size_t run_for(std::chrono::nanoseconds span) { return run_until(now() + span.count()); }
  /// Stops the components in the reverse order of their start. The destructor does the same.
  void stop() noexcept;

  /// The simulation's clock, nanoseconds.
  [[nodiscard]] std::int64_t now() noexcept;

 private:
  friend Runtime& detail::runtime_of(Simulation& simulation) noexcept;
  [[nodiscard]] Context& outside();
  [[noreturn]] static void refuse_push(const char* topic);
  template <class T>
  static Loan<T> loan_of(Output<T>& out, const char* topic) {
    Loan<T> loan = out.loan();
    if (!loan) refuse_push(topic);
    return loan;
  }
  template <class T>
  Output<T>& output(const Topic<T>& topic) {
    auto& known = outputs_[topic.name];
    if (!known) known = std::make_shared<Output<T>>(outside().output(topic));
    return *std::static_pointer_cast<Output<T>>(known);
  }

  [[nodiscard]] bool ended() const { return ended_ && ended_(); }

  std::unique_ptr<Runtime> runtime_;
  std::deque<std::shared_ptr<void>> kept_;
  std::map<std::string, std::shared_ptr<void>> outputs_;
  std::multimap<std::int64_t, std::function<void()>> events_;
  std::function<bool()> ended_;
  std::vector<config::FrameTransform> transforms_;
};

}  // namespace cardan
