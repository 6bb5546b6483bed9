// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/zenoh/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string_view>
#include <thread>

#include "cardan/error.hpp"

extern char** environ;

namespace cardan::bridge::zenoh {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestLine = std::size_t{16} << 20U;
constexpr auto kPatience = 2s;

Error cannot(const std::string& program, int error) {
  return {ErrorCode::Unavailable, "cannot start " + program + ": " + std::strerror(error),
          "check that the file can be executed, and ulimit -n"};
}

struct Pipe {
  Fd read, write;
};

Pipe make_pipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw cannot(program, errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

/// A program that is gone must cost us an error, not our life.
bool write_all(int fd, std::string_view text) {
  sigset_t pipe{}, before{};
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  bool good = true;
  while (good && !text.empty()) {
    const ssize_t done = ::write(fd, text.data(), text.size());
    if (done > 0)
      text.remove_prefix(static_cast<std::size_t>(done));
    else
      good = done < 0 && errno == EINTR;
  }
  const timespec at_once{};
  if (!good) (void)::sigtimedwait(&pipe, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return good;
}

}  // namespace

Child::Child(const std::string& program, const std::string& input) {
  // Where fork() replaces vfork(), as under qemu-user, posix_spawn() does not hear of it.
  if (::access(program.c_str(), X_OK) != 0) throw cannot(program, errno);
  Pipe to = make_pipe(program), from = make_pipe(program);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to.read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, from.write.get(), STDOUT_FILENO);
  std::string name = program;
  std::array<char*, 2> words{name.data(), nullptr};
  const int failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    pid_ = -1;
    throw cannot(program, failed);
  }
  in_ = std::move(to.write);
  out_ = std::move(from.read);
  (void)write_all(in_.get(), input + "\n");  // if it has gone, lines() finds its end
}

Child::~Child() { (void)end(); }

std::vector<std::string> Child::lines(std::chrono::nanoseconds timeout) {
  std::vector<std::string> lines;
  pollfd one{.fd = out_.get(), .events = POLLIN, .revents = 0};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  if (ended_ || ::poll(&one, 1, static_cast<int>(milliseconds)) <= 0) return lines;
  std::array<char, 65536> some{};
  const ssize_t got = ::read(out_.get(), some.data(), some.size());
  if (got < 0) return lines;
  ended_ = got == 0;
  rest_.append(some.data(), static_cast<std::size_t>(got));
  std::size_t from = 0;
  for (std::size_t at = 0; (at = rest_.find('\n', from)) != std::string::npos; from = at + 1)
    lines.push_back(rest_.substr(from, at - from));
  rest_.erase(0, from);
  if (rest_.size() > kLongestLine)
    throw Error(ErrorCode::Unavailable, "the program that the bridge started prints a line without end",
                "rebuild it: make zenoh");
  return lines;
}

bool Child::has_gone() noexcept {
  int status = 0;
  if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) == 0) return pid_ < 0;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
  return true;
}

void Child::listen_to_end(std::vector<std::string>& last) noexcept {
  try {
    if (ended_)
      std::this_thread::sleep_for(5ms);
    else
      for (std::string& line : lines(50ms)) last.push_back(std::move(line));
  } catch (const std::exception&) {
    ended_ = true;
  }
}

std::vector<std::string> Child::end() noexcept {
  std::vector<std::string> last;
  in_ = Fd();
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    if (pid_ >= 0 && signal != 0) (void)::kill(pid_, signal);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (pid_ >= 0 && std::chrono::steady_clock::now() < end) {
      listen_to_end(last);
      if (ended_ || signal == SIGKILL) (void)has_gone();
    }
  }
  return last;
}

}  // namespace cardan::bridge::zenoh
