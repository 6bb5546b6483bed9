// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/config/check_parts.hpp"
#include "src/config/shape.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

bool leaves(const Transition& t, State state) noexcept {
  return std::find(t.from.begin(), t.from.end(), state) != t.from.end();
}

bool same_names(const Condition& a, const Condition& b) {
  return a.kind == b.kind && std::set(a.names.begin(), a.names.end()) == std::set(b.names.begin(), b.names.end());
}

class TransitionCheck {
 public:
  TransitionCheck(const Configuration& configuration, ProblemList& problems) : c_(configuration), problems_(problems) {
    for (const Process& process : c_.processes) {
      processes_.push_back(process.name);
      all_.push_back(process.name);
    }
    for (const Process& process : c_.processes)
      for (const Component& component : process.components) all_.push_back(component.name);
  }

  void check() {
    for (const Transition& t : c_.transitions) {
      condition(t);
      if (goes_in_a_circle(t))
        problems_.error(t.pointer + "/to", fmt::format("the transition leads from '{0}' to '{0}'", name_of(t.to)),
                        fmt::format("remove '{}' from 'from', or change 'to'", name_of(t.to)));
    }
    for (std::size_t later = 1; later < c_.transitions.size(); ++later) against_earlier(later);
    reachable();
  }

 private:
  [[nodiscard]] bool knows_target(const Transition& t) const {
    return problems_.stands(t.pointer + "/to") && !problems_.was_wrong(t.pointer + "/to");
  }
  [[nodiscard]] bool goes_in_a_circle(const Transition& t) const {
    return problems_.stands(t.pointer + "/from") && leaves(t, t.to) && knows_target(t);
  }
  /// Whether it could be read, so that it can be compared with others.
  [[nodiscard]] bool whole(const Transition& t) const {
    const std::string when = t.pointer + "/when/";
    return !t.when.names.empty() && knows_target(t) && !problems_.was_wrong(when + "for_ms") &&
           !problems_.was_wrong(when + "within_ms") && !problems_.was_wrong(when + "times");
  }

  void condition(const Transition& t) {
    const std::string when = t.pointer + "/when";
    std::vector<std::string_view> given;
    for (const std::string_view kind : kConditions)
      if (problems_.stands(join(when, kind))) given.push_back(kind);
    if (given.empty() && problems_.stands(when) && !problems_.was_wrong(when))
      problems_.error(when, "the transition's 'when' is empty",
                      fmt::format("add one of '{}'", fmt::join(kConditions, "', '")));
    if (given.size() > 1) {
      problems_.error(join(when, given[1]),
                      fmt::format("'when' has '{}' together; only one is allowed", fmt::join(given, "' and '")),
                      "write a transition for each");
      return;
    }
    if (given.empty()) return;
    const std::string at = join(when, given[0]);
    const bool late = t.when.kind == Condition::Kind::Late;
    for (const char* const key : {"times", "within_ms", "for_ms"})
      if (problems_.stands(join(when, key)) && late == (std::string_view(key) == "for_ms"))
        problems_.error_in_key(join(when, key), fmt::format("'{}' does not apply to '{}'", key, given[0]),
                               late ? "write 'times' and 'within_ms'" : "remove it, or write the condition 'late'");
    if (late && t.when.times > 1 && t.when.lasting.count() == 0 && !problems_.was_wrong(when + "/within_ms"))
      problems_.error(when + "/times", fmt::format("'within_ms' of {} publications is not given", t.when.times),
                      "add \"within_ms\": the time in which they come");
    if (t.when.is_of_topics() || t.when.kind == Condition::Kind::InTime) {
      if (!problems_.stands(when + "/for_ms"))
        problems_.error(at, fmt::format("'{}' of '{}' has no duration", given[0], fmt::join(t.when.names, "', '")),
                        "add \"for_ms\": longer than the time between two messages");
      else if (t.when.lasting.count() == 0 && !problems_.was_wrong(when + "/for_ms"))
        problems_.error(when + "/for_ms", "'for_ms' is 0, so the condition always holds",
                        "write a 'for_ms' that is longer than the time between two messages");
    }
    if (t.when.is_of_topics()) return;
    const bool list = c_.source.values.contains(at + "/0");
    for (std::size_t i = 0; i < t.when.names.size(); ++i) {
      const std::string& name = t.when.names[i];
      const std::string place = list ? element(at, i) : at;
      if (t.when.is_of_chains()) {
        chain(t.when, name, place);
        continue;
      }
      if (c_.process(name) != nullptr) continue;
      if (const Process* home = c_.process_of(name); home != nullptr) {
        if (t.when.kind == Condition::Kind::GivenUp)
          problems_.error(place,
                          fmt::format("'{}' is a component, but only processes are restarted and given up", name),
                          fmt::format("write its process, '{}'", home->name));
        continue;
      }
      const bool only_processes = t.when.kind == Condition::Kind::GivenUp;
      problems_.error(place,
                      fmt::format("'{}' of the transition names '{}', which is not a process{}", name_of(t.when.kind),
                                  name, only_processes ? "" : " or component"),
                      suggestion(name, only_processes ? processes_ : all_, "name a process of this file"));
    }
  }

  void chain(const Condition& when, const std::string& name, const std::string& place) {
    const auto found =
        std::find_if(c_.chains.begin(), c_.chains.end(), [&](const Chain& chain) { return chain.name == name; });
    if (found == c_.chains.end()) {
      std::vector<std::string> known;
      for (const Chain& chain : c_.chains) known.push_back(chain.name);
      problems_.error(place,
                      fmt::format("'{}' of the transition names '{}', which is not a chain", name_of(when.kind), name),
                      suggestion(name, known, R"(add it to "chains" of the file)"));
    } else if (found->budget.count() == 0 && !problems_.was_wrong(found->pointer + "/budget_ms")) {
      problems_.error(
          place, fmt::format("'{}' of the transition names chain '{}', which has no budget", name_of(when.kind), name),
          fmt::format("add \"budget_ms\" to it in {}", c_.source.line(c_.source.key(found->pointer))));
    }
  }

  /// Elements that were wrong are left out of `names`: count the ones before.
  [[nodiscard]] std::string element(const std::string& list, std::size_t index) const {
    for (std::size_t at = 0;; ++at) {
      const std::string pointer = fmt::format("{}/{}", list, at);
      if (problems_.was_wrong(pointer)) continue;
      if (index-- == 0) return pointer;
    }
  }

  void against_earlier(std::size_t later) {
    const Transition& b = c_.transitions[later];
    if (!whole(b)) return;
    std::vector<State> left = b.from;
    for (const Transition& a : c_.transitions) {
      if (&a == &b) continue;
      if (!whole(a) || !same_names(a.when, b.when)) continue;
      const bool late = b.when.kind == Condition::Kind::Late;
      if (late && (a.when.times != b.when.times || a.when.lasting != b.when.lasting)) continue;  // another condition
      const bool earlier = &a < &b;
      const std::string line = c_.source.line(c_.source.value(a.pointer));
      const auto both = std::find_if(b.from.begin(), b.from.end(), [&](State s) { return leaves(a, s) && s != a.to; });
      if (both == b.from.end()) continue;
      if (a.when.lasting == b.when.lasting && earlier) {
        if (a.to != b.to) {
          problems_.error(b.pointer + "/to",
                          fmt::format("on the same condition '{}' goes to '{}' here and to '{}' in {}", name_of(*both),
                                      name_of(b.to), name_of(a.to), line),
                          "keep one, or give them different 'from' or 'for_ms'");
          return;
        }
        problems_.warning(b.pointer, fmt::format("the same transition is already in {}", line), "remove one");
        return;
      }
      if (a.when.lasting < b.when.lasting) std::erase_if(left, [&](State s) { return leaves(a, s) && s != a.to; });
    }
    if (left.empty() && !b.from.empty())
      problems_.warning(b.pointer,
                        fmt::format("the transition to '{}' never happens: a shorter 'for_ms' has led away from '{}' "
                                    "before",
                                    name_of(b.to), name_of(b.from.front())),
                        "add the state that the shorter one leads to to 'from', or remove it");
  }

  void reachable() {
    for (const Transition& t : c_.transitions)
      if (!knows_target(t) || goes_in_a_circle(t)) return;  // reported; its target is not known
    // These need no transition: the launcher starts, finds all running, and stops.
    std::set<State> reached{State::Starting, State::Running, State::Stopped};
    for (bool more = true; more;) {
      more = false;
      for (const Transition& t : c_.transitions)
        if (std::any_of(t.from.begin(), t.from.end(), [&](State s) { return reached.contains(s); }))
          more = reached.insert(t.to).second || more;
    }
    std::set<State> told;
    for (const Transition& t : c_.transitions)
      for (const State state : t.from)
        if (problems_.stands(t.pointer + "/from") && !reached.contains(state) && told.insert(state).second)
          problems_.warning(t.pointer + "/from",
                            fmt::format("no transition leads to the state '{}', so this never happens", name_of(state)),
                            fmt::format("add a transition to '{}'", name_of(state)));
  }

  const Configuration& c_;
  ProblemList& problems_;
  std::vector<std::string> processes_;
  std::vector<std::string> all_;
};

/// `there` leads from a state to another one, and `back` the other way.
void check_way_back(const Configuration& c, const Transition& there, const Transition& back, ProblemList& problems) {
  const std::string line = c.source.line(c.source.value(there.pointer));
  if (same_names(there.when, back.when)) {
    if (&there < &back)  // once for the two
      problems.warning(
          back.pointer + "/when",
          fmt::format("the condition that leads from '{0}' to '{1}' in {2} also leads back, so the system "
                      "stays in '{1}' while it holds",
                      name_of(back.to), name_of(there.to), line),
          "write the opposite condition: 'up' for 'down', 'publishing' for 'silent', 'in_time' for 'late'");
  } else if (there.when.kind == Condition::Kind::Silent && back.when.kind != Condition::Kind::Publishing) {
    const std::string& topic = there.when.names.front();
    problems.warning(back.pointer + "/when",
                     fmt::format("after a silence of '{}' ({}), one message is enough to lead back to '{}'", topic,
                                 line, name_of(back.to)),
                     fmt::format("write \"publishing\": \"{}\" with a 'for_ms'", topic));
  } else if (there.when.kind == Condition::Kind::Late && back.when.kind != Condition::Kind::InTime) {
    const std::string& chain = there.when.names.front();
    problems.warning(
        back.pointer + "/when",
        fmt::format("the way back to '{}' does not ask whether chain '{}', which was late ({}), is in time",
                    name_of(back.to), chain, line),
        fmt::format("write \"in_time\": \"{}\" with a 'for_ms'", chain));
  }
}

}  // namespace

void check_ways_back(const Configuration& c, ProblemList& problems) {
  for (const Transition& there : c.transitions)
    for (const Transition& back : c.transitions)
      if (leaves(back, there.to) && leaves(there, back.to)) check_way_back(c, there, back, problems);
  std::set<State> told{State::Running, State::Stopped};  // the aim, and the end
  for (const Transition& t : c.transitions) {
    if (t.when.kind == Condition::Kind::GivenUp) continue;  // that is for good
    const bool out = std::any_of(c.transitions.begin(), c.transitions.end(),
                                 [&](const Transition& other) { return leaves(other, t.to) && other.to != t.to; });
    if (!out && told.insert(t.to).second)
      problems.warning(t.pointer + "/to",
                       fmt::format("no transition leads out of '{}': the system stays in it", name_of(t.to)),
                       fmt::format("add a transition with \"from\": \"{}\"", name_of(t.to)));
  }
}

void check_transitions(const Configuration& configuration, ProblemList& problems) {
  TransitionCheck(configuration, problems).check();
}

}  // namespace cardan::config
