// SPDX-License-Identifier: Apache-2.0
// The side that asks. declare_components.cpp has the one that answers.
#include "src/system/launcher/declare.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cardan/clock.hpp"
#include "src/config/problem_list.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/plan/plan.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::launcher {
namespace {

using config::Component;
using config::Configuration;
using config::Process;
using nlohmann::json;

TopicOptions options_of(const json& j) {
  TopicOptions o;
  o.max_bytes = j.at("max_bytes");
  o.depth = j.at("depth");
  o.reliable = j.at("reliable");
  o.deadline = std::chrono::nanoseconds(j.at("deadline_ns").get<std::int64_t>());
  o.lifespan = std::chrono::nanoseconds(j.at("lifespan_ns").get<std::int64_t>());
  o.waiting.kind = static_cast<Waiting::Kind>(j.at("waiting").get<int>());
  o.waiting.limit = std::chrono::nanoseconds(j.at("waiting_limit_ns").get<std::int64_t>());
  o.access = static_cast<Access>(j.at("access").get<int>());
  o.exclusive = j.at("exclusive");
  o.process_private = j.at("private");
  o.loans = j.at("loans");
  o.max_memory = j.at("max_memory");
  return o;
}

void read(const json& answer, config::Declarations& into) {
  const std::string component = answer.at("component");
  for (const json& e : answer.at("endpoints"))
    into.endpoints.push_back({.component = component,
                              .topic_in_code = e.at("topic"),
                              .type_name = e.at("type"),
                              .type_hash = e.at("hash"),
                              .output = e.at("output"),
                              .options = options_of(e.at("options")),
                              .confined = e.at("confined"),
                              .rests_on = e.at("rests_on")});
  for (const json& e : answer.at("services"))
    into.ends.push_back({.component = component,
                         .name_in_code = e.at("name"),
                         .server = e.at("server"),
                         .question = e.at("question"),
                         .answer = e.at("answer"),
                         .question_hash = e.at("question_hash"),
                         .answer_hash = e.at("answer_hash")});
  for (const json& p : answer.at("parameters")) {
    config::DeclaredParameter parameter{.component = component,
                                        .name = p.at("name"),
                                        .default_value = plan::needed_value_of(p.at("value")),
                                        .description = p.at("description"),
                                        .fixed = p.at("fixed")};
    if (p.contains("min")) parameter.min = plan::needed_value_of(p.at("min"));
    if (p.contains("max")) parameter.max = plan::needed_value_of(p.at("max"));
    into.parameters.push_back(std::move(parameter));
  }
  for (const json& name : answer.at("callbacks")) into.callbacks.push_back({component, name});
}

/// A process of the file that is being asked, from some component on.
class Question {
 public:
  Question(const Configuration& configuration, int plan, const Process& process, std::size_t first,
           const DeclareOptions& options)
      : configuration_(configuration),
        process_(process),
        first_(first),
        options_(options),
        limit_ns_(options.time_limit.count()) {
    ChildOptions child{.program = options.command.front(),
                       .arguments = options.command,
                       .environment = process.environment,
                       .plan_fd = plan};
    child.arguments.front() = "cardan-check:" + process.name;  // what ps shows
    child.arguments.insert(child.arguments.end(), {"--plan-fd", std::to_string(ChildProcess::kPlanFd), "--declare",
                                                   process.name, std::to_string(first)});
    child_ = std::make_unique<ChildProcess>(child);
    begun_ns_ = steady_now();
  }

  [[nodiscard]] const Process& process() const noexcept { return process_; }
  void add_to(std::vector<pollfd>& fds) const {
    for (const int fd : {child_->end_fd(), child_->output_fd(), child_->error_fd()})
      if (fd >= 0) fds.push_back({fd, POLLIN, 0});
  }
  /// Whether it is over.
  bool look() {
    const auto ending = child_->ended();
    drain(child_->output_fd(), false);
    drain(child_->error_fd(), true);
    if (ending) {
      ending_ = *ending;
      return true;
    }
    // For each component: the time starts again with every one that has answered.
    const std::string words = child_->report();
    if (words.size() != heard_) {
      heard_ = words.size();
      begun_ns_ = steady_now();
      slow_told_ = false;
    }
    if (!slow_told_ && options_.on_slow && steady_now() - begun_ns_ > options_.slow.count()) {
      slow_told_ = true;
      const auto done = first_ + static_cast<std::size_t>(std::count(words.begin(), words.end(), '\n'));
      if (done < process_.components.size()) options_.on_slow(process_.name, process_.components[done].name);
    }
    if (!late_ && steady_now() - begun_ns_ > limit_ns_) {
      late_ = true;
      child_->signal(SIGKILL);
    }
    return false;
  }
  /// Its answer. Returns the component to continue with; that many are in the process: all have been asked.
  std::size_t answer(Asked& into) const {
    std::size_t done = first_;
    std::istringstream lines(child_->report());
    for (std::string line; std::getline(lines, line);) {
      const json answer = json::parse(line, nullptr, false);
      // A component can write into its process's descriptors what it likes.
      if (!answer.is_object() || done == process_.components.size()) break;
      if (answer.contains("process")) return decline(answer, done, into);
      const Component& component = process_.components[done++];
      try {
        if (answer.contains("error")) {
          const json& error = answer.at("error");
          complain(component, error.at("at"), error.at("cause"), error.at("remedy"), into);
        }
        if (answer.contains("private_bytes"))
          into.declarations.private_bytes[process_.name] = answer.at("private_bytes").get<std::uint64_t>();
        if (answer.contains("endpoints"))
          read(answer, into.declarations);
        else
          into.declarations.unknown.push_back(component.name);
      } catch (const json::exception& e) {
        into.declarations.unknown.push_back(component.name);
        complain(component, "",
                 fmt::format("the answer of component '{}' cannot be read: {}", component.name, e.what()),
                 "build it with this version of Cardan; let it write to standard output only", into);
      }
    }
    if (done >= process_.components.size()) return process_.components.size();
    const Component& component = process_.components[done];
    into.declarations.unknown.push_back(component.name);
    if (late_)
      complain(
          component, "",
          fmt::format("component '{}' does not come back from on_start within {:g} s: what it declares is not known",
                      component.name, static_cast<double>(limit_ns_) / 1e9),
          last_.empty() ? "do long work in a callback; otherwise `cardan run` starts it without checking it"
                        : fmt::format("its last output: {}", last_),
          into, options_.late);
    else
      complain(component, "",
               fmt::format("component '{}' crashes in its constructor, on_start or on_stop: its process {}",
                           component.name, text(ending_)),
               last_.empty() ? "look at its on_start: it is called here without transport and other threads"
                             : fmt::format("its last output: {}", last_),
               into);
    return done + 1;
  }

 private:
  /// No component of the process can be asked: one cause for all, and they are not asked again.
  std::size_t decline(const json& answer, std::size_t done, Asked& into) const {
    const auto text_of = [&](const char* name) {
      const json& of = answer.at("process");
      return of.is_object() && of.contains(name) && of.at(name).is_string() ? of.at(name).get<std::string>() : "";
    };
    into.problems.push_back(config::problem_at(
        configuration_, process_.pointer, config::Severity::Error,
        fmt::format("process '{}' cannot start: {}", process_.name, text_of("cause")), text_of("remedy")));
    for (; done < process_.components.size(); ++done)
      into.declarations.unknown.push_back(process_.components[done].name);
    return done;
  }
  void complain(const Component& component, const std::string& at, const std::string& cause, const std::string& remedy,
                Asked& into, config::Severity severity = config::Severity::Error) const {
    into.problems.push_back(config::problem_at(configuration_, component.pointer + at, severity, cause, remedy));
  }
  void drain(int fd, bool error) {
    std::array<char, 4096> buffer;
    // A bound, so that one that writes without end meets its time limit, and keeps no other waiting.
    for (int rounds = 0; fd >= 0 && rounds < 64; ++rounds) {
      const ssize_t got = ::read(fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return;
      if (got == 0) {
        error ? child_->close_error() : child_->close_output();
        return;
      }
      if (!error) continue;
      std::string_view words(buffer.data(), static_cast<std::size_t>(got));
      while (words.ends_with('\n')) words.remove_suffix(1);
      last_ = words.substr(words.rfind('\n') + 1);
    }
  }

  const Configuration& configuration_;
  const Process& process_;
  std::size_t first_;
  const DeclareOptions& options_;
  bool slow_told_ = false;
  std::int64_t limit_ns_, begun_ns_ = 0;
  std::size_t heard_ = 0;
  std::unique_ptr<ChildProcess> child_;
  bool late_ = false;
  Ending ending_;
  std::string last_;  ///< line that it wrote to standard error
};

}  // namespace

Asked ask_components(const Configuration& configuration, const DeclareOptions& options) {
  Asked asked;
  const Fd plan = plan::seal({.configuration = configuration});
  std::deque<std::pair<const Process*, std::size_t>> waiting;
  for (const Process& process : configuration.processes)
    if (!process.components.empty()) waiting.emplace_back(&process, 0);
  std::vector<std::unique_ptr<Question>> questions;
  while (!waiting.empty() || !questions.empty()) {
    while (!waiting.empty() && questions.size() < std::max<std::size_t>(options.at_once, 1)) {
      const auto [process, first] = waiting.front();
      waiting.pop_front();
      questions.push_back(std::make_unique<Question>(configuration, plan.get(), *process, first, options));
    }
    std::vector<pollfd> fds;
    for (const auto& question : questions) question->add_to(fds);
    ::poll(fds.data(), fds.size(), 100);
    std::erase_if(questions, [&](const auto& question) {
      if (!question->look()) return false;
      const std::size_t next = question->answer(asked);
      if (next < question->process().components.size()) waiting.emplace_front(&question->process(), next);
      return true;
    });
  }
  config::sort(asked.problems);
  return asked;
}

namespace {

bool has_error_at(const std::string& pointer, const std::vector<config::Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [&](const config::Problem& p) {
    return p.severity == config::Severity::Error && p.pointer == pointer;
  });
}

bool has_error_within(const std::string& pointer, const std::vector<config::Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [&](const config::Problem& p) {
    return p.severity == config::Severity::Error && (p.pointer == pointer || p.pointer.starts_with(pointer + "/"));
  });
}

}  // namespace

Configuration askable(Configuration configuration, const std::vector<config::Problem>& in_text) {
  for (Process& process : configuration.processes) {
    std::erase_if(process.components, [&](const Component& component) {
      if (has_error_at(component.pointer, in_text)) return true;
      for (const char* const needed :
           {"/library", "/class", "/python", "/topics"})  // renamed wrongly, they would be others
        if (has_error_within(component.pointer + needed, in_text)) return true;
      return false;
    });
    for (Component& component : process.components)
      if (has_error_within(component.pointer, in_text))
        component = {.name = component.name,
                     .library = component.library,
                     .class_name = component.class_name,
                     .topics = component.topics,
                     .namings = component.namings,
                     .pointer = component.pointer};
  }
  return configuration;
}

std::vector<config::Problem> check_with_components(const Configuration& configuration,
                                                   const std::vector<config::Problem>& in_text,
                                                   const config::Machine& machine, const DeclareOptions& options,
                                                   config::Declarations* declared) {
  const Configuration rest = askable(configuration, in_text);
  Asked asked = ask_components(rest, options);
  for (const Process& process : configuration.processes)
    for (const Component& component : process.components)
      if (rest.component(component.name) == nullptr) asked.declarations.unknown.push_back(component.name);
  // The content of an include that could not be read is not known either, nor that of a process whose components cannot
  // be read.
  const bool lacks = std::any_of(in_text.begin(), in_text.end(), [&](const config::Problem& p) {
    return p.severity == config::Severity::Error && p.pointer.starts_with("/processes") &&
           p.pointer.find("/components/") == std::string::npos;
  });
  if (lacks || has_error_within("/include", in_text)) asked.declarations.unknown.emplace_back();
  // Without the values that are wrong in the text it may not start; that it does not is then no news.
  std::erase_if(asked.problems, [&](const config::Problem& p) {
    const auto is_its = [&](const Component& c) {
      return c.pointer == p.pointer && has_error_within(c.pointer, in_text);
    };
    return std::any_of(rest.processes.begin(), rest.processes.end(), [&](const Process& process) {
      return std::any_of(process.components.begin(), process.components.end(), is_its);
    });
  });
  std::vector<config::Problem> problems = config::check(configuration, asked.declarations, machine);
  std::erase_if(problems, [&](const config::Problem& p) {
    return std::any_of(in_text.begin(), in_text.end(), [&](const config::Problem& told) {
      return told.severity == config::Severity::Error && !told.pointer.empty() &&
             (p.pointer == told.pointer || p.pointer.starts_with(told.pointer + "/"));
    });
  });
  for (const config::Problem& problem : asked.problems) {
    // The component's own report of a parameter in the file is better, and reported already.
    const bool told = std::any_of(problems.begin(), problems.end(), [&](const config::Problem& p) {
      return p.severity == config::Severity::Error && p.pointer.starts_with(problem.pointer + "/parameters/");
    });
    if (!told) problems.push_back(problem);
  }
  config::sort(problems);
  if (declared != nullptr) *declared = std::move(asked.declarations);
  return problems;
}

void keep_declared(plan::Plan& plan, const config::Declarations& declared) {
  for (const Process& process : plan.configuration.processes)
    for (const Component& component : process.components) {
      const auto& unknown = declared.unknown;
      if (std::find(unknown.begin(), unknown.end(), component.name) != unknown.end()) continue;
      plan::DeclaredParts& parts = plan.declared[component.name];
      for (const config::DeclaredEndpoint& e : declared.endpoints)
        if (e.component == component.name) parts.topics.push_back(component.bus_name(e.topic_in_code));
      for (const config::DeclaredParameter& p : declared.parameters)
        if (p.component == component.name && p.fixed) parts.fixed.push_back(p.name);
    }
}

}  // namespace cardan::launcher
