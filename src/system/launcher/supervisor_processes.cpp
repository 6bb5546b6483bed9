// SPDX-License-Identifier: Apache-2.0
// The supervisor's work for one process: to start it, to listen to it, and to handle its end.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/crash_report.hpp"
#include "src/system/launcher/process_command.hpp"
#include "src/system/launcher/supervisor.hpp"

namespace cardan::launcher {
namespace {

constexpr std::size_t kMaxWords = 1024;  ///< of one line about a start

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

/// Of its components and their callbacks, ns; 0: none has one.
std::int64_t shortest_watchdog(const config::Process& process) {
  std::int64_t shortest = 0;
  const auto count = [&](std::chrono::nanoseconds watchdog) {
    if (watchdog.count() > 0) shortest = shortest == 0 ? watchdog.count() : std::min(shortest, watchdog.count());
  };
  for (const config::Component& component : process.components) {
    count(component.watchdog);
    for (const config::Callback& callback : component.callbacks) count(callback.watchdog.value_or(component.watchdog));
  }
  return shortest;
}

}  // namespace

ChildOptions Supervisor::command_of(std::size_t index) const {
  const config::Process& process = plan_->configuration.processes[index];
  const std::vector<std::string>& command = process.bridge   ? options_.bridge_command
                                            : process.record ? options_.record_command
                                                             : options_.host_command;
  ChildOptions child{.program = command.front(),
                     .arguments = command,
                     .environment = process.environment,
                     .memory_bytes = process.memory_bytes};
  const auto add = [&child](const std::vector<std::string>& words) {
    child.arguments.insert(child.arguments.end(), words.begin(), words.end());
  };
  if (process.bridge) {
    add({process.bridge->kind, "--ready-fd", std::to_string(ChildProcess::kReadyFd)});
    if (!process.bridge->file.empty()) add({process.bridge->file});
  } else if (process.record) {
    add({"--ready-fd", std::to_string(ChildProcess::kReadyFd)});
    add(record_words(*plan_, process));
  } else if (!process.command.empty()) {
    add_command(child, *plan_, process);
  } else {
    child.plan_fd = slots_[index].kept_plan ? slots_[index].kept_plan.get() : sealed_.get();
    add({"--plan-fd", std::to_string(ChildProcess::kPlanFd), "--process", process.name, "--ready-fd",
         std::to_string(ChildProcess::kReadyFd), "--report-fd", std::to_string(ChildProcess::kReportFd)});
    for (const PoisonSample& sample : slots_[index].poison.skipped()) add({"--skip", to_argument(sample)});
  }
  if (!child.foreign) child.arguments.front() = "cardan:" + process.name;  // what ps shows
  if (!plan_->configuration.domain.empty()) child.environment.emplace("CARDAN_DOMAIN", plan_->configuration.domain);
  return child;
}

void Supervisor::start(std::size_t index) {
  Slot& slot = slots_[index];
  ProcessStatus& status = status_[index];
  const config::Process& process = plan_->configuration.processes[index];
  if (slot.kept_plan && status.ready_ns == 0 && !slot.told_to_end) {
    say(LogLevel::Warning,
        fmt::format("{} did not start with the parameters that were set while it ran: it starts with "
                    "those of the file",
                    status.name));
    slot.kept.clear();
  }
  slot.restart_ns = 0;
  slot.output = {};
  slot.error = {};
  slot.ready.clear();
  slot.threw_before = status.exceptions;
  slot.doing.clear();
  slot.failure.clear();
  slot.cannot_change = slot.told_to_end = slot.ends_in_order = slot.held = slot.killed = false;
  slot.kill_ns = slot.stopped_ns = 0;
  slot.frozen = false;
  slot.last_lines.clear();
  for (const config::Component& component : process.components) slot.rates.try_emplace(component.name);
  status.ready_ns = 0;
  status.started_ns = steady_now();
  slot.slow_ns = status.started_ns + options_.slow_start.count();

  try {
    seal_kept(index);
    const ChildOptions child = command_of(index);
    slot.child = std::make_unique<ChildProcess>(child);
    for (const int fd : {slot.child->end_fd(), slot.child->output_fd(), slot.child->error_fd(), slot.child->ready_fd()})
      listen(fd, index);
  } catch (const Error& e) {
    slot.child.reset();
    slot.slow_ns = 0;
    crashed(index, "could not be started: " + e.cause(), e.remedy(), {});
    answer(index,
           Error(ErrorCode::System, fmt::format("{} could not be started: {}", status.name, e.cause()), e.remedy()));
    decide(index, false, "could not be started: " + e.cause());
    return;
  }
  status.pid = slot.child->pid();
  if (!status.outages.empty()) {
    status.outages.back().started_ns = status.started_ns;
    status.phase = Phase::Starting;
    return;  // for the state of the system it stays down until it runs
  }
  change(index, Phase::Starting, Unit::Starting);
  if (process.memory_bytes != 0)
    say(LogLevel::Info, fmt::format("{} may have {:g} MiB of private memory (RLIMIT_DATA; topics are not counted)",
                                    status.name, static_cast<double>(process.memory_bytes) / (1024 * 1024)));
}

void Supervisor::listen(int fd, std::size_t index) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = index}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw Error(ErrorCode::Limit, "cannot watch a descriptor: " + std::generic_category().message(errno),
                "raise fs.epoll.max_user_watches");
}

void Supervisor::serve(std::size_t index) {
  Slot& slot = slots_[index];
  if (!slot.child) return;                  // of a process that has ended within the same turn
  const auto ending = slot.child->ended();  // asked first: what it wrote until then is in the pipes
  read_ready(index);
  drain(index, slot.child->output_fd(), false);
  drain(index, slot.child->error_fd(), true);
  if (ending) ended(index, *ending);
}

void Supervisor::drain(std::size_t index, int fd, bool error) {
  Slot& slot = slots_[index];
  const auto source = error ? LogLine::Source::Error : LogLine::Source::Output;
  const auto give = [&](std::string_view text) { line(index, source, text); };
  std::array<char, 16384> buffer;
  // A bound, so that one process that writes without end does not keep the others waiting.
  for (int rounds = 0; fd >= 0 && rounds < 8; ++rounds) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    LineSplitter& splitter = error ? slot.error : slot.output;
    if (got > 0) {
      splitter.add({buffer.data(), static_cast<std::size_t>(got)}, give);
      continue;
    }
    splitter.finish(give);
    error ? slot.child->close_error() : slot.child->close_output();
    return;
  }
}

void Supervisor::read_ready(std::size_t index) {
  Slot& slot = slots_[index];
  std::array<char, 64> buffer;
  while (slot.child->ready_fd() >= 0) {
    const ssize_t got = ::read(slot.child->ready_fd(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      slot.child->close_ready();
      return;
    }
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(got))) {
      if (c == '\n') {
        heard(index, slot.ready);
        slot.ready.clear();
      } else if (slot.ready.size() < kMaxWords) {
        slot.ready += c;
      }
    }
  }
}

/// "NUMBER COMPONENT": the number of exceptions in this run.
void Supervisor::threw(std::size_t index, std::string_view words) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (error != std::errc{} || end == words.data() + words.size() || *end != ' ') return;
  const std::string component(end + 1, words.data() + words.size());
  if (plan_->configuration.processes[index].component(component) == nullptr) return;
  const auto before = slots_[index].threw_before.find(component);
  status_[index].exceptions[component] = number + (before == slots_[index].threw_before.end() ? 0 : before->second);
}

bool Supervisor::say_exceptions() const {
  bool any = false;
  for (const ProcessStatus& process : status_)
    for (const auto& [component, number] : process.exceptions) {
      any = true;
      say(LogLevel::Warning, fmt::format("{} ({}): {} exception{} left its callbacks", component, process.name, number,
                                         number == 1 ? "" : "s"));
    }
  return any;
}

/// A line of how far its start is, or of what is lost: src/system/host/host.cpp writes them.
void Supervisor::heard(std::size_t index, std::string_view line) {
  constexpr std::string_view kThrew = "threw ";
  constexpr std::string_view kKeep = "keep ";
  constexpr std::string_view kChain = "chain ";
  Slot& slot = slots_[index];
  if (line.starts_with(kThrew)) return threw(index, line.substr(kThrew.size()));
  if (line.starts_with(kKeep)) return keep(index, line.substr(kKeep.size()));
  if (line.starts_with(kChain)) return chain(line.substr(kChain.size()));
  if (line == "ends") slot.ends_in_order = true;
  if (status_[index].ready_ns != 0) return;
  const auto after = [&](std::string_view word) { return std::string(line.substr(word.size())); };
  if (line == "ready") {
    came_up(index);
  } else if (line.starts_with("load ")) {
    slot.doing = fmt::format("the library of component '{}' is being loaded", after("load "));
  } else if (line.starts_with("start ")) {
    slot.doing = fmt::format("component '{}' is in on_start", after("start "));
  } else if (line.starts_with("failed ") || line.starts_with("refused ")) {
    slot.cannot_change = line.starts_with("refused ");
    slot.failure = after(slot.cannot_change ? "refused " : "failed ");
  }
}

void Supervisor::say_slow(std::size_t index, std::int64_t now) {
  Slot& slot = slots_[index];
  const ProcessStatus& status = status_[index];
  const std::int64_t since = now - status.started_ns;
  slot.slow_ns = 0;
  if (!slot.child || status.ready_ns != 0 || slot.told_to_end) return;
  say(LogLevel::Warning, fmt::format("{} (pid {}) has not started after {:.1f} s: {}", status.name, status.pid,
                                     static_cast<double>(since) / 1e9,
                                     slot.doing.empty() ? "it has not started to load its components" : slot.doing));
  slot.slow_ns = now + std::max<std::int64_t>(since, 1'000'000);  // again after 4, 8, 16 s …
}

/// A process that a signal has stopped cannot watch itself.
void Supervisor::look_stopped(std::size_t index, std::int64_t now) {
  constexpr std::int64_t kFirst = 2'000'000'000;
  Slot& slot = slots_[index];
  const ProcessStatus& status = status_[index];
  if (!slot.child || slot.told_to_end || slot.frozen) return;
  if (!slot.child->stopped()) {
    if (slot.stopped_ns != 0 && now >= slot.stopped_ns + kFirst)
      say(LogLevel::Info, fmt::format("{} (pid {}) runs again after {:.1f} s in which it was stopped", status.name,
                                      status.pid, static_cast<double>(now - slot.stopped_ns) / 1e9));
    slot.stopped_ns = 0;
    return;
  }
  if (slot.stopped_ns == 0) {
    slot.stopped_ns = now;
    slot.name_ns = now + kFirst;
  }
  const std::int64_t since = now - slot.stopped_ns;
  const std::int64_t watchdog = shortest_watchdog(plan_->configuration.processes[index]);
  if (watchdog != 0 && since >= watchdog) {
    slot.frozen = true;
    slot.child->signal(SIGKILL);
  } else if (watchdog == 0 && now >= slot.name_ns) {
    say(LogLevel::Warning,
        fmt::format("{0} (pid {1}) has been stopped by a signal for {2:.1f} s — kill -CONT {1} lets it "
                    "run; watchdog_ms would end and restart it",
                    status.name, status.pid, static_cast<double>(since) / 1e9));
    slot.name_ns = now + std::max<std::int64_t>(since, 1);  // again after 4, 8, 16 s …
  }
}

void Supervisor::came_up(std::size_t index) {
  ProcessStatus& status = status_[index];
  const std::int64_t now = steady_now();
  status.ready_ns = now;
  slots_[index].was_up = true;
  slots_[index].unstarted = false;
  slots_[index].slow_ns = 0;
  if (!status.outages.empty() && status.outages.back().ready_ns == 0) {
    Outage& outage = status.outages.back();
    outage.ready_ns = now;
    say(LogLevel::Info,
        fmt::format(
            "{} (pid {}) runs again, {:.1f} ms after its end was noticed: {:.1f} ms back-off, {:.1f} ms its own "
            "start-up",
            status.name, status.pid, ms(now - outage.noticed_ns), ms(outage.started_ns - outage.noticed_ns),
            ms(now - outage.started_ns)));
  } else {
    say(LogLevel::Info,
        fmt::format("{} (pid {}) runs after {:.1f} ms", status.name, status.pid, ms(now - status.started_ns)));
  }
  if (silence_) silence_->look();
  if (!stopping_ && !slots_[index].told_to_end) change(index, Phase::Running, Unit::Up);
  if (!slots_[index].told_to_end) answer(index, {});
}

void Supervisor::ended(std::size_t index, const Ending& ending) {
  Slot& slot = slots_[index];
  ProcessStatus& status = status_[index];
  for (const bool error : {false, true}) {  // what grandchildren keep open has no end of its own
    const int fd = error ? slot.child->error_fd() : slot.child->output_fd();
    drain(index, fd, error);
    const auto source = error ? LogLine::Source::Error : LogLine::Source::Output;
    (error ? slot.error : slot.output).finish([&](std::string_view text) { line(index, source, text); });
  }
  say_left_out(index, steady_now(), true);
  // A callback, or a library, that calls exit(0) ends what nobody asked to end.
  const bool by_itself =
      ending.in_order() && !slot.ends_in_order && !slot.told_to_end && plan_->configuration.processes[index].has_host();
  // Dying by the SIGTERM that it was sent is in order: it had not come to asking for it yet.
  const bool in_order = (ending.in_order() && !by_itself) || (slot.told_to_end && ending.signal == SIGTERM);
  std::string cause =
      by_itself     ? "called exit(0), which nobody asked for"
      : slot.frozen ? "was killed, because a signal (SIGSTOP) kept it from running for longer than its watchdog_ms"
                    : text(ending);
  const bool crash = !in_order && !slot.killed;
  if (crash) {
    const std::string report = slot.child->report();
    const CrashDetails words = read_crash(report);
    if (!by_itself && !slot.frozen) cause = text(ending, words);
    if (ending.exit_code != 0 && !slot.failure.empty()) cause += ": " + slot.failure;
    crashed(index, cause,
            by_itself ? "a callback or a library ended its process: throw an exception instead" : remedy(ending, words),
            report);
    if (const auto sample = words.sample(); sample && ending.signal != 0 && slot.poison.crashed_on(*sample)) {
      status.skipped.assign(slot.poison.skipped().begin(), slot.poison.skipped().end());
      say(LogLevel::Warning,
          fmt::format("{} crashed twice on sample {} in callback '{}' of component '{}': it is skipped from now on",
                      status.name, sample->sequence, sample->callback, sample->component));
    }
    if (stopping_) failed_ = true;
  }
  slot.child.reset();
  slot.slow_ns = slot.kill_ns = 0;
  status.pid = 0;
  if (!stopping_ && slot.asked && slot.told_to_end) return obeyed(index, crash);
  answer(index, Error(ErrorCode::Unavailable, fmt::format("{} did not start: it {}", status.name, cause),
                      "the report is in the launcher's log"));
  if (!stopping_) return decide(index, in_order, cause);
  status.phase = Phase::Stopped;
  if (index == stop_at_) stop_next();
}

void Supervisor::crashed(std::size_t index, const std::string& cause, const std::string& hint,
                         const std::string& own_words) {
  const Slot& slot = slots_[index];
  ProcessStatus& status = status_[index];
  const std::int64_t now = steady_now();
  Outage outage{.cause = cause, .noticed_ns = now};
  try {
    outage.report = write({.system = plan_->configuration.name,
                           .process = status.name,
                           .pid = status.pid,
                           .ending = cause,
                           .remedy = hint,
                           .wall_ns = wall_now(),
                           .lived_ns = now - status.started_ns,
                           .restarts = status.restarts,
                           .own_words = own_words,
                           .last_lines = slot.last_lines},
                          options_.reports);
  } catch (const Error& e) {
    say(LogLevel::Warning, e.what());
  }
  say(LogLevel::Error,
      fmt::format("{}{} {}{}{}{}{}", status.name, status.pid != 0 ? fmt::format(" (pid {})", status.pid) : "", cause,
                  hint.empty() ? "" : " — ", hint, outage.report.empty() ? "" : "; report: ", outage.report));
  status.outages.push_back(std::move(outage));
}

void Supervisor::decide(std::size_t index, bool in_order, const std::string& cause) {
  Slot& slot = slots_[index];
  ProcessStatus& status = status_[index];
  const std::int64_t now = steady_now();
  auto decision = slot.policy.ended(in_order, now);
  // A process that came up once can come up again: what refuses it now (no memory, a library that is being replaced)
  // may pass.
  if (!in_order && slot.cannot_change && !slot.was_up)
    decision = {.what = RestartPolicy::Decision::What::GiveUp, .reason = "a restart cannot change that"};
  switch (decision.what) {
    case RestartPolicy::Decision::What::Leave:
      say(LogLevel::Info, fmt::format("{} has ended in order", status.name));
      change(index, Phase::Finished, Unit::Finished);
      break;
    case RestartPolicy::Decision::What::GiveUp:
      failed_ = true;
      say(LogLevel::Error, fmt::format("{} is given up: {}; the last time it {}", status.name, decision.reason, cause));
      change(index, Phase::GivenUp, Unit::GivenUp, fmt::format("it {}, and {}", cause, decision.reason));
      break;
    case RestartPolicy::Decision::What::Restart:
      if (in_order) status.outages.push_back({.cause = cause, .noticed_ns = now});
      status.restarts = slot.policy.restarts();
      slot.restart_ns = std::max<std::int64_t>(decision.at_ns, 1);
      say(LogLevel::Info, fmt::format("{} is restarted in {:g} ms (restart {})", status.name, ms(decision.at_ns - now),
                                      status.restarts));
      change(index, Phase::Waiting, Unit::Down, "it " + cause);
      break;
  }
}

}  // namespace cardan::launcher
