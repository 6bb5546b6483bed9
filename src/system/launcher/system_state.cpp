// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/system_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace cardan::launcher {
namespace {

using config::Condition;
using config::State;

bool is_down(Unit unit) noexcept {
  return unit == Unit::Down || unit == Unit::Finished || unit == Unit::Stopped || unit == Unit::GivenUp;
}

/// How long an exceeding counts.
std::int64_t window_of(const Condition& when) noexcept {
  return when.lasting.count() != 0 ? when.lasting.count() : 1'000'000'000;
}

}  // namespace

StateMachine::StateMachine(const config::Configuration& configuration, std::int64_t now_ns,
                           LastPublished last_published)
    : last_published_(std::move(last_published)), since_ns_(now_ns) {
  for (const config::Process& process : configuration.processes) {
    processes_[process.name].since_ns = now_ns;
    for (const config::Component& component : process.components) {
      components_[process.name].push_back(component.name);
      all_components_[component.name].since_ns = now_ns;
    }
  }
  for (const config::Transition& transition : configuration.transitions) rules_.push_back({.transition = transition});
  for (const State state : {State::Starting, State::Running})
    if (std::vector<std::string> names = forgotten(configuration, state); !names.empty())
      rules_.push_back(
          {.transition = {.from = {state}, .when = {Condition::Kind::GivenUp, std::move(names)}, .to = State::Degraded},
           .kind = Rule::Kind::GivenUpHere});
  rules_.push_back(
      {.transition = {.from = {State::Starting, State::Degraded}, .to = State::Running}, .kind = Rule::Kind::AllUp});
}

std::vector<std::string> StateMachine::forgotten(const config::Configuration& configuration, State state) const {
  std::vector<std::string> names;
  for (const config::Process& process : configuration.processes) {
    const auto is_of = [&](const std::string& name) {
      return name == process.name || process.component(name) != nullptr;
    };
    const bool spoken_of = std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
      const config::Transition& t = rule.transition;
      return (t.when.kind == Condition::Kind::Down || t.when.kind == Condition::Kind::GivenUp) &&
             std::find(t.from.begin(), t.from.end(), state) != t.from.end() &&
             std::any_of(t.when.names.begin(), t.when.names.end(), is_of);
    });
    if (!spoken_of) names.push_back(process.name);
  }
  return names;
}

std::vector<std::string> StateMachine::watched_topics() const {
  std::set<std::string> topics;
  for (const Rule& rule : rules_)
    if (rule.kind != Rule::Kind::AllUp && rule.transition.when.is_of_topics())
      topics.insert(rule.transition.when.names.begin(), rule.transition.when.names.end());
  return {topics.begin(), topics.end()};
}

void StateMachine::resume(const StateMachine& before, std::int64_t now_ns) {
  const auto keep = [](std::map<std::string, Named>& all, const std::map<std::string, Named>& from) {
    for (auto& [name, named] : all)
      if (const auto found = from.find(name); found != from.end()) named = found->second;
  };
  keep(processes_, before.processes_);
  keep(all_components_, before.all_components_);
  const auto same = [](const Rule& a, const Rule& b) { return a.kind == b.kind && a.transition == b.transition; };
  for (Rule& rule : rules_) {
    const auto old =
        std::find_if(before.rules_.begin(), before.rules_.end(), [&](const Rule& r) { return same(r, rule); });
    if (old == before.rules_.end()) continue;
    rule = *old;
    if (before.cause_ == &*old) cause_ = &rule;
  }
  const std::vector<std::string> known = before.watched_topics();
  for (const std::string& topic : watched_topics()) {
    const auto since = before.watched_since_.find(topic);
    if (since != before.watched_since_.end())
      watched_since_.insert(*since);
    else if (!std::binary_search(known.begin(), known.end(), topic))
      watched_since_.emplace(topic, now_ns);
  }
  late_words_ = before.late_words_;
  state_ = before.state_;
  degraded_here_ = before.degraded_here_;
  whole_ns_ = before.whole_ns_;
  since_ns_ = before.since_ns_;
  looked_ns_ = before.looked_ns_;
  left_starting_ns_ = before.left_starting_ns_;
  update(now_ns);
}

void StateMachine::process(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why) {
  const auto found = processes_.find(name);
  if (found == processes_.end()) return;
  const bool lacked_one = lacks_one();
  const bool is_well = unit == Unit::Up || unit == Unit::Finished;
  found->second = {unit, now_ns, why, unit == Unit::GivenUp || (found->second.given_up && !is_well)};
  if (lacked_one && !lacks_one()) whole_ns_ = now_ns;
  for (const std::string& part : components_[name]) set(part, unit, now_ns, why);
  update(now_ns);
}

void StateMachine::component(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why) {
  set(name, unit, now_ns, why);
  update(now_ns);
}

void StateMachine::set(const std::string& name, Unit unit, std::int64_t now_ns, const std::string& why) {
  if (const auto found = all_components_.find(name); found != all_components_.end())
    found->second = {unit, now_ns, why, false};
}

void StateMachine::update(std::int64_t now_ns) {
  for (Rule& rule : rules_) {
    const Condition& when = rule.transition.when;
    if (rule.kind != Rule::Kind::AllUp && (when.is_of_topics() || when.is_of_chains())) continue;
    if (!holds(rule)) {
      if (rule.holds_since_ns != kNever) rule.ended_ns = now_ns;
      rule.holds_since_ns = kNever;
    } else if (rule.holds_since_ns == kNever) {
      rule.holds_since_ns = now_ns;
    }
  }
}

bool StateMachine::holds(const Rule& rule) const {
  if (rule.kind == Rule::Kind::AllUp)
    return std::all_of(processes_.begin(), processes_.end(),
                       [](const auto& p) { return p.second.unit == Unit::Up || p.second.unit == Unit::Finished; });
  const auto unit_of = [this](const std::string& name) {
    if (const auto p = processes_.find(name); p != processes_.end()) return p->second.unit;
    const auto c = all_components_.find(name);
    return c != all_components_.end() ? c->second.unit : Unit::Starting;
  };
  const Condition& when = rule.transition.when;
  switch (when.kind) {
    case Condition::Kind::Down:
      return std::any_of(when.names.begin(), when.names.end(), [&](const auto& n) { return is_down(unit_of(n)); });
    case Condition::Kind::Up:
      return std::all_of(when.names.begin(), when.names.end(), [&](const auto& n) { return unit_of(n) == Unit::Up; });
    case Condition::Kind::GivenUp:
      return std::any_of(when.names.begin(), when.names.end(),
                         [&](const auto& n) { return unit_of(n) == Unit::GivenUp; });
    case Condition::Kind::Silent:
    case Condition::Kind::Publishing:
    case Condition::Kind::Late:
    case Condition::Kind::InTime:
      break;
  }
  return false;
}

void StateMachine::chain(const std::string& name, std::uint64_t in_time, std::uint64_t late, std::int64_t now_ns,
                         const std::string& why) {
  if (in_time == 0 && late == 0) return;
  count_late(now_ns);
  if (late != 0) late_words_[name] = why;
  for (Rule& rule : rules_) {
    const Condition& when = rule.transition.when;
    if (rule.kind == Rule::Kind::AllUp || !when.is_of_chains() ||
        std::find(when.names.begin(), when.names.end(), name) == when.names.end())
      continue;
    if (when.kind == Condition::Kind::InTime) {
      Heard& heard = rule.heard[name];
      if (late != 0)
        heard.since_ns = kNever;
      else if (heard.since_ns == kNever || now_ns - heard.last_ns > window_of(when) + kNews)
        heard.since_ns = now_ns;
      heard.last_ns = now_ns;
    } else if (late != 0 && left_starting_ns_ != kNever) {
      std::deque<Exceeded>& all = rule.exceeded[name];
      all.push_back({now_ns, late});
      std::uint64_t sum = 0;
      auto needed = all.end();
      while (needed != all.begin() && sum < static_cast<std::uint64_t>(std::max(when.times, 1)))
        sum += (--needed)->times;
      all.erase(all.begin(), needed);
      if (all.size() > kMostExceeded) all.pop_front();
    }
  }
  count_late(now_ns);
}

std::int64_t StateMachine::late_until(const Rule& rule, const std::string& chain) {
  const auto found = rule.exceeded.find(chain);
  if (found == rule.exceeded.end()) return kAlways;
  std::uint64_t sum = 0;
  for (const Exceeded& one : found->second) sum += one.times;
  const Condition& when = rule.transition.when;
  return sum < static_cast<std::uint64_t>(std::max(when.times, 1)) ? kAlways
                                                                   : found->second.front().at_ns + window_of(when);
}

void StateMachine::count_late(std::int64_t now_ns) {
  for (Rule& rule : rules_) {
    const Condition& when = rule.transition.when;
    if (rule.kind == Rule::Kind::AllUp || when.kind != Condition::Kind::Late) continue;
    std::int64_t until = kAlways;
    for (const std::string& name : when.names) until = std::max(until, late_until(rule, name));
    if (until > now_ns) {
      if (rule.holds_since_ns == kNever) rule.holds_since_ns = now_ns;
    } else if (rule.holds_since_ns != kNever) {
      rule.holds_since_ns = kNever;
      rule.ended_ns = until;
    }
  }
}

void StateMachine::hear(std::int64_t now_ns) {
  for (Rule& rule : rules_) {
    const Condition& when = rule.transition.when;
    if (rule.kind == Rule::Kind::AllUp || when.kind != Condition::Kind::Publishing) continue;
    for (const std::string& topic : when.names) {
      const std::int64_t last = last_published_ ? last_published_(topic) : 0;
      Heard& heard = rule.heard[topic];
      const std::int64_t pause = last - std::exchange(heard.last_ns, last);
      if (last == 0 || now_ns - last > when.lasting.count())
        heard.since_ns = kNever;
      else if (heard.since_ns == kNever || pause > when.lasting.count())  // or nobody has looked for this long
        heard.since_ns = last;
    }
  }
}

std::int64_t StateMachine::silent_since(const std::string& topic) const {
  if (left_starting_ns_ == kNever) return kNever;
  const auto watched = watched_since_.find(topic);
  return std::max({last_published_ ? last_published_(topic) : 0, left_starting_ns_,
                   watched == watched_since_.end() ? kAlways : watched->second});
}

bool StateMachine::leaves(const Rule& rule) const {
  const config::Transition& t = rule.transition;
  if (t.to == state_ || std::find(t.from.begin(), t.from.end(), state_) == t.from.end()) return false;
  if (state_ != State::Degraded) return true;
  if (rule.kind == Rule::Kind::AllUp) return degraded_here_;
  // The file's way back is from what the file calls degraded: it does not apply to causes that the file does not name.
  return !degraded_here_ || t.to != State::Running || !lacks_one();
}

bool StateMachine::lacks_one() const {
  const auto is_given_up = [this](const std::string& name) {
    const auto process = processes_.find(name);
    return process != processes_.end() && process->second.given_up;
  };
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    const config::Transition& t = rule.transition;
    return rule.kind == Rule::Kind::GivenUpHere &&
           std::find(t.from.begin(), t.from.end(), State::Running) != t.from.end() &&
           std::any_of(t.when.names.begin(), t.when.names.end(), is_given_up);
  });
}

std::int64_t StateMachine::held_since(const Rule& rule) const {
  const Condition& when = rule.transition.when;
  if (rule.kind == Rule::Kind::AllUp || (!when.is_of_topics() && when.kind != Condition::Kind::InTime))
    return rule.holds_since_ns;
  if (when.kind == Condition::Kind::Silent) {
    std::int64_t since = kNever;
    for (const std::string& topic : when.names) since = std::min(since, silent_since(topic));
    return since;
  }
  std::int64_t since = rule.heard.size() < when.names.size() ? kNever : 0;
  for (const auto& [name, heard] : rule.heard) {
    const bool pause = when.kind == Condition::Kind::InTime && looked_ns_ - heard.last_ns > window_of(when) + kNews;
    since = std::max(since, pause ? kNever : heard.since_ns);
  }
  return since;
}

std::int64_t StateMachine::held_at(const Rule& rule) const {
  const std::int64_t since = held_since(rule);
  const bool at_once = rule.kind != Rule::Kind::AllUp && rule.transition.when.kind == Condition::Kind::Late;
  return since == kNever ? kNever : since + (at_once ? 0 : rule.transition.when.lasting.count());
}

std::int64_t StateMachine::free_since(State to) const {
  if (cause_ == nullptr || to >= state_) return kAlways;  // what is worse waits for nothing
  const config::Transition& t = cause_->transition;
  if (std::find(t.from.begin(), t.from.end(), to) == t.from.end()) return kAlways;
  if (held_at(*cause_) <= looked_ns_) return kNever;
  return cause_->kind != Rule::Kind::AllUp && t.when.kind == Condition::Kind::Silent ? held_since(*cause_)
                                                                                     : cause_->ended_ns;
}

std::int64_t StateMachine::look_every(const Rule& rule) const {
  constexpr std::int64_t kLeast = 20'000'000;
  if (rule.kind == Rule::Kind::AllUp || !leaves(rule)) return kNever;
  const auto quarter = [kLeast](const Rule& r) {
    const Condition& when = r.transition.when;
    return std::max((when.is_of_chains() ? window_of(when) : when.lasting.count()) / 4, kLeast);
  };
  if (rule.transition.when.kind == Condition::Kind::Publishing) return quarter(rule);
  // No event reports the end of a silence, or that a chain is in time again.
  const bool waits = cause_ != nullptr && cause_->kind == Rule::Kind::File &&
                     (cause_->transition.when.is_of_topics() || cause_->transition.when.is_of_chains()) &&
                     free_since(rule.transition.to) == kNever;
  return waits ? quarter(*cause_) : kNever;
}

std::int64_t StateMachine::due(const Rule& rule) const {
  const config::Transition& t = rule.transition;
  if (!leaves(rule)) return kNever;
  const std::int64_t held = held_at(rule);
  if (held == kNever) return kNever;
  std::int64_t at = std::max(held, since_ns_);
  const std::int64_t free = free_since(t.to);
  if (free == kNever) return kNever;
  at = std::max(at, free);
  if (degraded_here_ && t.to == State::Running) at = std::max(at, whole_ns_);
  // Rules that lead in a circle go round once for each thing that happens, not for ever.
  return at > rule.taken_ns ? at : kNever;
}

std::vector<StateMachine::Change> StateMachine::advance(std::int64_t now_ns) {
  std::vector<Change> changes;
  looked_ns_ = now_ns;
  hear(now_ns);
  count_late(now_ns);
  while (state_ != State::Stopped) {
    Rule* first = nullptr;
    std::int64_t at = kNever;
    for (Rule& rule : rules_)
      if (const std::int64_t when = due(rule); when < at) {
        first = &rule;
        at = when;
      }
    if (first == nullptr || at > now_ns) break;
    changes.push_back({state_, first->transition.to, at, reason_of(*first)});
    if (state_ == State::Starting && left_starting_ns_ == kNever) left_starting_ns_ = at;
    state_ = first->transition.to;
    degraded_here_ = first->kind == Rule::Kind::GivenUpHere;
    since_ns_ = at;
    first->taken_ns = at;
    cause_ = first;
  }
  return changes;
}

std::optional<std::int64_t> StateMachine::next() const {
  if (state_ == State::Stopped) return {};
  std::int64_t at = kNever;
  for (const Rule& rule : rules_) {
    at = std::min(at, due(rule));
    if (const std::int64_t every = look_every(rule); every != kNever) at = std::min(at, looked_ns_ + every);
  }
  if (at == kNever) return {};
  return at;
}

StateMachine::Change StateMachine::stop(std::int64_t now_ns, std::string reason) {
  const Change change{state_, State::Stopped, now_ns, std::move(reason)};
  state_ = State::Stopped;
  since_ns_ = now_ns;
  return change;
}

std::string StateMachine::reason_of(const Rule& rule) const {
  if (rule.kind == Rule::Kind::AllUp) return "all processes are up";
  const Condition& when = rule.transition.when;
  const std::string lasting =
      when.lasting.count() != 0 ? fmt::format(" for {:g} ms", static_cast<double>(when.lasting.count()) / 1e6) : "";
  if (when.kind == Condition::Kind::Up)
    return fmt::format("{} {} up{}", fmt::join(when.names, ", "), when.names.size() == 1 ? "is" : "are", lasting);
  if (when.kind == Condition::Kind::Publishing)
    return fmt::format("messages have come on {}{}", fmt::join(when.names, ", "), lasting);
  if (when.kind == Condition::Kind::InTime)
    return fmt::format("{} {} been in time{}", fmt::join(when.names, ", "), when.names.size() == 1 ? "has" : "have",
                       lasting);
  if (when.kind == Condition::Kind::Late) {
    const auto latest = std::max_element(when.names.begin(), when.names.end(), [&](const auto& a, const auto& b) {
      return late_until(rule, a) < late_until(rule, b);
    });
    const auto words = late_words_.find(*latest);
    return fmt::format(
        "{} exceeded its budget{}{}{}", *latest,
        when.times > 1 ? fmt::format(" {} times within {:g} ms", when.times, static_cast<double>(window_of(when)) / 1e6)
                       : "",
        words == late_words_.end() || words->second.empty() ? "" : ": ",
        words == late_words_.end() ? "" : words->second);
  }
  if (when.kind == Condition::Kind::Silent) {
    const auto quietest = std::min_element(when.names.begin(), when.names.end(), [&](const auto& a, const auto& b) {
      return silent_since(a) < silent_since(b);
    });
    return fmt::format("nothing was published on {}{}", *quietest, lasting);
  }
  for (const std::string& name : when.names) {
    const auto p = processes_.find(name);
    const auto c = all_components_.find(name);
    const Named* named = p != processes_.end() ? &p->second : c != all_components_.end() ? &c->second : nullptr;
    if (named == nullptr) continue;
    if (when.kind == Condition::Kind::GivenUp ? named->unit != Unit::GivenUp : !is_down(named->unit)) continue;
    return fmt::format("{} {}{}{}{}", name, when.kind == Condition::Kind::GivenUp ? "was given up" : "is down", lasting,
                       named->why.empty() ? "" : ": ", named->why);
  }
  return std::string(name_of(when.kind));
}

}  // namespace cardan::launcher
