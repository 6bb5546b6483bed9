// SPDX-License-Identifier: Apache-2.0
// From the checked tree to the aggregates.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cardan/transform_math.hpp"
#include "src/config/check_parts.hpp"
#include "src/config/check_shape.hpp"
#include "src/config/compose.hpp"
#include "src/config/document.hpp"
#include "src/config/problem_list.hpp"
#include "src/config/python_component.hpp"
#include "src/config/shape.hpp"

namespace cardan::config {
namespace {

using std::chrono::nanoseconds;

constexpr double kSecond = 1e9;
constexpr double kMillisecond = 1e6;
constexpr double kMicrosecond = 1e3;
constexpr std::uint64_t kBytesPerMebibyte = 1024 * 1024;

void read(const Node& node, const char* name, std::string& out) {
  if (const Node* n = node.find(name)) out = n->text;
}
void read(const Node& node, const char* name, bool& out) {
  if (const Node* n = node.find(name)) out = n->boolean;
}
void read(const Node& node, const char* name, int& out) {
  if (const Node* n = node.find(name)) out = static_cast<int>(n->integer);
}
void read(const Node& node, const char* name, double& out) {
  if (const Node* n = node.find(name)) out = n->number;
}
template <class T>
void read(const Node& node, const char* name, std::optional<T>& out) {
  const Node* n = node.find(name);
  if (n == nullptr) return;
  if constexpr (std::is_same_v<T, bool>)
    out = n->boolean;
  else
    out = static_cast<T>(n->integer);
}
void read_mebibytes(const Node& node, const char* name, std::uint64_t& bytes) {
  if (const Node* n = node.find(name)) bytes = static_cast<std::uint64_t>(n->integer) * kBytesPerMebibyte;
}

template <class Time>
void read_time(const Node& node, const char* name, double unit, Time& out) {
  if (const Node* n = node.find(name)) out = nanoseconds{std::llround(n->number * unit)};
}

template <class Enumeration, std::size_t N>
Enumeration nth(const std::array<std::string_view, N>& names, const std::string& text) {
  return static_cast<Enumeration>(std::find(names.begin(), names.end(), text) - names.begin());
}
template <class Enumeration, std::size_t N>
void read_choice(const Node& node, const char* name, const std::array<std::string_view, N>& names, Enumeration& out) {
  if (const Node* n = node.find(name)) out = nth<Enumeration>(names, n->text);
}
template <class Enumeration, std::size_t N>
void read_choice(const Node& node, const char* name, const std::array<std::string_view, N>& names,
                 std::optional<Enumeration>& out) {
  if (const Node* n = node.find(name)) out = nth<Enumeration>(names, n->text);
}

/// Calls `f(name, value, pointer)` for each member of the map of `name` that is as it should be.
template <class F>
void each(const Node& node, const char* name, const std::string& pointer, F f) {
  const Node* n = node.find(name);
  if (n == nullptr) return;
  const std::string inside = join(pointer, name);
  for (const Member& m : n->members)
    if (!m.duplicate && m.value.kind != Node::Kind::Bad) f(m.name, m.value, join(inside, m.name));
}

/// The texts of a list, or the one text in its place.
std::vector<std::string> texts(const Node& node) {
  if (node.kind == Node::Kind::Text) return {node.text};
  std::vector<std::string> all;
  for (const Node& element : node.elements)
    if (element.kind == Node::Kind::Text) all.push_back(element.text);
  return all;
}

void read_cpus(const Node& node, std::vector<int>& cpus) {
  const Node* n = node.find("cpus");
  if (n == nullptr) return;
  for (const Node& cpu : n->elements)
    if (cpu.kind == Node::Kind::Integer) cpus.push_back(static_cast<int>(cpu.integer));
}

void read_thread(const Node& node, std::optional<Thread>& out) {
  const Node* n = node.find("thread");
  if (n == nullptr) return;
  Thread& thread = out.emplace();
  read_cpus(*n, thread.cpus);
  read_choice(*n, "policy", kPolicies, thread.policy);
  read(*n, "priority", thread.priority);
  read(*n, "nice", thread.nice);
  read_time(*n, "runtime_us", kMicrosecond, thread.runtime);
  read_time(*n, "period_us", kMicrosecond, thread.period);
}

Callback read_callback(const std::string& name, const Node& node, const std::string& pointer) {
  Callback callback{.name = name, .pointer = pointer};
  read(node, "priority", callback.priority);
  read_thread(node, callback.thread);
  read_time(node, "watchdog_ms", kMillisecond, callback.watchdog);
  return callback;
}

Value read_list(const Node& node) {
  const auto all = [&](Node::Kind kind) {
    return std::all_of(node.elements.begin(), node.elements.end(), [&](const Node& e) { return e.kind == kind; });
  };
  const auto list = [&](auto of) {
    std::vector<decltype(of(node))> values;
    for (const Node& element : node.elements) values.push_back(of(element));
    return values;
  };
  if (node.elements.empty()) return std::vector<double>{};
  if (all(Node::Kind::Boolean)) return list([](const Node& e) { return e.boolean; });
  if (all(Node::Kind::Integer)) return list([](const Node& e) { return e.integer; });
  if (all(Node::Kind::Text)) return list([](const Node& e) { return e.text; });
  return list([](const Node& e) { return e.number; });
}

Value read_value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Array:
      return read_list(node);
    case Node::Kind::Boolean:
      return node.boolean;
    case Node::Kind::Integer:
      return node.integer;
    case Node::Kind::Number:
      return node.number;
    default:
      return node.text;
  }
}

Component read_component(const std::string& name, const Node& node, const std::string& pointer) {
  Component component{.name = name, .pointer = pointer};
  read(node, "library", component.library);
  read(node, "class", component.class_name);
  if (std::string python; read(node, "python", python), !python.empty()) {
    component.library = std::string(kPythonLibrary) + python.substr(0, python.find(':'));
    component.class_name = std::move(python);
  }
  each(node, "parameters", pointer, [&](const std::string& parameter, const Node& value, const std::string&) {
    component.parameters.emplace(parameter, read_value(value));
  });
  read(node, "keep", component.keep);
  each(node, "topics", pointer,
       [&](const std::string& code, const Node& bus, const std::string&) { component.topics.emplace(code, bus.text); });
  read(node, "group", component.group);
  read(node, "priority", component.priority);
  read_thread(node, component.thread);
  read_time(node, "watchdog_ms", kMillisecond, component.watchdog);
  read_choice(node, "on_exception", kOnException, component.on_exception);
  read_choice(node, "introspection", kIntrospection, component.introspection);
  if (const Node* cycle = node.find("cycle")) {
    component.cycle.emplace();
    read(*cycle, "callback", component.cycle->callback);
    read(*cycle, "weight", component.cycle->weight);
  }
  each(node, "callbacks", pointer, [&](const std::string& callback, const Node& value, const std::string& at) {
    component.callbacks.push_back(read_callback(callback, value, at));
  });
  return component;
}

Group read_group(const std::string& name, const Node& node, const std::string& pointer) {
  Group group{.name = name, .pointer = pointer};
  read(node, "workers", group.workers);
  read_cpus(node, group.cpus);
  read_choice(node, "affinity", kAffinities, group.affinity);
  read_choice(node, "policy", kPolicies, group.policy);
  read(node, "priority", group.priority);
  read(node, "nice", group.nice);
  read_time(node, "spin_us", kMicrosecond, group.spin);
  return group;
}

void read_restart(const Node& node, Restart& restart) {
  const Node* n = node.find("restart");
  if (n == nullptr) return;
  read_choice(*n, "when", kRestartWhen, restart.when);
  read(*n, "limit", restart.limit);
  read_time(*n, "window_s", kSecond, restart.window);
  read_time(*n, "backoff_ms", kMillisecond, restart.backoff);
  read_time(*n, "backoff_max_ms", kMillisecond, restart.backoff_max);
}

Record read_record(const Node& node, const std::string& pointer) {
  Record record{.pointer = pointer};
  if (const Node* topics = node.find("topics")) record.topics = texts(*topics);
  if (const Node* exclude = node.find("exclude")) record.exclude = texts(*exclude);
  read(node, "output", record.output);
  read(node, "compression", record.compression);
  read(node, "causes", record.causes);
  read_time(node, "last_s", kSecond, record.last);
  read_time(node, "after_s", kSecond, record.after);
  const Node* on = node.find("on");
  if (on == nullptr) return record;
  RecordTrigger& trigger = record.on.emplace();
  if (const Node* states = on->find("state"))
    for (const std::string& state : texts(*states)) trigger.states.push_back(nth<State>(kStates, state));
  if (const Node* silent = on->find("silent")) trigger.silent = texts(*silent);
  read_time(*on, "for_ms", kMillisecond, trigger.lasting);
  if (const Node* messages = on->find("message")) trigger.messages = texts(*messages);
  return record;
}

Process read_process(const std::string& name, const Node& node, const std::string& pointer) {
  Process process{.name = name, .pointer = pointer};
  each(node, "components", pointer, [&](const std::string& component, const Node& value, const std::string& at) {
    process.components.push_back(read_component(component, value, at));
  });
  if (const Node* bridge = node.find("bridge")) {
    process.bridge.emplace(Bridge{.pointer = join(pointer, "bridge")});
    read(*bridge, "kind", process.bridge->kind);
    read(*bridge, "file", process.bridge->file);
  }
  if (const Node* record = node.find("record")) process.record = read_record(*record, join(pointer, "record"));
  if (const Node* command = node.find("command")) process.command = texts(*command);
  each(node, "groups", pointer, [&](const std::string& group, const Node& value, const std::string& at) {
    process.groups.push_back(read_group(group, value, at));
  });
  each(node, "environment", pointer, [&](const std::string& variable, const Node& value, const std::string&) {
    process.environment.emplace(variable, value.text);
  });
  read_mebibytes(node, "memory_mib", process.memory_bytes);
  read_restart(node, process.restart);
  return process;
}

TopicSettings read_topic(const Node& node, const std::string& pointer) {
  TopicSettings topic{.pointer = pointer};
  read(node, "depth", topic.depth);
  read(node, "reliable", topic.reliable);
  read_time(node, "deadline_ms", kMillisecond, topic.deadline);
  read(node, "private", topic.process_private);
  read(node, "writers", topic.writers);
  read(node, "max_bytes", topic.max_bytes);
  read_choice(node, "waiting", kWaitings, topic.waiting);
  read_time(node, "spin_us", kMicrosecond, topic.spin);
  return topic;
}

Chain read_chain(const std::string& name, const Node& node, const std::string& pointer) {
  Chain chain{.name = name, .pointer = pointer};
  read(node, "from", chain.from);
  read(node, "to", chain.to);
  read_time(node, "budget_ms", kMillisecond, chain.budget);
  return chain;
}

/// The numbers of a list; false: it is not of this length, or has others in it.
template <std::size_t N>
bool read_numbers(const Node& node, const char* name, std::array<double, N>& out) {
  const Node* n = node.find(name);
  if (n == nullptr || n->elements.size() != N) return false;
  for (std::size_t i = 0; i < N; ++i) {
    const Node& element = n->elements[i];
    if (element.kind != Node::Kind::Integer && element.kind != Node::Kind::Number) return false;
    out[i] = element.number;
  }
  return true;
}

/// A quaternion that is not of length 1 stays as it is: check_transforms() reports it.
FrameTransform read_transform(const Node& node, const std::string& pointer) {
  FrameTransform transform{.pointer = pointer};
  read(node, "parent", transform.parent);
  read(node, "child", transform.child);
  std::array<double, 3> xyz{}, rpy{};
  if (read_numbers(node, "xyz", xyz)) transform.place.translation = {xyz[0], xyz[1], xyz[2]};
  if (read_numbers(node, "rpy", rpy)) transform.place.rotation = from_rpy(rpy[0], rpy[1], rpy[2]);
  if (std::array<double, 4> q{}; read_numbers(node, "quaternion", q)) {
    const double length = std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3]));
    const double by = is_length_1(length) ? length : 1;
    transform.place.rotation = {.x = q[0] / by, .y = q[1] / by, .z = q[2] / by, .w = q[3] / by};
  }
  return transform;
}

Transition read_transition(const Node& node, const std::string& pointer) {
  Transition transition{.pointer = pointer};
  read_choice(node, "to", kStates, transition.to);
  if (const Node* from = node.find("from"))
    for (const std::string& state : texts(*from)) transition.from.push_back(nth<State>(kStates, state));
  else
    for (const State state : {State::Starting, State::Running, State::Degraded})
      if (state != transition.to) transition.from.push_back(state);
  const Node* when = node.find("when");
  if (when == nullptr) return transition;
  for (const std::string_view kind : kConditions)
    if (const Node* names = when->find(kind)) {
      transition.when.kind = nth<Condition::Kind>(kConditions, std::string(kind));
      transition.when.names = texts(*names);
    }
  const bool late = transition.when.kind == Condition::Kind::Late;
  read(*when, "times", transition.when.times);
  read_time(*when, late ? "within_ms" : "for_ms", kMillisecond, transition.when.lasting);
  return transition;
}

void read_file(const Node& root, Configuration& configuration) {
  read(root, "name", configuration.name);
  read(root, "domain", configuration.domain);
  read(root, "realtime", configuration.realtime);
  each(root, "processes", "", [&](const std::string& name, const Node& value, const std::string& at) {
    configuration.processes.push_back(read_process(name, value, at));
  });
  each(root, "topics", "", [&](const std::string& name, const Node& value, const std::string& at) {
    configuration.topics.emplace(name, read_topic(value, at));
  });
  each(root, "chains", "", [&](const std::string& name, const Node& value, const std::string& at) {
    configuration.chains.push_back(read_chain(name, value, at));
  });
  if (const Node* transforms = root.find("transforms"))
    for (std::size_t i = 0; i < transforms->elements.size(); ++i)
      if (transforms->elements[i].kind == Node::Kind::Object)
        configuration.transforms.push_back(read_transform(transforms->elements[i], "/transforms/" + std::to_string(i)));
  if (const Node* needs = root.find("needs")) {
    read(*needs, "cpus", configuration.needs.cpus);
    read_mebibytes(*needs, "memory_mib", configuration.needs.memory_bytes);
    read(*needs, "realtime", configuration.needs.realtime);
  }
  const Node* states = root.find("states");
  const Node* transitions = states != nullptr ? states->find("transitions") : nullptr;
  if (transitions == nullptr) return;
  for (std::size_t i = 0; i < transitions->elements.size(); ++i)
    if (transitions->elements[i].kind == Node::Kind::Object)
      configuration.transitions.push_back(
          read_transition(transitions->elements[i], "/states/transitions/" + std::to_string(i)));
}

void name_topics(const std::map<std::string, std::vector<Naming>>& namings, Configuration& configuration) {
  for (Process& process : configuration.processes)
    for (Component& component : process.components)
      if (const auto found = namings.find(component.name); found != namings.end()) component.namings = found->second;
}

/// Files of rules, folders of recordings and programs are named as libraries are: from the folder of the file that
/// names them.
void find_files(Configuration& configuration) {
  const Source& source = configuration.source;
  for (Process& process : configuration.processes) {
    const auto find = [&](std::string& name) {
      const std::filesystem::path here(source.file(source.key(process.pointer)));
      const std::filesystem::path path(name);
      if (!name.empty() && path.is_relative()) name = (here.parent_path() / path).string();
    };
    if (process.bridge) find(process.bridge->file);
    if (process.record) find(process.record->output);
    if (process.command.empty() || process.command.front().find('/') == std::string::npos) continue;
    find(process.command.front());
    // Without a folder it would be a name, which is searched in PATH.
    if (process.command.front().find('/') == std::string::npos) process.command.front().insert(0, "./");
  }
}

/// Of a file that is included twice.
bool same_problem(const Problem& a, const Problem& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column && a.cause == b.cause;
}

/// "street" of "config/street.json"; what a name cannot have is replaced.
std::string name_from(const std::string& file_name) {
  std::string name = std::filesystem::path(file_name).stem().string().substr(0, 64);
  for (char& c : name)
    if (!fits(Format::Name, std::string("a") + c)) c = '_';
  return fits(Format::Name, name) ? name : "system";
}

}  // namespace

Configuration parse_configuration(std::string_view text, std::string file_name, std::vector<Problem>& problems,
                                  const ReadOptions& options) {
  Configuration configuration;
  configuration.name = name_from(file_name);
  configuration.source.file_name = std::move(file_name);

  std::vector<Problem> found;
  Document document = read_document(text, found);
  if (document.complete && document.root.kind == Node::Kind::Object) {
    Composed composed = compose(std::move(document.root), text.size(), options, configuration.source, found);
    locate(composed.root, configuration.source);
    check_shape(composed.root, configuration.source, found);
    read_file(composed.root, configuration);
    name_topics(composed.namings, configuration);
    find_files(configuration);
    if (composed.whole) {  // else what the checks miss may be in the part that could not be included
      ProblemList list(configuration, found);
      check_text(configuration, list);
      check_chains(configuration, list);
      check_transforms(configuration, list);
      check_transitions(configuration, list);
    }
  } else if (document.complete) {
    check_shape(document.root, configuration.source, found);
  }
  sort(found);
  found.erase(std::unique(found.begin(), found.end(), same_problem), found.end());
  problems.insert(problems.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  return configuration;
}

}  // namespace cardan::config
