// SPDX-License-Identifier: Apache-2.0
#include "cardan/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cardan/messages/transforms.hpp"
#include "src/config/json_text.hpp"
#include "src/config/problem_list.hpp"
#include "src/config/shape.hpp"

namespace cardan::config {
namespace {

template <class Things>
auto find(const Things& things, std::string_view name) noexcept -> decltype(things.data()) {
  const auto found = std::find_if(things.begin(), things.end(), [&](const auto& t) { return t.name == name; });
  return found != things.end() ? &*found : nullptr;
}

template <std::size_t N, class Enumeration>
std::string_view nth(const std::array<std::string_view, N>& names, Enumeration value) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? names[i] : "unknown";
}

/// Topics that the whole system shares: no namespace comes before them.
bool is_of_all(std::string_view topic) noexcept {
  return topic.starts_with("/cardan/") || topic == kTransforms.name || topic == kStaticTransforms.name;
}

}  // namespace

std::string Naming::name(const std::string& inside) const {
  if (const auto link = links.find(inside); link != links.end()) return link->second;
  // A text that is not a topic name is kept, so that it is reported.
  return is_of_all(inside) || !inside.starts_with('/') ? inside : prefix + inside;
}

std::string Component::bus_name(const std::string& code) const {
  if (const auto found = topics.find(code); found != topics.end()) return found->second;
  std::string bus = code;
  for (const Naming& naming : namings) bus = naming.name(bus);
  return bus;
}

const Callback* Component::callback(std::string_view callback_name) const noexcept {
  return find(callbacks, callback_name);
}

int Group::worker_count() const noexcept {
  if (workers) return *workers;
  return affinity == Affinity::OneToOne && !cpus.empty() ? static_cast<int>(cpus.size()) : 1;
}

const Component* Process::component(std::string_view component_name) const noexcept {
  return find(components, component_name);
}

const Group* Process::group(std::string_view group_name) const noexcept { return find(groups, group_name); }

const Process* Configuration::process(std::string_view process_name) const noexcept {
  return find(processes, process_name);
}

const Component* Configuration::component(std::string_view component_name) const noexcept {
  for (const Process& process : processes)
    if (const Component* found = process.component(component_name)) return found;
  return nullptr;
}

const Process* Configuration::process_of(std::string_view component_name) const noexcept {
  for (const Process& process : processes)
    if (process.component(component_name) != nullptr) return &process;
  return nullptr;
}

const std::string& Configuration::file_of(const Component& component) const noexcept {
  return source.file(source.key(component.pointer));
}

TopicOptions Configuration::options_of(const std::string& bus_name, const TopicOptions& code) const {
  const auto found = topics.find(bus_name);
  return found != topics.end() ? apply(found->second, code) : code;
}

TopicOptions apply(const TopicSettings& settings, TopicOptions options) noexcept {
  if (settings.depth) options.depth = *settings.depth;
  if (settings.reliable) options.reliable = *settings.reliable;
  if (settings.deadline) options.deadline = *settings.deadline;
  if (settings.process_private) options.process_private = *settings.process_private;
  if (settings.writers) options.exclusive = *settings.writers == 1;
  if (settings.max_bytes) options.max_bytes = *settings.max_bytes;
  if (settings.waiting) {
    switch (*settings.waiting) {
      case Waiting::Kind::Block:
        options.waiting = block();
        break;
      case Waiting::Kind::Spin:
        options.waiting = spin_then_block(options.waiting.limit);
        break;
      case Waiting::Kind::Prewake:
        options.waiting = prewake();
        break;
      case Waiting::Kind::Anticipate:
        options.waiting = anticipate();
        break;
      case Waiting::Kind::Follow:
        options.waiting = follow();
        break;
    }
  }
  if (settings.spin) options.waiting.limit = *settings.spin;
  return options;
}

Problem problem_at(const Configuration& configuration, std::string pointer, Severity severity, std::string cause,
                   std::string remedy) {
  const Place place = configuration.source.value(pointer);
  return configuration.source.problem(std::move(pointer), place, severity, std::move(cause), std::move(remedy));
}

std::string_view name_of(State state) noexcept { return nth(kStates, state); }
std::string_view name_of(Policy policy) noexcept { return nth(kPolicies, policy); }
std::string_view name_of(Affinity affinity) noexcept { return nth(kAffinities, affinity); }
std::string_view name_of(OnException rule) noexcept { return nth(kOnException, rule); }
std::string_view name_of(Introspection introspection) noexcept { return nth(kIntrospection, introspection); }
std::string_view name_of(RestartWhen when) noexcept { return nth(kRestartWhen, when); }
std::string_view name_of(Condition::Kind kind) noexcept { return nth(kConditions, kind); }
std::string_view type_of(const Value& value) noexcept {
  constexpr std::array<std::string_view, 8> kTypes{"bool",   "int",   "double",   "string",
                                                   "bool[]", "int[]", "double[]", "string[]"};
  return nth(kTypes, value.index());
}

namespace {

struct Text {
  std::string operator()(bool b) const { return b ? "true" : "false"; }
  std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
  std::string operator()(double d) const {
    std::string digits = fmt::format("{}", d);  // the shortest that reads back the same
    return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
  }
  std::string operator()(const std::string& s) const { return json_quoted(s); }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    std::string all = "[";
    for (const auto& element : list) all += (all.size() > 1 ? ", " : "") + (*this)(element);
    return all + "]";
  }
};

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

}  // namespace

std::string text(const Value& value) { return std::visit(Text{}, value); }

bool is_empty_list(const Value& value) noexcept {
  return std::visit(
      []<class T>(const T& v) {
        if constexpr (kIsList<T>)
          return v.empty();
        else
          return false;
      },
      value);
}

std::vector<Value> elements_of(const Value& value) {
  return std::visit(
      []<class T>(const T& v) {
        std::vector<Value> all;
        if constexpr (kIsList<T>)
          for (const auto& element : v) all.emplace_back(element);
        else
          all.emplace_back(v);
        return all;
      },
      value);
}

Value as_type_of(const Value& like, Value value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && std::holds_alternative<double>(like))
    return static_cast<double>(*whole);
  if (const auto* all = std::get_if<std::vector<std::int64_t>>(&value);
      all != nullptr && std::holds_alternative<std::vector<double>>(like))
    return std::vector<double>(all->begin(), all->end());
  if (!is_list(like) || !is_empty_list(value)) return value;
  return std::visit([]<class T>(const T&) { return Value(T{}); }, like);
}

bool has_errors(const std::vector<Problem>& problems) noexcept {
  return std::any_of(problems.begin(), problems.end(), [](const Problem& p) { return p.severity == Severity::Error; });
}

std::string text(const Problem& problem, const std::string& file_name) {
  const std::string& file = problem.file.empty() ? file_name : problem.file;
  const std::string place = problem.line == 0 ? file : fmt::format("{}:{}:{}", file, problem.line, problem.column);
  return fmt::format("{}: {}: {}{}{}", place, problem.severity == Severity::Error ? "error" : "warning", problem.cause,
                     problem.remedy.empty() ? "" : " — ", problem.remedy);
}

void sort(std::vector<Problem>& problems) {
  std::sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.file, a.line, a.column, a.pointer, a.cause) <
           std::tie(b.file, b.line, b.column, b.pointer, b.cause);
  });
}

}  // namespace cardan::config
