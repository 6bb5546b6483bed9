// SPDX-License-Identifier: Apache-2.0
#include "src/config/check_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/config/python_component.hpp"
#include "src/config/shape.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

using std::chrono::microseconds;

// The limits of the kernel's deadline parameters (sched_setattr(2), sched_deadline_period_{min,max}_us).
constexpr microseconds kLeastRuntime{2};
constexpr microseconds kLeastPeriod{100};
constexpr microseconds kLongestPeriod{1 << 22};

std::string us_text(std::chrono::nanoseconds time) {
  return fmt::format("{} µs", std::chrono::duration_cast<microseconds>(time).count());
}

class TextCheck {
 public:
  TextCheck(const Configuration& configuration, ProblemList& problems) : c_(configuration), problems_(problems) {}

  void check() {
    if (c_.processes.empty() && !problems_.was_wrong("") && !problems_.was_wrong("/processes") &&
        problems_.stands("/processes"))
      problems_.error("/processes", "the file has no process", R"(add one: "name": {"components": {…}})");
    for (const Process& process : c_.processes) {
      this->process(process);
      for (const Component& component : process.components) this->component(process, component);
      for (const Group& group : process.groups) this->group(process, group);
    }
    for (const auto& [name, settings] : c_.topics) topic(name, settings);
  }

 private:
  void process(const Process& p) {
    const std::string components = p.pointer + "/components";
    const auto has = [&](std::string_view kind) { return problems_.stands(join(p.pointer, kind)); };
    const auto was_wrong = [&](std::string_view kind) { return problems_.was_wrong(join(p.pointer, kind)); };
    if (const auto kind = std::find_if(kProcessKinds.begin(), kProcessKinds.end(), has); kind != kProcessKinds.end()) {
      const std::string what = kind_in_words(*kind);
      for (auto other = kind + 1; other != kProcessKinds.end(); ++other)
        if (has(*other))
          problems_.error_in_key(join(p.pointer, *other),
                                 fmt::format("process '{}' is {}, and {} too", p.name, what, kind_in_words(*other)),
                                 "make them two processes");
      if (problems_.stands(components))
        problems_.error_in_key(components, fmt::format("process '{}' is {}, and has components too", p.name, what),
                               "move the components into a separate process");
      if (has("groups"))
        problems_.error_in_key(p.pointer + "/groups",
                               fmt::format("process '{}' is {}, which has no groups", p.name, what), "remove 'groups'");
      if (p.record && !was_wrong("record")) record(p, *p.record);
      if (*kind == "command" && !was_wrong("command") && (p.command.empty() || p.command.front().empty()) &&
          !problems_.was_wrong(p.pointer + "/command/0"))
        problems_.error(p.pointer + "/command", fmt::format("'command' of process '{}' names no program", p.name),
                        R"(write its path or name, and its arguments: ["./gui", "--full-screen"])");
    } else if (!problems_.stands(components)) {
      if (!problems_.was_wrong(p.pointer) && std::none_of(kProcessKinds.begin(), kProcessKinds.end(), was_wrong))
        problems_.error_in_key(
            p.pointer, fmt::format("process '{}' has neither components nor a bridge, a recorder or a command", p.name),
            R"(add "components": {…}, "bridge": {"kind": "dds"}, "record": {"output": "recordings/"} or "command": ["./program"])");
    } else if (p.components.empty() && !problems_.was_wrong(components)) {
      problems_.error(components, fmt::format("process '{}' has no component", p.name), "add one, or remove it");
    }
    if (is_python(p))
      for (const Component& c : p.components)
        if (!is_python(c) && !c.library.empty())
          problems_.error_in_key(
              c.pointer,
              fmt::format("component '{}' is in C++, and others of process '{}' are in Python", c.name, p.name),
              "move it into a separate process: an interpreter runs only components in Python");
    const Restart& r = p.restart;
    if (r.backoff > r.backoff_max) {
      const bool longest_stands = problems_.stands(p.pointer + "/restart/backoff_max_ms");
      problems_.error(
          p.pointer + (longest_stands ? "/restart/backoff_max_ms" : "/restart/backoff_ms"),
          fmt::format("'backoff_ms' of process '{}' is {:g}, which is more than its 'backoff_max_ms', {:g}", p.name,
                      static_cast<double>(r.backoff.count()) / 1e6, static_cast<double>(r.backoff_max.count()) / 1e6),
          "raise 'backoff_max_ms', or lower 'backoff_ms'");
    }
  }

  static std::string kind_in_words(std::string_view kind) {
    return kind == "bridge" ? "a bridge" : kind == "record" ? "a recorder" : "a program";
  }

  void record(const Process& p, const Record& r) {
    const auto stands = [&](const char* key) { return problems_.stands(join(r.pointer, key)); };
    const auto wrong = [&](const char* key) { return problems_.was_wrong(join(r.pointer, key)); };
    const bool events = r.last.count() > 0 || wrong("last_s");
    if (stands("last_s") && !events)
      problems_.error(r.pointer + "/last_s", fmt::format("'last_s' of process '{}' is 0", p.name),
                      "write the seconds before an event that are kept, or remove it to record everything");
    for (const char* const key : {"after_s", "on"})
      if (stands(key) && !stands("last_s"))
        problems_.error_in_key(
            join(r.pointer, key),
            fmt::format("process '{}' has '{}', but records everything and not only events", p.name, key),
            "add \"last_s\": the seconds before an event that are kept");
    if (stands("after_s") && r.after.count() == 0 && !wrong("after_s"))
      problems_.error(r.pointer + "/after_s", fmt::format("'after_s' of process '{}' is 0", p.name),
                      "write the seconds that are recorded after an event's beginning");
    if (!r.on || wrong("on")) return;
    const std::string on = r.pointer + "/on";
    const RecordTrigger& t = *r.on;
    if (!problems_.stands(on + "/state") && !problems_.stands(on + "/silent") && !problems_.stands(on + "/message"))
      problems_.error(
          on, fmt::format("'on' of process '{}' names nothing that an event begins with", p.name),
          "add 'state', 'silent' or 'message', or remove it: `cardan record --tell trigger` begins one too");
    const bool silent = problems_.stands(on + "/silent");
    if (silent && t.lasting.count() == 0 && !problems_.was_wrong(on + "/for_ms"))
      problems_.error(on + "/silent", fmt::format("'silent' of process '{}' has no duration", p.name),
                      "add \"for_ms\": longer than the time between two messages");
    if (!silent && problems_.stands(on + "/for_ms"))
      problems_.error_in_key(on + "/for_ms", "'for_ms' is the duration of 'silent', which is not there",
                             "remove it, or add 'silent'");
  }

  void component(const Process& p, const Component& c) {
    if (const auto [first, fresh] = first_of_name_.emplace(c.name, &p); !fresh)
      problems_.error_in_key(c.pointer,
                             fmt::format("component '{}' is in process '{}' too ({})", c.name, first->second->name,
                                         c_.source.line(c_.source.key(first->second->component(c.name)->pointer))),
                             fmt::format("rename one '{}': a component's name is unique in the file", c.name));
    const std::string subject = fmt::format("component '{}'", c.name);
    if (problems_.stands(c.pointer + "/thread") && problems_.stands(c.pointer + "/group"))
      problems_.error(c.pointer + "/group", fmt::format("{} has both a 'group' and its own 'thread'", subject),
                      "remove 'group' or 'thread'");
    else if (c.group != kDefaultGroup && p.group(c.group) == nullptr)
      problems_.error(c.pointer + "/group",
                      fmt::format("{} is in group '{}', which process '{}' does not have", subject, c.group, p.name),
                      suggestion(c.group, group_names(p), fmt::format("add \"groups\": {{\"{}\": {{}}}}", c.group)));
    if (problems_.stands(c.pointer + "/thread") && problems_.stands(c.pointer + "/priority"))
      problems_.warning(c.pointer + "/priority",
                        fmt::format("'priority' of {} applies within a group, but it has its own thread", subject),
                        "remove it, or write it as 'priority' of 'thread'");
    if (c.thread) thread(*c.thread, c.pointer + "/thread", subject);
    for (const Callback& callback : c.callbacks)
      if (callback.thread)
        thread(*callback.thread, callback.pointer + "/thread",
               fmt::format("callback '{}' of {}", callback.name, subject));
    renames(c);
  }

  static std::vector<std::string> group_names(const Process& p) {
    std::vector<std::string> names;
    for (const Group& group : p.groups) names.push_back(group.name);
    if (p.group(kDefaultGroup) == nullptr) names.emplace_back(kDefaultGroup);
    return names;
  }

  void renames(const Component& c) {
    std::map<std::string, std::string> taken;  // name on the bus → in the code
    const std::string topics = c.pointer + "/topics";
    for (const auto& [code, bus] : c.topics) {
      const auto [first, fresh] = taken.emplace(bus, code);
      if (fresh) continue;
      // The later one in the text is the one that is too many.
      std::string later = join(topics, code);
      std::string earlier = join(topics, first->second);
      if (before(later, earlier)) {
        std::swap(later, earlier);
        first->second = code;
      }
      problems_.error(later,
                      fmt::format("component '{}' uses '{}' under two names (also in {})", c.name, bus,
                                  c_.source.line(c_.source.key(earlier))),
                      fmt::format("rename it to another topic than '{}', or use one name in the code", bus));
    }
  }

  [[nodiscard]] bool before(const std::string& a, const std::string& b) const {
    const Place x = c_.source.key(a);
    const Place y = c_.source.key(b);
    return x.line != y.line ? x.line < y.line : x.column < y.column;
  }

  void thread(const Thread& t, const std::string& at, const std::string& subject) {
    priority(t.policy, t.priority, at, subject);
    if (problems_.was_wrong(at + "/policy")) return;
    if (t.policy == Policy::Deadline) return deadline(t, at, subject);
    for (const char* const name : {"/runtime_us", "/period_us"})
      if (problems_.stands(at + name))
        problems_.error(at + name,
                        fmt::format("'{}' of {} is only for the policy deadline, and the policy is {}", name + 1,
                                    subject, name_of(t.policy)),
                        fmt::format("remove '{}', or write \"policy\": \"deadline\"", name + 1));
  }

  void deadline(const Thread& t, const std::string& at, const std::string& subject) {
    bool whole = true;
    for (const char* const name : {"/runtime_us", "/period_us"}) {
      whole = whole && !problems_.was_wrong(at + name);
      if (problems_.stands(at + name)) continue;
      problems_.error(at + "/policy", fmt::format("the policy deadline of {} has no '{}'", subject, name + 1),
                      name[1] == 'r' ? R"(add "runtime_us": CPU time in each period)"
                                     : R"(add "period_us": the time from one start to the next)");
      whole = false;
    }
    if (!whole) return;
    if (t.runtime < kLeastRuntime)
      problems_.error(
          at + "/runtime_us",
          fmt::format("'runtime_us' of {} is less than the kernel's least, {}", subject, us_text(kLeastRuntime)),
          "raise 'runtime_us' to what a callback takes at most");
    if (t.period < kLeastPeriod || t.period > kLongestPeriod)
      problems_.error(at + "/period_us",
                      fmt::format("'period_us' of {} is {}, and the kernel takes {} to {}", subject, us_text(t.period),
                                  us_text(kLeastPeriod), us_text(kLongestPeriod)),
                      "change 'period_us', or use the policy fifo");
    else if (t.runtime > t.period)
      problems_.error(at + "/runtime_us",
                      fmt::format("'runtime_us' of {} is longer than its period, {}", subject, us_text(t.period)),
                      "lower 'runtime_us', or raise 'period_us'");
    if (!t.cpus.empty())
      problems_.warning(at + "/cpus",
                        fmt::format("the kernel refuses to pin {}, whose policy is deadline, to some CPUs", subject),
                        "remove 'cpus', unless an exclusive cpuset has exactly these");
  }

  void priority(Policy policy, int priority, const std::string& at, const std::string& subject) {
    if (problems_.was_wrong(at + "/policy") || problems_.was_wrong(at + "/priority")) return;
    const bool needs = policy == Policy::Fifo || policy == Policy::RoundRobin;
    if (needs && !problems_.stands(at + "/priority"))
      problems_.error(at + "/policy", fmt::format("the policy {} of {} has no 'priority'", name_of(policy), subject),
                      "add \"priority\": 1 to 99; 50 is above ordinary threads and below the kernel's own");
    else if (needs && priority < 1)
      problems_.error(
          at + "/priority",
          fmt::format("'priority' of {} is {}, and the policy {} takes 1 to 99", subject, priority, name_of(policy)),
          "write 1 to 99");
    else if (!needs && priority != 0)
      problems_.error(
          at + "/priority",
          fmt::format("'priority' of {} is {}, and the policy {} takes none", subject, priority, name_of(policy)),
          policy == Policy::Other ? R"(add "policy": "fifo", or remove 'priority')"
                                  : "remove 'priority': the runtime and period decide");
  }

  void group(const Process& p, const Group& g) {
    const std::string subject = fmt::format("group '{}' of process '{}'", g.name, p.name);
    priority(g.policy.value_or(Policy::Other), g.priority.value_or(0), g.pointer, subject);
    if (g.affinity == Affinity::OneToOne) {
      const std::size_t cpus = elements(g.pointer + "/cpus");
      if (cpus == 0)
        problems_.error(g.pointer + "/affinity",
                        fmt::format("{} must have one worker per CPU, but has no 'cpus'", subject),
                        R"(add "cpus": […], or remove 'affinity')");
      else if (static_cast<std::size_t>(g.workers.value_or(1)) > cpus)
        problems_.error(
            g.pointer + "/workers",
            fmt::format("{} has {} workers for {} CPU{}, one per CPU", subject, *g.workers, cpus, cpus == 1 ? "" : "s"),
            "name more 'cpus', lower 'workers', or write \"affinity\": \"range\"");
    }
    for (const Component& c : p.components) {
      if (!c.thread && c.group == g.name) return;
      if (c.group != kDefaultGroup && p.group(c.group) == nullptr) return;  // reported, and perhaps this one is meant
    }
    problems_.warning(g.pointer, fmt::format("no component is in {}", subject),
                      fmt::format("write \"group\": \"{}\" in a component, or remove it", g.name));
  }

  /// Of the list there, right or wrong.
  [[nodiscard]] std::size_t elements(const std::string& list) const {
    std::size_t count = 0;
    while (c_.source.values.contains(fmt::format("{}/{}", list, count))) ++count;
    return count;
  }

  void topic(const std::string& name, const TopicSettings& t) {
    const std::string spin = t.pointer + "/spin_us";
    if (t.waiting == Waiting::Kind::Spin && !problems_.stands(spin))
      problems_.error(t.pointer + "/waiting", fmt::format("readers of topic '{}' must spin, but without a time", name),
                      "add \"spin_us\": the longest time before they sleep");
    if (t.waiting == Waiting::Kind::Block && problems_.stands(spin))
      problems_.warning(spin, fmt::format("readers of topic '{}' block, so 'spin_us' has no effect", name),
                        "remove it, or change 'waiting'");
  }

  const Configuration& c_;
  ProblemList& problems_;
  std::map<std::string, const Process*> first_of_name_;
};

}  // namespace

void check_text(const Configuration& configuration, ProblemList& problems) {
  TextCheck(configuration, problems).check();
}

}  // namespace cardan::config
