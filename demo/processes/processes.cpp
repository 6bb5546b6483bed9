// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "cardan/error.hpp"
#include "demo/processes/cpu_seconds.hpp"

namespace cardan::street {
namespace {

constexpr int kNoteFd = 3;
constexpr std::size_t kKeptOutput = 2000;

[[noreturn]] void cannot(const std::string& what, int error) {
  throw Error(ErrorCode::System, "cannot " + what + ": " + std::generic_category().message(error),
              "check the limits on processes and descriptors (ulimit -u, ulimit -n)");
}

const char* remedy_for(int signal) {
  switch (signal) {
    case SIGKILL:
      return "it was killed by a user, or by the kernel because memory ran out: check `dmesg | grep -i oom`, and the "
             "memory limit of the container";
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      return "a user ended it: start the demo again";
    case SIGXCPU:
      return "it used up its CPU time: raise `ulimit -t`";
    case SIGILL:
      return "the program does not fit this CPU: build it on this computer";
    case SIGBUS:
      return "the memory of a mapping is gone: check that there is room left (`df -h /dev/shm`, `free -m`)";
    default:
      return "this is a bug: please report it with what `coredumpctl info` or a debugger says about that pid";
  }
}

}  // namespace

std::string explain(const Ending& e) {
  std::string text;
  if (e.signal != 0) {
    const char* name = ::strsignal(e.signal);
    text = fmt::format("{} (pid {}) died by signal {} ({}) — {}", e.name, e.pid, e.signal,
                       name != nullptr ? name : "unknown", remedy_for(e.signal));
  } else {
    text = fmt::format("{} (pid {}) ended with exit code {}, without being asked to", e.name, e.pid, e.exit_code);
  }
  std::string_view output = e.output;
  while (!output.empty() && output.back() == '\n') output.remove_suffix(1);
  if (!output.empty()) text += fmt::format("\n  its last output: {}", output);
  return text;
}

Processes::~Processes() {
  for (const Child& c : children_) {
    if (c.running) ::kill(c.pid, SIGKILL);
  }
  for (const Child& c : children_) {
    if (c.running) ::waitpid(c.pid, nullptr, 0);
  }
}

void Processes::start(const Start& start) {
  std::array<int, 2> notes{};
  std::array<int, 2> errors{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, notes.data()) != 0) cannot("make a socket pair", errno);
  Child child;
  child.name = start.name;
  child.notes = Fd{notes[0]};
  const Fd note_end{notes[1]};
  if (::pipe2(errors.data(), O_CLOEXEC | O_NONBLOCK) != 0) cannot("make a pipe", errno);
  child.errors = Fd{errors[0]};
  const Fd error_end{errors[1]};

  std::vector<std::string> arguments{start.program};
  for (std::string argument : start.arguments) {
    if (argument == "{note}") argument = std::to_string(kNoteFd);
    arguments.push_back(std::move(argument));
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // A descriptor that happens to have its number already would keep its close-on-exec flag; so both go through high
  // numbers.
  const Fd note_high{::fcntl(note_end.get(), F_DUPFD_CLOEXEC, 20)};
  const Fd error_high{::fcntl(error_end.get(), F_DUPFD_CLOEXEC, 20)};
  ::posix_spawn_file_actions_adddup2(&actions, note_high.get(), kNoteFd);
  ::posix_spawn_file_actions_adddup2(&actions, error_high.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // No descriptor of this process's parent either (a descriptor without close-on-exec).
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kNoteFd + 1);
  // A separate group: the terminal's Ctrl-C is for the parent, which ends all processes in order.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = ::posix_spawn(&child.pid, start.program.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) cannot("start " + start.program, failed);
  child.running = true;
  children_.push_back(std::move(child));
}

void Processes::drain(std::size_t index, const std::function<void(std::size_t, const Note&)>& on_note) {
  Child& c = children_[index];
  bool gone = false;
  while (c.notes) {
    const auto note = receive_note(c.notes.get(), gone);
    if (note) on_note(index, *note);
    if (gone) c.notes.reset();
    if (!note) break;
  }
  std::array<char, 1024> buffer;
  while (c.errors) {
    const ssize_t got = ::read(c.errors.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno != EAGAIN)) c.errors.reset();
    if (got <= 0) break;
    c.output.append(buffer.data(), static_cast<std::size_t>(got));
    if (c.output.size() > 2 * kKeptOutput) c.output.erase(0, c.output.size() - kKeptOutput);
  }
}

void Processes::reap() {
  for (std::size_t i = 0; i < children_.size(); ++i) {
    Child& c = children_[i];
    if (!c.running) continue;
    static_cast<void>(cpu_seconds(i));
    if (::waitpid(c.pid, &c.status, WNOHANG) == c.pid) c.running = false;
  }
}

void Processes::poll(std::chrono::milliseconds timeout, const std::function<void(std::size_t, const Note&)>& on_note) {
  std::vector<pollfd> fds;
  for (const Child& c : children_) {
    if (c.notes) fds.push_back({c.notes.get(), POLLIN, 0});
    if (c.errors) fds.push_back({c.errors.get(), POLLIN, 0});
  }
  ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
  for (std::size_t i = 0; i < children_.size(); ++i) drain(i, on_note);
}

std::optional<Ending> Processes::ended() {
  reap();
  for (std::size_t i = 0; i < children_.size(); ++i) {
    Child& c = children_[i];
    if (c.running || c.told) continue;
    c.told = true;
    drain(i, [](std::size_t, const Note&) {});
    Ending e{c.name, c.pid, 0, 0, c.output};
    if (WIFSIGNALED(c.status)) {
      e.signal = WTERMSIG(c.status);
    } else {
      e.exit_code = WEXITSTATUS(c.status);
    }
    return e;
  }
  return std::nullopt;
}

std::vector<std::string> Processes::stop(std::chrono::milliseconds patience,
                                         const std::function<void(std::size_t, const Note&)>& on_note) {
  reap();
  for (const Child& c : children_) {
    if (c.running) ::kill(c.pid, SIGTERM);
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  while (running() > 0 && std::chrono::steady_clock::now() < until) {
    poll(std::chrono::milliseconds{20}, on_note);
    // With its descriptors closed poll() no longer waits for a process that is about to end.
    ::usleep(2000);
    reap();
  }
  std::vector<std::string> killed;
  for (Child& c : children_) {
    if (!c.running) continue;
    killed.push_back(c.name);
    ::kill(c.pid, SIGKILL);
    ::waitpid(c.pid, &c.status, 0);
    c.running = false;
  }
  for (std::size_t i = 0; i < children_.size(); ++i) drain(i, on_note);
  return killed;
}

std::size_t Processes::running() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(children_.begin(), children_.end(), [](const Child& c) { return c.running; }));
}

double Processes::cpu_seconds(std::size_t index) {
  Child& c = children_[index];
  if (!c.running) return c.cpu;
  // A process that has ended and is not yet waited for keeps its counts.
  if (const auto seconds = cpu_seconds_of(c.pid); seconds && *seconds > 0) c.cpu = *seconds;
  return c.cpu;
}

}  // namespace cardan::street
