// SPDX-License-Identifier: Apache-2.0
#include "src/system/plan/difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/transform_math.hpp"
#include "src/base/text_of_json.hpp"
#include "src/config/python_component.hpp"
#include "src/config/shape.hpp"
#include "src/runtime/component_library.hpp"
#include "src/system/plan/plan_fields.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::plan {
namespace {

namespace fs = std::filesystem;
using config::Chain;
using config::Component;
using config::Process;

constexpr const char* kChains = "the chains";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The names of the fields in which two aggregates differ.
template <class T>
std::vector<std::string> differing(const T& a, const T& b) {
  std::vector<std::string> names;
  const auto look = [&](const auto& field) {
    if (!(a.*field.member == b.*field.member)) names.emplace_back(field.name);
  };
  std::apply([&](const auto&... field) { (look(field), ...); }, kFields<T>);
  return names;
}

/// The parts of a plan without what does not matter to a process: places in the text, and names of files as they were
/// given.
class Parts {
 public:
  explicit Parts(const Plan& plan) : plan_(plan) {}

  [[nodiscard]] std::string absolute(const std::string& path) const {
    return (fs::path(plan_.folder) / path).lexically_normal().string();
  }
  /// With the library that is loaded in place of its name.
  [[nodiscard]] Component component(Component c) const {
    const std::string file = absolute(plan_.configuration.file_of(c));
    if (config::is_python(c))
      c.library += " in " + fs::path(file).parent_path().string();
    else if (!c.library.empty())
      c.library = component_library_path(c.library, file);
    c.pointer.clear();
    for (config::Callback& callback : c.callbacks) callback.pointer.clear();
    return c;
  }
  [[nodiscard]] Process process(Process p) const {
    for (Component& c : p.components) c = component(std::move(c));
    for (config::Group& group : p.groups) group.pointer.clear();
    if (p.bridge) {
      p.bridge->pointer.clear();
      if (!p.bridge->file.empty()) p.bridge->file = absolute(p.bridge->file);
    }
    if (p.record) {
      p.record->pointer.clear();
      p.record->output = absolute(p.record->output);
    }
    if (!p.command.empty() && p.command.front().find('/') != std::string::npos)
      p.command.front() = absolute(p.command.front());
    p.pointer.clear();
    return p;
  }
  [[nodiscard]] config::TopicSettings topic(const std::string& name) const {
    const auto found = plan_.configuration.topics.find(name);
    config::TopicSettings settings =
        found != plan_.configuration.topics.end() ? found->second : config::TopicSettings{};
    settings.pointer.clear();
    return settings;
  }
  [[nodiscard]] std::vector<Chain> chains() const {
    std::vector<Chain> all = plan_.configuration.chains;
    for (Chain& chain : all) chain.pointer.clear();
    return all;
  }
  [[nodiscard]] std::vector<config::FrameTransform> transforms() const {
    std::vector<config::FrameTransform> all = plan_.configuration.transforms;
    for (config::FrameTransform& transform : all) transform.pointer.clear();
    return all;
  }
  [[nodiscard]] std::vector<config::Transition> transitions() const {
    std::vector<config::Transition> all = plan_.configuration.transitions;
    for (config::Transition& t : all) t.pointer.clear();
    return all;
  }
  /// Whether the component may use a topic of that name on the bus: if nobody asked it, it may.
  [[nodiscard]] bool may_use(const std::string& component, const std::string& topic) const {
    const auto found = plan_.declared.find(component);
    return found == plan_.declared.end() || contains(found->second.topics, topic);
  }
  [[nodiscard]] bool is_fixed(const std::string& component, const std::string& parameter) const {
    const auto found = plan_.declared.find(component);
    return found != plan_.declared.end() && contains(found->second.fixed, parameter);
  }

 private:
  const Plan& plan_;
};

/// The differences of a process, other than values of parameters, which go to `set`.
std::vector<std::string> why(const Process& now, const Process& next, std::vector<Difference::Set>& set) {
  std::vector<std::string> all;
  for (std::string& name : differing(now, next))
    if (name != "components") all.push_back(std::move(name));
  bool same_names = now.components.size() == next.components.size();
  for (std::size_t i = 0; same_names && i < now.components.size(); ++i)
    same_names = now.components[i].name == next.components[i].name;
  for (const Component& c : next.components)
    if (now.component(c.name) == nullptr) all.push_back(fmt::format("component '{}' is new", c.name));
  for (const Component& before : now.components) {
    const Component* const after = next.component(before.name);
    if (after == nullptr) {
      all.push_back(fmt::format("component '{}' is removed", before.name));
      continue;
    }
    for (const std::string& name : differing(before, *after))
      if (name != "parameters") all.push_back(fmt::format("'{}' of component '{}'", name, before.name));
    for (const auto& [name, value] : before.parameters)
      if (!after->parameters.contains(name))
        all.push_back(fmt::format("parameter {}/{} is left to the code", before.name, name));
    for (const auto& [name, value] : after->parameters) {
      const auto old = before.parameters.find(name);
      if (old != before.parameters.end() && old->second == value) continue;
      set.push_back({.process = next.name, .component = before.name, .parameter = name, .after = value});
      if (old != before.parameters.end()) set.back().before = old->second;
    }
  }
  if (all.empty() && !same_names) all.emplace_back("the order of its components");
  return all;
}

std::set<std::string> beginnings(const std::vector<Chain>& chains) {
  std::set<std::string> topics;
  for (const Chain& chain : chains) topics.insert(chain.from);
  return topics;
}

std::string text_of(const Difference::Set& set) {
  return fmt::format("parameter {}/{} is {}", set.component, set.parameter, config::text(set.after));
}

/// "the transforms: 'lidar' is moved, 'radar' is new"
std::string text_of_transforms(const Parts& now, const Parts& next) {
  const std::vector<config::FrameTransform> before = now.transforms(), after = next.transforms();
  std::vector<std::string> changes;
  const auto of_child = [](const std::vector<config::FrameTransform>& all, const std::string& child) {
    return std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.child == child; });
  };
  for (const config::FrameTransform& t : after) {
    const auto old = of_child(before, t.child);
    if (old == before.end())
      changes.push_back(fmt::format("'{}' is new", t.child));
    else if (*old != t)
      changes.push_back(fmt::format("'{}' is moved", t.child));
  }
  for (const config::FrameTransform& t : before)
    if (of_child(after, t.child) == after.end()) changes.push_back(fmt::format("'{}' is removed", t.child));
  constexpr std::size_t kMostShown = 5;
  const std::size_t more = changes.size() > kMostShown ? changes.size() - kMostShown : 0;
  changes.resize(changes.size() - more);
  if (more != 0) changes.push_back(fmt::format("{} more", more));
  return changes.empty() ? "the order of the transforms" : fmt::format("the transforms: {}", fmt::join(changes, ", "));
}

[[noreturn]] void needs_restart(const std::string& what, const std::string& now, const std::string& next) {
  throw Error(
      ErrorCode::InvalidArgument,
      fmt::format("{} of the system that runs is {}, and of the file {}: it cannot change while the system runs", what,
                  now, next),
      "end the system, and start it with the file: cardan run FILE");
}

}  // namespace

bool Difference::empty() const noexcept {
  return start.empty() && stop.empty() && restart.empty() && set.empty() && others.empty();
}

Difference difference(const Plan& now, const Plan& next) {
  const config::Configuration& a = now.configuration;
  const config::Configuration& b = next.configuration;
  const auto quoted = [](const std::string& name) { return fmt::format("'{}'", name); };
  if (a.name != b.name) needs_restart("the name", quoted(a.name), quoted(b.name));
  if (a.domain != b.domain) needs_restart("the domain", quoted(a.domain), quoted(b.domain));
  if (a.realtime != b.realtime)
    needs_restart("'realtime'", a.realtime ? "true" : "false", b.realtime ? "true" : "false");
  const Parts of_now(now);
  const Parts of_next(next);
  std::set<std::string> topics;
  for (const config::Configuration* const c : {&a, &b})
    for (const auto& [name, settings] : c->topics)
      if (of_now.topic(name) != of_next.topic(name)) topics.insert(name);
  const std::vector<Chain> chains = of_now.chains();
  const std::vector<Chain> next_chains = of_next.chains();
  const bool other_beginnings = beginnings(chains) != beginnings(next_chains);
  std::vector<const Chain*> changed_chains;
  for (const auto& [these, those] : {std::pair{&chains, &next_chains}, {&next_chains, &chains}})
    for (const Chain& chain : *these)
      if (std::find(those->begin(), those->end(), chain) == those->end()) changed_chains.push_back(&chain);
  Difference all;
  for (const Process& process : a.processes)
    if (b.process(process.name) == nullptr) all.stop.push_back(process.name);
  for (const Process& process : b.processes) {
    const Process* const old = a.process(process.name);
    if (old == nullptr) {
      all.start.push_back(process.name);
      continue;
    }
    std::vector<Difference::Set> set;
    std::vector<std::string> reasons = why(of_now.process(*old), of_next.process(process), set);
    const auto may_use = [&](const std::string& topic) {
      return std::any_of(process.components.begin(), process.components.end(), [&](const Component& c) {
        // The running system decides, if it was asked.
        return now.declared.contains(c.name) ? of_now.may_use(c.name, topic) : of_next.may_use(c.name, topic);
      });
    };
    // Room for each beginning is in all messages; the end of a chain compares with the budget.
    if (process.has_host() && (other_beginnings || std::any_of(changed_chains.begin(), changed_chains.end(),
                                                               [&](const Chain* c) { return may_use(c->to); })))
      reasons.emplace_back(kChains);
    for (const std::string& topic : topics)
      if (may_use(topic))
        reasons.push_back(fmt::format("{} of topic {}",
                                      fmt::join(differing(of_now.topic(topic), of_next.topic(topic)), ", "), topic));
    const bool fixed = std::any_of(set.begin(), set.end(), [&](const Difference::Set& one) {
      return of_now.is_fixed(one.component, one.parameter) || of_next.is_fixed(one.component, one.parameter);
    });
    if (reasons.empty() && !fixed) {
      all.set.insert(all.set.end(), set.begin(), set.end());
      continue;
    }
    for (const Difference::Set& one : set) reasons.push_back(text_of(one));
    all.restart.push_back({process.name, std::move(reasons)});
  }
  const auto for_chains = [](const Difference::Changed& c) { return contains(c.why, kChains); };
  if (chains != next_chains && std::none_of(all.restart.begin(), all.restart.end(), for_chains))
    all.others.emplace_back(kChains);
  if (of_now.transitions() != of_next.transitions()) all.others.emplace_back("the transitions between states");
  if (of_now.transforms() != of_next.transforms()) all.others.push_back(text_of_transforms(of_now, of_next));
  if (a.needs != b.needs) all.others.emplace_back("'needs'");
  return all;
}

namespace {

/// As detail::static_transform() needs them.
void refuse_wrong(const std::vector<config::FrameTransform>& transforms) {
  const bool wrong = transforms.size() > config::kMaxTransforms ||
                     std::any_of(transforms.begin(), transforms.end(), [](const config::FrameTransform& t) {
                       return !config::fits(config::Format::Frame, t.parent) ||
                              !config::fits(config::Format::Frame, t.child) || t.parent == t.child ||
                              !is_finite(t.place) || !is_rotation(t.place.rotation);
                     });
  if (wrong)
    throw Error(ErrorCode::InvalidArgument, "the plan has wrong transforms", "make it with `cardan run --apply FILE`");
}

}  // namespace

void refuse_unsound(const Plan& plan) {
  const auto name = [](const char* what, const std::string& text, config::Format format) {
    if (!config::fits(format, text))
      throw Error(ErrorCode::InvalidArgument, fmt::format("the plan has a wrong name of {}", what),
                  "make it with `cardan run --apply FILE`");
  };
  const auto once = [](std::set<std::string>& all, const char* what, const std::string& text) {
    if (!all.insert(text).second)
      throw Error(ErrorCode::InvalidArgument, fmt::format("the plan has two {} '{}'", what, text),
                  "make it with `cardan run --apply FILE`");
  };
  const auto finite = [](double number) {
    if (!std::isfinite(number))
      throw Error(ErrorCode::InvalidArgument, "the plan has a number that is infinite, or not a number",
                  "make it with `cardan run --apply FILE`");
  };
  const auto all_finite = [&](const config::Value& value) {
    for (const config::Value& one : config::elements_of(value))
      if (const auto* const number = std::get_if<double>(&one)) finite(*number);
  };
  const config::Configuration& c = plan.configuration;
  name("a system", c.name, config::Format::Name);
  name("a domain", c.domain, config::Format::Domain);
  if (c.processes.empty())
    throw Error(ErrorCode::InvalidArgument, "the plan has no process", "end the system instead: Ctrl-C of cardan run");
  std::set<std::string> processes, components, chains;
  for (const Chain& chain : c.chains) {
    name("a chain", chain.name, config::Format::Name);
    once(chains, "chains", chain.name);
    for (const std::string& topic : {chain.from, chain.to}) name("a topic", topic, config::Format::Topic);
  }
  if (beginnings(c.chains).size() > config::kMaxChainBeginnings)
    throw Error(ErrorCode::InvalidArgument, "the plan has chains with too many beginnings",
                "make it with `cardan run --apply FILE`");
  refuse_wrong(c.transforms);
  for (const Process& process : c.processes) {
    name("a process", process.name, config::Format::Name);
    once(processes, "processes", process.name);
    for (const auto& [variable, value] : process.environment)
      name("a variable of the environment", variable, config::Format::Variable);
    if (process.bridge && std::find(config::kBridgeKinds.begin(), config::kBridgeKinds.end(), process.bridge->kind) ==
                              config::kBridgeKinds.end())
      throw Error(ErrorCode::InvalidArgument, "the plan has an unknown kind of bridge",
                  "use the same version of Cardan on both sides");
    if (process.record && std::find(config::kCompressions.begin(), config::kCompressions.end(),
                                    process.record->compression) == config::kCompressions.end())
      throw Error(ErrorCode::InvalidArgument, "the plan has an unknown compression",
                  "use the same version of Cardan on both sides");
    for (const std::string& word : process.command)
      if (!config::fits(config::Format::Any, word))
        throw Error(ErrorCode::InvalidArgument, "the plan has a command with a NUL in it",
                    "make it with `cardan run --apply FILE`");
    for (const Component& component : process.components) {
      name("a component", component.name, config::Format::Name);
      once(components, "components", component.name);
      for (const auto& [parameter, value] : component.parameters) all_finite(value);
      if (component.cycle) finite(component.cycle->weight);
    }
  }
}

namespace {

using nlohmann::json;

json before_of(const Difference::Set& set) { return set.before ? json_of(*set.before) : json(nullptr); }

}  // namespace

std::string to_json(const Difference& d) {
  json restart = json::array();
  for (const Difference::Changed& one : d.restart) restart.push_back({{"process", one.process}, {"why", one.why}});
  json set = json::array();
  for (const Difference::Set& one : d.set)
    set.push_back({{"process", one.process},
                   {"component", one.component},
                   {"parameter", one.parameter},
                   {"before", before_of(one)},
                   {"after", json_of(one.after)}});
  return text_of_json(
      json{{"start", d.start}, {"stop", d.stop}, {"restart", restart}, {"set", set}, {"others", d.others}});
}

Difference difference_from_json(const std::string& text) {
  const json all = json::parse(text);
  Difference d{.start = all.at("start"), .stop = all.at("stop"), .others = all.at("others")};
  for (const json& one : all.at("restart")) d.restart.push_back({one.at("process"), one.at("why")});
  for (const json& one : all.at("set"))
    d.set.push_back({.process = one.at("process"),
                     .component = one.at("component"),
                     .parameter = one.at("parameter"),
                     .before = value_of(one.at("before")),
                     .after = needed_value_of(one.at("after"))});
  return d;
}

}  // namespace cardan::plan
