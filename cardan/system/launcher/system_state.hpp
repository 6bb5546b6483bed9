// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cardan/config/configuration.hpp"

namespace cardan::launcher {

/// What a process or a component does, as far as the state of the system is concerned.
enum class Unit : std::uint8_t {
  Starting,  ///< for the first time: neither up nor down yet
  Up,
  Down,      ///< it ended, or is being started again
  Finished,  ///< it ended in order, and was not to be started again: down, but nothing is wrong
  Stopped,   ///< an operator keeps it down: the system without it is not what the file describes
  GivenUp,   ///< down for good
};

/// The state of the whole system, which starts as Starting. It becomes Running when all processes have come up. A
/// process that is given up, of whose end no transition of the file speaks in that state (down or given_up, of it or of
/// one of its components), makes it Degraded, and Running again when all are up again. Until then the file's
/// transitions do not lead from there to Running: they speak of other things. All other changes are the file's
/// transitions. What happens does not depend on how late advance() is called: of the transitions from a state the one
/// that is due first is taken, and of several due at one moment the first in the file. Before the system left Starting
/// for the first time no topic counts as silent. Pure logic: time is given in, in nanoseconds of the steady clock. One
/// thread at a time; never blocks.
class StateMachine {
 public:
  struct Change {
    config::State from = config::State::Starting;
    config::State to = config::State::Starting;
    std::int64_t at_ns = 0;
    std::string reason{};  ///< in words
  };
  /// When a topic was last published on, in nanoseconds of the steady clock; 0: not yet.
  using LastPublished = std::function<std::int64_t(const std::string& topic)>;

  /// Keeps what it needs of `configuration`. `last_published` is asked when a silence may be over.
  explicit StateMachine(const config::Configuration& configuration, std::int64_t now_ns,
                        LastPublished last_published = {});

  /// What happened to a process, and with it to its components. `why`: in words, of Down and GivenUp.
  void process(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why = {});
  /// What happened to a component alone, while its process runs.
  void component(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why = {});

  /// Takes all transitions that are due. Call it after each change of a unit, and at next().
  std::vector<Change> advance(std::int64_t now_ns);
  /// When a transition may become due, if nothing happens before; absent: never.
  [[nodiscard]] std::optional<std::int64_t> next() const;
  /// The end: no transition leads out of Stopped.
  Change stop(std::int64_t now_ns, std::string reason);

  [[nodiscard]] config::State state() const noexcept { return state_; }
  [[nodiscard]] std::int64_t since_ns() const noexcept { return since_ns_; }
  /// The topics that a transition names as silent, and that must be watched.
  [[nodiscard]] std::vector<std::string> watched_topics() const;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  struct Named {
    Unit unit = Unit::Starting;
    std::int64_t since_ns = 0;
    std::string why{};
    bool given_up = false;  ///< and has not come up since
  };
  struct Rule {
    enum class Kind : std::uint8_t {
      File,
      AllUp,        ///< Starting → Running, and back from Degraded where GivenUpHere led there
      GivenUpHere,  ///< the file does not speak of this end
    };
    config::Transition transition;
    Kind kind = Kind::File;
    std::int64_t holds_since_ns = kNever;
    std::int64_t taken_ns = std::numeric_limits<std::int64_t>::min();
  };

  void set(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why);
  void update(std::int64_t now_ns);
  /// Processes of whose end the file does not speak in this state.
  [[nodiscard]] std::vector<std::string> forgotten(const config::Configuration& configuration,
                                                   config::State state) const;
  [[nodiscard]] bool leaves(const Rule& rule) const;
  [[nodiscard]] bool holds(const Rule& rule) const;
  [[nodiscard]] std::int64_t silent_since(const std::string& topic) const;
  /// Whether a process of whose end the file does not speak was given up, and has not come up since.
  [[nodiscard]] bool lacks_one() const;
  /// When the rule leads out of the present state.
  [[nodiscard]] std::int64_t due(const Rule& rule) const;
  [[nodiscard]] std::string reason_of(const Rule& rule) const;

  std::map<std::string, std::vector<std::string>> components_;  ///< by process
  std::map<std::string, Named> processes_, all_components_;
  std::vector<Rule> rules_;
  LastPublished last_published_;
  config::State state_ = config::State::Starting;
  bool degraded_here_ = false;                                        ///< by GivenUpHere
  std::int64_t whole_ns_ = std::numeric_limits<std::int64_t>::min();  ///< since when lacks_one() is false
  std::int64_t since_ns_ = 0;
  std::int64_t left_starting_ns_ = kNever;
};

}  // namespace cardan::launcher
