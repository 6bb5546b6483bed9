// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/crew.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"

extern char** environ;

namespace cardan::bench {
namespace {

std::vector<std::string> environment_with(const std::string& name, const std::string& value) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    if (std::strncmp(*e, (name + "=").c_str(), name.size() + 1) != 0) out.emplace_back(*e);
  }
  out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& w : words) out.push_back(w.data());
  out.push_back(nullptr);
  return out;
}

// Between fork and exec: system calls only.
[[noreturn]] void become_role(char* const* arguments, char* const* environment, const std::vector<int>& keep,
                              pid_t harness, const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != harness) ::_exit(127);
  // Ctrl-C goes to the whole foreground group; the harness alone decides what it means.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  for (const int fd : keep) ::fcntl(fd, F_SETFD, 0);
  ::execve("/proc/self/exe", arguments, environment);
  ::_exit(127);
}

std::string words_for(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == 127) return "could not be started: /proc/self/exe cannot be executed";
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

QuietSignals::QuietSignals() {
  ::sigemptyset(&watched_);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&watched_, signal);
  ::sigprocmask(SIG_BLOCK, &watched_, &former_);
}

QuietSignals::~QuietSignals() { ::sigprocmask(SIG_SETMASK, &former_, nullptr); }

void QuietSignals::wait(std::int64_t timeout_ns) {
  const timespec t = to_timespec(std::max<std::int64_t>(timeout_ns, 0));
  const int signal = ::sigtimedwait(&watched_, nullptr, &t);
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) interrupted_ = true;
}

Crew::Crew(const Area& area, Wiring wiring, const std::vector<std::string>& role_command, const std::string& run_dir,
           const QuietSignals& signals)
    : area_(area) {
  const std::size_t count = area.publishers() + area.subscribers();
  auto environment_words = environment_with("CARDAN_RUN_DIR", run_dir);
  const auto environment = pointers_to(environment_words);
  const pid_t harness = ::getpid();
  members_.reserve(count);
  // Descriptors are written down for all before the first role starts.
  std::vector<std::vector<int>> keep(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const Fd& fd : wiring.shared) keep[i].push_back(fd.get());
    if (i < wiring.owned.size()) {
      for (const Fd& fd : wiring.owned[i]) keep[i].push_back(fd.get());
    }
    RoleSlot& slot = area.role(i);
    slot.descriptor_count = static_cast<std::uint32_t>(keep[i].size());
    std::copy(keep[i].begin(), keep[i].end(), slot.descriptors.begin());
    keep[i].push_back(area.fd());
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> words{"cardan"};
    words.insert(words.end(), role_command.begin(), role_command.end());
    for (const auto& w :
         {std::string("--role-fd"), std::to_string(area.fd()), std::string("--role-index"), std::to_string(i)}) {
      words.push_back(w);
    }
    const auto arguments = pointers_to(words);
    const pid_t pid = ::fork();
    if (pid == 0) become_role(arguments.data(), environment.data(), keep[i], harness, signals.former());
    if (pid < 0) {
      const int error = errno;
      kill_all();
      throw Error(ErrorCode::Limit, fmt::format("cannot start a process: {}", std::strerror(error)),
                  "raise the limit of processes with ulimit -u or measure fewer readers");
    }
    members_.push_back({.pid = pid});
  }
}

Crew::~Crew() { kill_all(); }

void Crew::reap() {
  for (Member& m : members_) {
    if (!m.ended && ::waitpid(m.pid, &m.status, WNOHANG) == m.pid) m.ended = true;
  }
}

bool Crew::all_ended() const noexcept {
  return std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.ended; });
}

std::string Crew::failure() const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].ended || (WIFEXITED(members_[i].status) && WEXITSTATUS(members_[i].status) == 0)) continue;
    const bool publishes = i < area_.publishers();
    const auto number = publishes ? i : i - area_.publishers();
    const auto& error = area_.role(i).error;
    const std::string why = error[0] != '\0' ? std::string(error.data()) : words_for(members_[i].status);
    return fmt::format("{} {}: {}", publishes ? "publisher" : "reader", number, why);
  }
  return {};
}

std::vector<pid_t> Crew::pids() const {
  std::vector<pid_t> all;
  for (const Member& m : members_)
    if (!m.ended) all.push_back(m.pid);
  return all;
}

void Crew::kill_all() noexcept {
  for (Member& m : members_) {
    if (!m.ended) ::kill(m.pid, SIGKILL);
  }
  for (Member& m : members_) {
    while (!m.ended && ::waitpid(m.pid, &m.status, 0) < 0 && errno == EINTR) {
    }
    m.ended = true;
  }
}

}  // namespace cardan::bench
