// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the state machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/system/launcher/system_state.hpp"

namespace cardan::launcher {

using config::Condition;
using config::State;
inline constexpr std::int64_t kMillisecond = 1'000'000;

/// "a" with component "a1", "b" with component "b1".
inline config::Configuration two(std::vector<config::Transition> transitions) {
  config::Configuration c;
  c.processes.resize(2);
  c.processes[0].name = "a";
  c.processes[0].components.push_back({.name = "a1"});
  c.processes[1].name = "b";
  c.processes[1].components.push_back({.name = "b1"});
  c.transitions = std::move(transitions);
  return c;
}

inline config::Transition rule(std::vector<State> from, Condition when, State to) {
  return {.from = std::move(from), .when = std::move(when), .to = to};
}

inline Condition down(const char* name, std::chrono::milliseconds lasting = {}) {
  return {Condition::Kind::Down, {name}, lasting};
}
inline Condition up(std::vector<std::string> names, std::chrono::milliseconds lasting = {}) {
  return {Condition::Kind::Up, std::move(names), lasting};
}

struct Machine {
  explicit Machine(std::vector<config::Transition> transitions)
      : machine(two(std::move(transitions)), 0,
                [this](const std::string& topic) { return published[topic] * kMillisecond; }) {}
  /// Both processes come up at `ms`.
  void start(std::int64_t ms) {
    machine.process("a", Unit::Up, ms * kMillisecond);
    machine.process("b", Unit::Up, ms * kMillisecond);
    (void)machine.advance(ms * kMillisecond);
  }
  void process(const char* name, Unit unit, std::int64_t ms, const std::string& why = {}) {
    machine.process(name, unit, ms * kMillisecond, why);
  }
  auto at(std::int64_t ms) { return machine.advance(ms * kMillisecond); }
  [[nodiscard]] std::int64_t next_ms() const { return machine.next().value_or(-kMillisecond) / kMillisecond; }

  std::map<std::string, std::int64_t> published;  ///< ms
  StateMachine machine;
};

/// `m`, continued by other rules.
inline StateMachine resumed(Machine& m, std::vector<config::Transition> transitions, std::int64_t ms) {
  StateMachine next(two(std::move(transitions)), ms * kMillisecond,
                    [&m](const std::string& topic) { return m.published[topic] * kMillisecond; });
  next.resume(m.machine, ms * kMillisecond);
  return next;
}

}  // namespace cardan::launcher
