// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

#include "apps/bridge/check_bridges.hpp"
#include "apps/check/check_programs.hpp"
#include "apps/configuration_file.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/config/check.hpp"
#include "src/config/problem_list.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/launcher/crash.hpp"
#include "src/system/launcher/crash_report.hpp"
#include "src/system/launcher/declare.hpp"

namespace cardan::apps {

using namespace std::chrono_literals;

bool passes_check(const config::Configuration& configuration, std::vector<config::Problem> in_text,
                  const std::string& file, bool asks, const std::function<void(LogLevel, const std::string&)>& say,
                  const std::function<void(const std::string&)>& refuse, config::Declarations* declared) {
  const config::Machine machine = config::this_machine();
  std::vector<config::Problem> more;
  if (asks) {
    launcher::DeclareOptions options;
    options.late = config::Severity::Warning;  // its start is what the supervisor watches
    options.on_slow = [&say](const std::string& process, const std::string& component) {
      say(LogLevel::Warning, fmt::format("{}: component '{}' has not come back from on_start for 2 s, while `cardan "
                                         "run` finds out what it declares — --no-check starts without this",
                                         process, component));
    };
    more = launcher::check_with_components(configuration, in_text, machine, options, declared);
  } else if (!config::has_errors(in_text)) {
    more = config::check_machine(configuration, machine);
  }
  std::vector<config::Problem> problems = std::move(in_text);
  problems.insert(problems.end(), more.begin(), more.end());
  more = check_bridges(configuration);
  problems.insert(problems.end(), more.begin(), more.end());
  more = check_programs(configuration);
  problems.insert(problems.end(), more.begin(), more.end());
  config::sort(problems);
  const auto errors = static_cast<std::size_t>(std::count_if(
      problems.begin(), problems.end(), [](const auto& p) { return p.severity == config::Severity::Error; }));
  if (errors == 0) {
    for (const config::Problem& problem : problems) say(LogLevel::Warning, config::text(problem, file));
    return true;
  }
  const std::size_t warnings = problems.size() - errors;
  show(problems, file);
  for (const config::Problem& problem : problems) refuse(config::text(problem, file));
  warn(fmt::format("{}: {} error{}, {} warning{}", file, errors, errors == 1 ? "" : "s", warnings,
                   warnings == 1 ? "" : "s"));
  return false;
}

launcher::LogLine own_line(LogLevel level, std::string_view text) {
  return {.name = "cardan",
          .source = launcher::LogLine::Source::Launcher,
          .level = level,
          .wall_ns = wall_now(),
          .text = text};
}

std::string file_text(const launcher::LogLine& line) {
  const bool own = line.source == launcher::LogLine::Source::Launcher;
  const char* mark = own && line.level == LogLevel::Error              ? "!"
                     : line.source == launcher::LogLine::Source::Error ? ":"
                                                                       : "|";
  return fmt::format("{} {:<12} {} {}\n", launcher::date_text(line.wall_ns), line.name, mark, printable(line.text));
}

PlannedCrash::PlannedCrash(const std::string& text, const config::Configuration& configuration, std::string domain)
    : domain_(std::move(domain)) {
  if (text.empty()) return;
  const std::size_t at = text.find('@');
  const std::string name = text.substr(0, at);
  if (const config::Process* owner = configuration.process_of(name)) {
    process_ = owner->name;
    component_ = name;
  }
  if (const config::Process* process = configuration.process(name); process != nullptr && process_ != name) {
    process_ = name;
    component_ = process->components.empty() ? "" : process->components.front().name;
  }
  if (process_.empty())
    throw Error(ErrorCode::InvalidArgument, fmt::format("--crash {}: the file has no such process or component", name),
                "see: cardan graph FILE");
  if (at != std::string::npos) {
    const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), seconds_);
    if (error != std::errc{} || end != text.data() + text.size() || !(seconds_ >= 0) || seconds_ > 1e6)
      throw Error(ErrorCode::InvalidArgument, fmt::format("--crash {}: the part after '@' is not a time", text),
                  "give seconds from 0 to 1e6, as in detector@5");
  }
}

PlannedCrash::~PlannedCrash() {
  if (asks_.joinable()) asks_.join();
}

void PlannedCrash::look(const launcher::Supervisor& supervisor) {
  constexpr std::int64_t kPatience = 5'000'000'000;
  if (process_.empty()) return;
  if (due_ns_ == 0) due_ns_ = steady_now() + static_cast<std::int64_t>(seconds_ * 1e9);
  if (steady_now() < due_ns_) return;
  const auto& all = supervisor.processes();
  const auto status = std::find_if(all.begin(), all.end(), [this](const auto& p) { return p.name == process_; });
  if (status == all.end()) return;
  if (pid_ != 0) {
    const bool there = status->pid == pid_;
    if (there && steady_now() - told_ns_ < kPatience) return;
    // It hangs in a callback, or does not answer: then without the component's name.
    if (!there || launcher::crash(pid_)) process_.clear();
    return;
  }
  if (status->phase != launcher::Phase::Running) return;
  pid_ = status->pid;
  told_ns_ = steady_now();
  asks_ = std::thread([component = component_, pid = pid_, domain = domain_] {
    try {
      host::ControlClient client({.domain = domain, .timeout = 2s});
      for (const host::ComponentReport& c : client.components().components)
        if (c.name == component && c.pid == pid) return client.crash(c);
    } catch (const std::exception&) {  // look() sees that it failed
    }
  });
}

}  // namespace cardan::apps
