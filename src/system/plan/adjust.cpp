// SPDX-License-Identifier: Apache-2.0
#include "src/system/plan/adjust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>

#include "cardan/error.hpp"
#include "src/config/shape.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::plan {
namespace {

using config::Component;
using config::Configuration;
using config::Process;
using config::Value;

template <class Number>
bool whole_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

Value value_in_words(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    if (auto list = value_in_json(text)) return *std::move(list);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return std::string(text.substr(1, text.size() - 2));
  std::int64_t integer = 0;
  if (whole_number(text, integer)) return integer;
  double number = 0;
  // "inf" and "nan" are texts, as in JSON.
  if (text.find_first_of("0123456789") != std::string_view::npos && whole_number(text, number)) return number;
  return std::string(text);
}

}  // namespace

Configuration one_process(Configuration configuration) {
  std::vector<Process> programs;  // that have no components: they stay processes
  std::vector<Process>& processes = configuration.processes;
  const auto is_program = [](const Process& p) { return !p.has_host(); };
  std::copy_if(processes.begin(), processes.end(), std::back_inserter(programs), is_program);
  std::erase_if(processes, is_program);
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(programs.begin(), programs.end(), [&](const Process& p) { return p.name == name; });
  };
  if (processes.size() < 2) {
    std::move(programs.begin(), programs.end(), std::back_inserter(processes));
    return configuration;
  }
  Process all{.name = "all", .restart = processes.front().restart, .pointer = "/processes"};
  while (configuration.component(all.name) != nullptr || is_taken(all.name)) all.name += '_';
  bool limited = true;
  for (Process& process : configuration.processes) {
    const auto renamed = [&](const std::string& group) { return fmt::format("{}.{}", process.name, group); };
    const bool uses_default = std::any_of(process.components.begin(), process.components.end(),
                                          [](const Component& c) { return c.group == config::kDefaultGroup; });
    if (uses_default && process.group(config::kDefaultGroup) == nullptr)
      process.groups.push_back({.name = std::string(config::kDefaultGroup), .pointer = process.pointer});
    for (config::Group& group : process.groups) {
      group.name = renamed(group.name);
      all.groups.push_back(std::move(group));
    }
    for (Component& component : process.components) {
      component.group = renamed(component.group);
      all.components.push_back(std::move(component));
    }
    for (const auto& [name, value] : process.environment) all.environment[name] = value;
    limited = limited && process.memory_bytes != 0;
    all.memory_bytes += process.memory_bytes;
  }
  if (!limited) all.memory_bytes = 0;

  for (config::Transition& transition : configuration.transitions) {
    config::Condition& when = transition.when;
    if (when.is_of_topics() || when.is_of_chains()) continue;
    std::vector<std::string> names;
    for (const std::string& name : when.names) {
      const bool process =
          std::any_of(processes.begin(), processes.end(), [&](const Process& p) { return p.name == name; });
      const std::string& now = process ? all.name : name;
      if (std::find(names.begin(), names.end(), now) == names.end()) names.push_back(now);
    }
    when.names = std::move(names);
  }
  processes.clear();
  processes.push_back(std::move(all));
  std::move(programs.begin(), programs.end(), std::back_inserter(processes));
  return configuration;
}

void remap_topics(Configuration& configuration, const std::vector<std::string>& pairs) {
  config::Naming naming;
  for (const std::string& pair : pairs) {
    const std::size_t at = pair.find(":=");
    const auto wrong = [&](const std::string& why) {
      return Error(ErrorCode::InvalidArgument, fmt::format("--remap {}: {}", pair, why),
                   "write --remap /name:=/other, with names as `cardan topic list` shows them");
    };
    if (at == std::string::npos) throw wrong("it is not a pair of names");
    const std::string from = pair.substr(0, at);
    const std::string to = pair.substr(at + 2);
    for (const std::string& name : {from, to}) {
      if (!config::fits(config::Format::Topic, name)) throw wrong(fmt::format("'{}' is not the name of a topic", name));
      if (name.starts_with("/cardan/")) throw wrong("names below /cardan/ are Cardan's own");
    }
    if (!naming.links.emplace(from, to).second) throw wrong(fmt::format("{} is renamed twice", from));
  }
  if (naming.links.empty()) return;
  const auto change = [&](std::string& name) { name = naming.name(name); };
  const auto change_all = [&](std::vector<std::string>& names) { std::for_each(names.begin(), names.end(), change); };
  for (Process& process : configuration.processes) {
    for (Component& component : process.components) {
      for (auto& [code, bus] : component.topics) change(bus);
      component.namings.push_back(naming);
    }
    if (!process.record) continue;
    change_all(process.record->topics);
    change_all(process.record->exclude);
    if (!process.record->on) continue;
    change_all(process.record->on->silent);
    change_all(process.record->on->messages);
  }
  for (config::Transition& transition : configuration.transitions)
    if (transition.when.is_of_topics()) change_all(transition.when.names);
  for (config::Chain& chain : configuration.chains) {
    change(chain.from);
    change(chain.to);
    if (chain.from == chain.to)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("--remap: chain '{}' would begin and end on {}", chain.name, chain.to),
                  "give the two topics different names");
  }
  std::map<std::string, config::TopicSettings> topics;
  for (const bool renamed : {false, true})  // what the file says of the new name itself comes first
    for (const auto& [name, settings] : configuration.topics)
      if (naming.links.contains(name) == renamed) topics.emplace(naming.name(name), settings);
  configuration.topics = std::move(topics);
}

std::string domain_of(const Configuration& configuration) {
  return configuration.source.keys.contains("/domain") ? configuration.domain : std::string();
}

namespace {

[[noreturn]] void no_such_component(const Configuration& configuration, std::string_view assignment,
                                    const std::string& component) {
  std::vector<std::string> names;
  for (const Process& process : configuration.processes)
    for (const Component& c : process.components) names.push_back(c.name);
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("'{}' names component '{}', which is not in the file", assignment, component),
              fmt::format("the file has: {}", fmt::join(names, ", ")));
}

}  // namespace

void set_parameter(Configuration& configuration, std::string_view assignment, std::string_view option) {
  const std::size_t equals = assignment.find('=');
  const std::size_t slash = assignment.substr(0, equals).find('/');
  if (equals == std::string_view::npos || slash == std::string_view::npos || slash == 0 || slash + 1 == equals)
    throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' does not set a parameter", assignment),
                "write component/parameter=value");
  const std::string component(assignment.substr(0, slash));
  for (Process& process : configuration.processes)
    for (Component& c : process.components)
      if (c.name == component) {
        const std::string parameter(assignment.substr(slash + 1, equals - slash - 1));
        c.parameters[parameter] = value_in_words(assignment.substr(equals + 1));
        config::Source& source = configuration.source;
        source.included.push_back(fmt::format("{} {}", option, assignment));
        const std::string pointer = config::join(c.pointer + "/parameters", parameter);
        const config::Place place{.line = 0, .column = 0, .file = static_cast<std::uint32_t>(source.included.size())};
        source.keys[pointer] = source.values[pointer] = place;
        return;
      }
  no_such_component(configuration, assignment, component);
}

LogLevel log_level_of(std::string_view name) {
  if (name == "debug") return LogLevel::Debug;
  if (name == "info") return LogLevel::Info;
  if (name == "warning") return LogLevel::Warning;
  if (name == "error") return LogLevel::Error;
  throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not a level", name),
              "use debug, info, warning or error");
}

void set_log_level(const Configuration& configuration, std::string_view assignment,
                   std::map<std::string, LogLevel>& levels) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    levels[""] = log_level_of(assignment);
    return;
  }
  const std::string component(assignment.substr(0, equals));
  if (configuration.component(component) == nullptr) no_such_component(configuration, assignment, component);
  levels[component] = log_level_of(assignment.substr(equals + 1));
}

std::string assignment_of(const std::string& component, const std::string& parameter, const Value& value) {
  // A text in quotes, or it could be read as a number; the text between them is taken as it is.
  const auto* text = std::get_if<std::string>(&value);
  return fmt::format("{}/{}={}", component, parameter, text != nullptr ? '"' + *text + '"' : config::text(value));
}

}  // namespace cardan::plan
