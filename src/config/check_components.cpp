// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <set>

#include "src/config/check_parts.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

double number_of(const Value& value) noexcept {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return 0;
}

bool is_number(const Value& value) noexcept {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

/// Whether a is less than b; both whole, they are compared as such, because a double rounds beyond 2^53.
bool less(const Value& a, const Value& b) noexcept {
  const auto* const i = std::get_if<std::int64_t>(&a);
  const auto* const j = std::get_if<std::int64_t>(&b);
  if (i != nullptr && j != nullptr) return *i < *j;
  return number_of(a) < number_of(b);
}

/// "from 0 to 1", "of at least 0", "of at most 1", or nothing.
std::string range_text(const DeclaredParameter& p) {
  if (p.min && p.max) return fmt::format(" from {} to {}", text(*p.min), text(*p.max));
  if (p.min) return fmt::format(" of at least {}", text(*p.min));
  if (p.max) return fmt::format(" of at most {}", text(*p.max));
  return {};
}

std::string wanted(const DeclaredParameter& p) {
  const std::string_view type = type_of(p.default_value);
  const std::string_view noun = type == "bool"       ? "true or false"
                                : type == "int"      ? "a whole number"
                                : type == "double"   ? "a number"
                                : type == "string"   ? "a text in double quotes"
                                : type == "bool[]"   ? "a list of true and false"
                                : type == "int[]"    ? "a list of whole numbers"
                                : type == "double[]" ? "a list of numbers"
                                                     : "a list of texts";
  return fmt::format("write {}{}; without it, it is {}", noun, range_text(p), text(p.default_value));
}

bool out_of_range(const Value& value, const DeclaredParameter& p) {
  const std::vector<Value> all = elements_of(value);
  return std::any_of(all.begin(), all.end(), [&](const Value& v) {
    return is_number(v) && ((p.min && less(v, *p.min)) || (p.max && less(*p.max, v)));
  });
}

class ComponentCheck {
 public:
  ComponentCheck(const Declarations& declared, const Component& component, ProblemList& problems)
      : component_(component), problems_(problems) {
    for (const DeclaredEndpoint& e : declared.endpoints) {
      if (e.component != component.name) continue;
      endpoints_.insert(e.topic_in_code);
      (e.output ? outputs_ : inputs_).insert(e.topic_in_code);
    }
    for (const DeclaredEnd& end : declared.ends)
      if (end.component == component.name) endpoints_.insert(end.name_in_code);
    for (const DeclaredParameter& p : declared.parameters)
      if (p.component == component.name) parameters_.push_back(&p);
    for (const DeclaredCallback& c : declared.callbacks)
      if (c.component == component.name) others_.insert(c.name);
  }

  void check() {
    for (const auto& [name, value] : component_.parameters)
      parameter(name, value, join(component_.pointer + "/parameters", name));
    for (const auto& [code, bus] : component_.topics) rename(code, join(component_.pointer + "/topics", code));
    for (const Callback& callback : component_.callbacks) this->callback(callback.name, callback.pointer);
    if (component_.cycle && !component_.cycle->callback.empty())
      callback(component_.cycle->callback, component_.pointer + "/cycle/callback");
  }

 private:
  void parameter(const std::string& name, const Value& value, const std::string& at) {
    const auto found =
        std::find_if(parameters_.begin(), parameters_.end(), [&](const auto* p) { return p->name == name; });
    if (found == parameters_.end()) {
      std::vector<std::string> known;
      for (const DeclaredParameter* p : parameters_) known.push_back(p->name);
      problems_.error_in_key(at, fmt::format("component '{}' has no parameter '{}'", component_.name, name),
                             suggestion(name, known, "remove it: this component has no parameters"));
      return;
    }
    const DeclaredParameter& p = **found;
    const bool fits = as_type_of(p.default_value, value).index() == p.default_value.index();
    if (!fits) {
      problems_.error(at,
                      fmt::format("parameter '{}' of component '{}' is {}, but its type is {}", name, component_.name,
                                  text(value), type_of(p.default_value)),
                      wanted(p));
    } else if (out_of_range(value, p)) {
      problems_.error(
          at,
          fmt::format("parameter '{}' of component '{}' is {}, out of its range", name, component_.name, text(value)),
          wanted(p));
    }
  }

  void rename(const std::string& code, const std::string& at) {
    if (endpoints_.contains(code)) return;
    problems_.error_in_key(
        at, fmt::format("component '{}' has no input, output or service '{}' in its code", component_.name, code),
        suggestion(code, {endpoints_.begin(), endpoints_.end()}, "remove it: this component has none"));
  }

  /// `at`: where the name is, as a key of "callbacks" or as a value.
  void callback(const std::string& name, const std::string& at) {
    if (inputs_.contains(name) || others_.contains(name)) return;
    const auto tell = [&](std::string cause, std::string remedy) {
      if (at == component_.pointer + "/cycle/callback")
        problems_.error(at, std::move(cause), std::move(remedy));
      else
        problems_.error_in_key(at, std::move(cause), std::move(remedy));
    };
    std::vector<std::string> known{inputs_.begin(), inputs_.end()};
    known.insert(known.end(), others_.begin(), others_.end());
    if (outputs_.contains(name))
      return tell(fmt::format("'{}' is an output of component '{}'; outputs have no callbacks", name, component_.name),
                  suggestion("", known, "remove it: this component has no callbacks"));
    for (const auto& [code, bus] : component_.topics)
      if (bus == name && inputs_.contains(code))
        return tell(fmt::format("'{}' is the name on the bus of an input of component '{}'", name, component_.name),
                    fmt::format("write its name in the code, '{}'", code));
    tell(fmt::format("component '{}' has no callback '{}'", component_.name, name),
         suggestion(name, known, "remove it: this component has no callbacks"));
  }

  const Component& component_;
  ProblemList& problems_;
  std::set<std::string> endpoints_;
  std::set<std::string> inputs_;
  std::set<std::string> outputs_;
  std::set<std::string> others_;
  std::vector<const DeclaredParameter*> parameters_;
};

}  // namespace

namespace {

/// RLIMIT_DATA counts the stacks of threads at their whole size, as pthread_create(3) makes them.
std::uint64_t stack_bytes() {
  rlimit limit{};
  constexpr std::uint64_t kUsual = std::uint64_t{8} << 20U;
  return ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? kUsual : limit.rlim_cur;
}

void check_memory(const Process& process, std::uint64_t used, ProblemList& problems) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
  std::uint64_t threads = 3;  // Cardan's: discovery, orders, watchdog
  for (const Group& group : process.groups) threads += static_cast<std::uint64_t>(group.worker_count());
  if (process.group(kDefaultGroup) == nullptr) ++threads;
  for (const Component& component : process.components) threads += component.thread ? 1U : 0U;
  const std::uint64_t needed = used + threads * stack_bytes();
  if (process.memory_bytes == 0 || process.memory_bytes >= needed) return;
  problems.warning(
      process.pointer + "/memory_mib",
      fmt::format("process '{}' may use {} MiB of memory, but needs about {} to start: {} of its components, "
                  "and {} threads with {} of stack each",
                  process.name, process.memory_bytes / kMebibyte, needed / kMebibyte + 1, used / kMebibyte + 1, threads,
                  stack_bytes() / kMebibyte),
      "raise 'memory_mib', or lower the stacks (ulimit -s)");
}

}  // namespace

void check_components(const Configuration& configuration, const Declarations& declared, ProblemList& problems) {
  for (const Process& process : configuration.processes)
    if (const auto used = declared.private_bytes.find(process.name); used != declared.private_bytes.end())
      check_memory(process, used->second, problems);
  const std::set<std::string> unknown(declared.unknown.begin(), declared.unknown.end());
  for (const Process& process : configuration.processes)
    for (const Component& component : process.components)
      if (!unknown.contains(component.name)) ComponentCheck(declared, component, problems).check();
}

}  // namespace cardan::config
