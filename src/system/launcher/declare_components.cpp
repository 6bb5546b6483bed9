// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cardan/error.hpp"
#include "src/base/text_of_json.hpp"
#include "src/runtime/component_library.hpp"
#include "src/runtime/executor/life_step.hpp"
#include "src/runtime/runtime.hpp"
#include "src/system/host/host.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::launcher {
namespace {

using nlohmann::json;

json json_of(const TopicOptions& o) {
  return {{"max_bytes", o.max_bytes},
          {"depth", o.depth},
          {"reliable", o.reliable},
          {"deadline_ns", o.deadline.count()},
          {"lifespan_ns", o.lifespan.count()},
          {"waiting", static_cast<int>(o.waiting.kind)},
          {"waiting_limit_ns", o.waiting.limit.count()},
          {"access", static_cast<int>(o.access)},
          {"exclusive", o.exclusive},
          {"private", o.process_private},
          {"loans", o.loans},
          {"max_memory", o.max_memory}};
}

std::string name_of(const std::type_index& type) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &failed),
                                                         &std::free);
  return failed == 0 ? name.get() : type.name();
}

json json_of(const detail::ComponentCore& core) {
  json endpoints = json::array();
  std::set<std::string> topics;
  for (const auto& d : core.declared()) {
    topics.insert(d.topic_in_code);
    endpoints.push_back({{"topic", d.topic_in_code},
                         {"type", d.type.shared ? d.type.shared->name : name_of(d.type.cpp)},
                         {"hash", d.type.shared ? d.type.shared->hash : 0},
                         {"confined", !d.type.shared},
                         {"rests_on", d.port == nullptr || d.port->rests_on()},
                         {"output", d.output},
                         {"options", json_of(d.options_in_code)}});
  }
  json services = json::array();
  for (const detail::DeclaredService& s : core.services())
    services.push_back({{"name", s.name_in_code},
                        {"server", s.server != nullptr},
                        {"question", s.type.question.name},
                        {"answer", s.type.answer.name},
                        {"question_hash", s.type.question.hash},
                        {"answer_hash", s.type.answer.hash}});
  json parameters = json::array();
  for (const auto& [name, p] : core.parameters()) {
    json parameter = {
        {"name", name}, {"value", plan::json_of(p->value())}, {"description", p->description}, {"fixed", p->fixed}};
    if (p->min) parameter["min"] = plan::json_of(*p->min);
    if (p->max) parameter["max"] = plan::json_of(*p->max);
    parameters.push_back(std::move(parameter));
  }
  json callbacks = json::array();
  for (const auto& callback : core.callbacks())
    if (callback.get() != &core.errand() && !topics.contains(callback->name())) callbacks.push_back(callback->name());
  return {{"component", core.name()},
          {"endpoints", endpoints},
          {"services", services},
          {"parameters", parameters},
          {"callbacks", callbacks}};
}

/// The bytes of this process that RLIMIT_DATA counts, as `memory_mib` limits it; 0: unknown.
std::uint64_t private_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmData:")) return std::strtoull(line.c_str() + 7, nullptr, 10) * 1024;
  return 0;
}

/// A component in its own runtime, so that what one does says nothing about the others.
struct Alone {
  Alone(const config::Configuration& configuration, const config::Process& process, config::Component settings)
      : runtime({.transport = false, .threads = false, .groups = process.groups}) {
    settings.library = component_library_path(settings.library, configuration.file_of(settings));
    runtime.add(std::move(settings));
  }
  /// As a runtime would: a component that has threads of its own joins them here.
  ~Alone() {
    if (!started_) return;
    const detail::LifeStep step(core().name().c_str(), "on_stop");
    try {
      core().component->on_stop();
    } catch (...) {  // it has declared what there is
    }
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  [[nodiscard]] detail::ComponentCore& core() const { return *runtime.components().front(); }
  void start() {
    core().make_context();
    core().component->on_start(*core().context);
    started_ = true;
  }
  Runtime runtime;

 private:
  bool started_ = false;
};

json problem(const char* at, const std::string& cause, const std::string& remedy) {
  return {{"at", at}, {"cause", cause}, {"remedy", remedy}};
}

/// A component says at run time which values it accepts; those of the file are not to be others. Throws Error.
void refuse_values(const detail::ComponentCore& core) {
  for (const auto& [name, value] : core.settings().parameters) {
    const auto found = core.parameters().find(name);
    if (found == core.parameters().end() || !found->second->accept) continue;
    if (const std::string why = found->second->accept(found->second->value()); !why.empty())
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("it refuses the value {} of parameter '{}': {}", config::text(value), name, why),
                  "give another value in 'parameters' of the component");
  }
}

json ask(const config::Configuration& configuration, const config::Process& process,
         const config::Component& settings) {
  try {
    // The library and the class first: what is wrong with them is not the component's on_start.
    config::Component bare = settings;
    bare.parameters.clear();
    if (!bare.library.empty()) {
      try {
        load_library_of(configuration.file_of(bare), bare.library);
      } catch (const Error& e) {
        return {{"component", settings.name}, {"error", problem("/library", e.cause(), e.remedy())}};
      }
    }
    try {
      (void)make_component(settings.class_name);
    } catch (const Error& e) {
      return {{"component", settings.name}, {"error", problem("/class", e.cause(), e.remedy())}};
    }
    json error;
    try {
      Alone as_given(configuration, process, settings);
      as_given.start();
      refuse_values(as_given.core());
      json answer = json_of(as_given.core());
      answer["private_bytes"] = private_bytes();
      return answer;
    } catch (const Error& e) {
      error = problem("", fmt::format("component '{}' does not start: {}", settings.name, e.cause()), e.remedy());
    } catch (const std::exception& e) {
      error = problem("", fmt::format("component '{}' does not start: {}", settings.name, e.what()), "");
    }
    json answer = {{"component", settings.name}};
    try {  // perhaps a value in the file is refused: without them it can still say what there is
      Alone without(configuration, process, bare);
      without.start();
      answer = json_of(without.core());
    } catch (const std::exception&) {
      answer = {{"component", settings.name}};  // it cannot: the first error says why
    }
    answer["error"] = std::move(error);
    return answer;
  } catch (const std::exception& e) {
    return {{"component", settings.name},
            {"error", problem("", fmt::format("component '{}' cannot be created: {}", settings.name, e.what()), "")}};
  }
}

bool write_line(int fd, const json& answer) {
  const std::string line = text_of_json(answer) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(fd, line.data() + at, line.size() - at);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

int declare_components(const config::Configuration& configuration, const std::string& process_name, std::size_t first,
                       int fd) {
  const config::Process* process = configuration.process(process_name);
  if (process == nullptr) return 2;
  ::prctl(PR_SET_NAME, process_name.c_str());
  for (std::size_t i = first; i < process->components.size(); ++i)
    if (!write_line(fd, ask(configuration, *process, process->components[i]))) return 1;
  // Neither static destructors nor libraries' exit code: all that was wanted is written, and they may crash.
  ::_exit(0);
}

void decline_to_declare(const std::string& cause, const std::string& remedy, int fd) {
  (void)write_line(fd, {{"process", {{"cause", cause}, {"remedy", remedy}}}});
}

}  // namespace cardan::launcher
