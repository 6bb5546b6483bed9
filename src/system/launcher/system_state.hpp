// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::launcher {

/// The state of a process or a component, as far as the state of the system is concerned.
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
/// transitions. Conditions are levels: a transition is due once its condition has held for its time, however long ago
/// that began. The way back from a state waits until its cause is over: until the condition that led here no longer
/// holds. (A state is better than those that come later in config::State.) Of the transitions from a state the one that
/// is due first is taken, and of several due at one moment the first in the file. How late advance() is called changes
/// nothing, except that `publishing` and the end of a silence are noticed when somebody looks. Before the system left
/// Starting for the first time no topic counts as silent, and no chain as late.
///
/// A chain is late (`late`) while `times` of its publications within the last `lasting` (1 s if none is given) exceeded
/// the budget: each of them counts for that long. It is in time (`in_time`) since the first publication in time after
/// the last late one, unless the next ones paused for longer than `lasting`. Times are those of the news, which come up
/// to 0.1 s after the publication. Pure logic: time is given in, in nanoseconds of the steady
/// clock. One thread at a time; never blocks.
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

  /// Takes the place of `before`, with other rules and processes: what is in both stays as it is. A topic that only
  /// this one watches is not silent before it could be heard.
  void resume(const StateMachine& before, std::int64_t now_ns);

  /// An event of a process, and with it of its components. `why`: in words, of Down and GivenUp.
  void process(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why = {});
  /// News of publications at the end of a chain: `in_time` of them kept to its budget, `late` exceeded it. `why`: of
  /// the last late one, in words.
  void chain(const std::string& name, std::uint64_t in_time, std::uint64_t late, std::int64_t now_ns,
             const std::string& why = {});
  /// An event of a component alone, while its process runs.
  void component(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why = {});

  /// Takes all transitions that are due. Call it after each change of a unit, and at next().
  std::vector<Change> advance(std::int64_t now_ns);
  /// When a transition may become due, if nothing happens before; absent: never.
  [[nodiscard]] std::optional<std::int64_t> next() const;
  /// The end: no transition leads out of Stopped.
  Change stop(std::int64_t now_ns, std::string reason);

  [[nodiscard]] config::State state() const noexcept { return state_; }
  [[nodiscard]] std::int64_t since_ns() const noexcept { return since_ns_; }
  /// The topics that a transition names, and that must be watched.
  [[nodiscard]] std::vector<std::string> watched_topics() const;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::min();
  struct Named {
    Unit unit = Unit::Starting;
    std::int64_t since_ns = 0;
    std::string why{};
    bool given_up = false;  ///< and has not come up since
  };
  struct Heard {
    std::int64_t since_ns = kNever;
    std::int64_t last_ns = 0;
  };
  struct Exceeded {
    std::int64_t at_ns = 0;
    std::uint64_t times = 0;
  };
  static constexpr std::int64_t kNews = 200'000'000;    ///< a pause between news that means nothing, ns
  static constexpr std::size_t kMostExceeded = 10'000;  ///< of a chain and a rule
  struct Rule {
    enum class Kind : std::uint8_t {
      File,
      AllUp,        ///< Starting → Running, and back from Degraded where GivenUpHere led there
      GivenUpHere,  ///< the file does not speak of this end
    };
    config::Transition transition;
    Kind kind = Kind::File;
    std::int64_t holds_since_ns = kNever;
    std::int64_t ended_ns = kAlways;       ///< when the condition last ceased to hold
    std::map<std::string, Heard> heard{};  ///< Publishing: by topic; InTime: by chain
    /// Late: by chain, the last ones that together are `times`, or fewer if there were fewer.
    std::map<std::string, std::deque<Exceeded>> exceeded{};
    std::int64_t taken_ns = kAlways;
  };

  void set(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why);
  void update(std::int64_t now_ns);
  /// Processes of whose end the file does not speak in this state.
  [[nodiscard]] std::vector<std::string> forgotten(const config::Configuration& configuration,
                                                   config::State state) const;
  [[nodiscard]] bool leaves(const Rule& rule) const;
  [[nodiscard]] bool holds(const Rule& rule) const;
  [[nodiscard]] std::int64_t silent_since(const std::string& topic) const;
  /// Until when the chain is late; kAlways: it was not.
  [[nodiscard]] static std::int64_t late_until(const Rule& rule, const std::string& chain);
  /// Sees which rules of Late hold.
  void count_late(std::int64_t now_ns);
  /// Looks whether topics of Publishing are published on.
  void hear(std::int64_t now_ns);
  /// Since when the condition holds; kNever: it does not.
  [[nodiscard]] std::int64_t held_since(const Rule& rule) const;
  /// When the condition has held for its time; kNever: it does not hold.
  [[nodiscard]] std::int64_t held_at(const Rule& rule) const;
  /// Since when the system may go `to`: since the cause of the present state is over, if it leads here from there.
  /// kNever: the cause still holds.
  [[nodiscard]] std::int64_t free_since(config::State to) const;
  /// Whether somebody has to look from time to time, because no event tells of it. Returns how often (ns); kNever: no.
  [[nodiscard]] std::int64_t look_every(const Rule& rule) const;
  /// Whether a process of whose end the file does not speak was given up, and has not come up since.
  [[nodiscard]] bool lacks_one() const;
  /// When the rule leads out of the present state.
  [[nodiscard]] std::int64_t due(const Rule& rule) const;
  [[nodiscard]] std::string reason_of(const Rule& rule) const;

  std::map<std::string, std::vector<std::string>> components_;  ///< by process
  std::map<std::string, Named> processes_, all_components_;
  std::vector<Rule> rules_;
  LastPublished last_published_;
  std::map<std::string, std::string> late_words_;      ///< of the last late publication, by chain
  std::map<std::string, std::int64_t> watched_since_;  ///< by topic: of those that resume() added
  config::State state_ = config::State::Starting;
  const Rule* cause_ = nullptr;      ///< what led to the present state
  bool degraded_here_ = false;       ///< by GivenUpHere
  std::int64_t whole_ns_ = kAlways;  ///< since when lacks_one() is false
  std::int64_t since_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::int64_t left_starting_ns_ = kNever;
};

}  // namespace cardan::launcher
