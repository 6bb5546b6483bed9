// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::launcher {
namespace {

constexpr std::size_t kMaxReport = 16 * 1024 * 1024;

[[noreturn]] void cannot(const std::string& what, int error) {
  throw Error(ErrorCode::System, fmt::format("cannot {}: {}", what, std::generic_category().message(error)),
              error == ENOENT || error == EACCES ? "check the path and its rights"
                                                 : "check the limits on processes and descriptors (ulimit -u, -n)");
}

/// The child's descriptors are copied from numbers that none of them is to have, or a copy could overwrite the next.
Fd high(int fd) {
  Fd copy{::fcntl(fd, F_DUPFD_CLOEXEC, 20)};
  if (!copy) cannot("copy a descriptor", errno);
  return copy;
}

struct Pipe {
  Fd read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) cannot("make a pipe", errno);
  Pipe pipe{Fd{ends[0]}, Fd{ends[1]}};
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

/// All that the child needs, made before the fork: between fork and exec only system calls are allowed, because another
/// thread may have held any lock.
struct Prepared {
  const char* program;
  char* const* arguments;
  char* const* environment;
  pid_t parent;
  int input, output, error, ready, report, failure, plan;
  std::uint64_t memory_bytes;
  const char* folder;  ///< null: it stays where it is
  bool foreign;
};

[[noreturn]] void become(const Prepared& p) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != p.parent) ::_exit(126);  // it died before the line above
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < SIGRTMIN; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  bool good =
      ::dup2(p.input, STDIN_FILENO) >= 0 && ::dup2(p.output, STDOUT_FILENO) >= 0 && ::dup2(p.error, STDERR_FILENO) >= 0;
  int last = STDERR_FILENO;
  if (p.foreign) {
    good = good && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  } else {
    last = ChildProcess::kReportFd;
    good = good && ::dup2(p.ready, ChildProcess::kReadyFd) >= 0 && ::dup2(p.report, last) >= 0;
  }
  if (p.plan >= 0) {
    last = ChildProcess::kPlanFd;
    good = good && ::dup2(p.plan, last) >= 0;
  }
  // Also descriptors that other code in this process has opened without O_CLOEXEC.
  ::syscall(SYS_close_range, last + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (good && p.memory_bytes != 0) {
    const rlimit limit{p.memory_bytes, p.memory_bytes};
    good = ::setrlimit(RLIMIT_DATA, &limit) == 0;
  }
  if (good && p.folder != nullptr) good = ::chdir(p.folder) == 0;
  if (good) ::execve(p.program, p.arguments, p.environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(p.failure, &error, sizeof(error));
  ::_exit(127);
}

}  // namespace

std::string text(const Ending& ending) {
  if (ending.signal != 0) {
    const char* name = ::strsignal(ending.signal);
    return fmt::format("died by signal {} ({})", ending.signal, name != nullptr ? name : "unknown");
  }
  return ending.exit_code == 0 ? "ended in order" : fmt::format("ended with exit code {}", ending.exit_code);
}

std::string remedy(const Ending& ending) {
  switch (ending.signal) {
    case SIGKILL:
      return "it was killed by a user, or by the kernel because memory ran out: check `dmesg | grep -i oom`, and the "
             "memory limit of the container";
    case SIGILL:
      return "the program does not fit this CPU: build it on this computer";
    case SIGBUS:
      return "the memory of a mapping is gone: check that there is room left (`df -h /dev/shm`, `free -m`)";
    case SIGXCPU:
      return "it used up its CPU time: raise `ulimit -t`";
    default:
      return {};
  }
}

ChildProcess::ChildProcess(const ChildOptions& options) {
  Pipe output = make_pipe();
  Pipe error = make_pipe();
  Pipe ready = make_pipe();
  Pipe failure = make_pipe();
  ::fcntl(failure.read.get(), F_SETFL, 0);
  const Fd input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!input) cannot("open /dev/null", errno);
  report_ = Fd{::memfd_create("cardan-report", MFD_CLOEXEC)};
  if (!report_) cannot("make a file in memory", errno);
  const std::array<Fd, 7> fds{high(input.get()),
                              high(output.write.get()),
                              high(error.write.get()),
                              high(ready.write.get()),
                              high(report_.get()),
                              high(failure.write.get()),
                              options.plan_fd >= 0 ? high(options.plan_fd) : Fd{}};

  std::vector<std::string> arguments = options.arguments;
  if (arguments.empty()) arguments.push_back(options.program);
  std::vector<std::string> environment = environment_with(options.environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const Prepared prepared{.program = options.program.c_str(),
                          .arguments = argv.data(),
                          .environment = envp.data(),
                          .parent = ::getpid(),
                          .input = fds[0].get(),
                          .output = fds[1].get(),
                          .error = fds[2].get(),
                          .ready = fds[3].get(),
                          .report = fds[4].get(),
                          .failure = fds[5].get(),
                          .plan = fds[6].get(),
                          .memory_bytes = options.memory_bytes,
                          .folder = options.folder.empty() ? nullptr : options.folder.c_str(),
                          .foreign = options.foreign};
  pid_ = ::fork();
  if (pid_ == 0) become(prepared);
  if (pid_ < 0) cannot("start a process", errno);
  // The same in both processes: the first one makes the group, so that it exists for both.
  ::setpgid(pid_, pid_);
  pidfd_ = Fd{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  const int no_pidfd = errno;
  output_ = std::move(output.read);
  error_ = std::move(error.read);
  ready_ = std::move(ready.read);

  for (Pipe* pipe : {&output, &error, &failure}) pipe->write.reset();
  const_cast<Fd&>(fds[5]).reset();  // ours; the child's goes with its exec
  int failed = 0;
  ssize_t got = 0;
  while ((got = ::read(failure.read.get(), &failed, sizeof(failed))) < 0 && errno == EINTR) {
  }
  if (pidfd_ && got == 0) {
    if (options.foreign) (void)!::write(ready.write.get(), "ready\n", 6);  // in its place: the pipe is empty
    return;
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  if (got != 0) cannot("run " + options.program, failed);
  cannot("watch a process (pidfd_open)", no_pidfd);
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || ending_) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<Ending> ChildProcess::ended() {
  if (ending_) return ending_;
  siginfo_t info{};
  // Looked at first and collected last: until then the numbers of the process and of its group are not reused.
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_)
    return {};
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ending_ = WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)} : Ending{.exit_code = WEXITSTATUS(status)};
  return ending_;
}

bool ChildProcess::stopped() noexcept {
  siginfo_t info{};
  if (!ending_ && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
      info.si_pid == pid_)
    stopped_ = info.si_code == CLD_STOPPED;
  return stopped_ && !ending_;
}

void ChildProcess::signal(int number) const noexcept {
  if (!ending_) ::kill(pid_, number);  // not collected yet: the number is its own
}

std::string ChildProcess::report() const {
  struct stat file{};
  if (::fstat(report_.get(), &file) != 0) return {};
  std::string all(std::min(static_cast<std::size_t>(file.st_size), kMaxReport), '\0');
  std::size_t size = 0;
  while (size < all.size()) {
    const ssize_t got = ::pread(report_.get(), all.data() + size, all.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  all.resize(size);
  return all;
}

}  // namespace cardan::launcher
