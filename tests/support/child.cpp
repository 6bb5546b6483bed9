// SPDX-License-Identifier: Apache-2.0
#include "tests/support/child.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

namespace cardan::test {
namespace {

using Clock = std::chrono::steady_clock;

std::map<std::string, Role>& roles() {
  static std::map<std::string, Role> all;
  return all;
}

// Whom the next child is to become, as an entry of the environment that a fork can change without allocating.
constexpr const char* kUserKey = "CARDAN_TEST_USER";
char next_user[64] = "CARDAN_TEST_USER=";

// A role becomes another user by itself, after the loader has found program and library: those may lie where that user
// must not look (a clone in root's home).
void become_user(const char* wanted) {
  unsigned user = 0;
  unsigned group = 0;
  if (wanted == nullptr || std::sscanf(wanted, "%u:%u", &user, &group) != 2) return;
  const gid_t groups[] = {group};
  if (::setgroups(group == user ? 0 : 1, groups) != 0 || ::setresgid(user, user, user) != 0 ||
      ::setresuid(user, user, user) != 0)
    ::_exit(125);
  ::prctl(PR_SET_DUMPABLE, 1);         // else its /proc/self belongs to root
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // cleared by the change
}

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
}

}  // namespace

RoleEntry::RoleEntry(const char* name, Role role) { roles()[name] = role; }

Child::Child(const std::string& role, const Args& args, const std::function<void()>& before_exec) {
  int to[2];
  int from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<std::string> words{"/proc/self/exe", "--role", role};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    if (before_exec) before_exec();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent && ::getppid() != 0) ::_exit(126);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  in_ = to[1];
  out_ = from[0];
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      buffered_(std::move(other.buffered_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(in_, other.in_);
  std::swap(out_, other.out_);
  std::swap(buffered_, other.buffered_);
  return *this;
}

Child::~Child() {
  kill();
  close_input();
  if (out_ >= 0) ::close(out_);
}

std::optional<std::string> Child::line(std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  for (;;) {
    if (const auto at = buffered_.find('\n'); at != std::string::npos) {
      std::string one = buffered_.substr(0, at);
      buffered_.erase(0, at + 1);
      return one;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd fd{.fd = out_, .events = POLLIN, .revents = 0};
    if (left < 0 || ::poll(&fd, 1, static_cast<int>(left)) == 0) return std::nullopt;
    char text[4096];
    const ssize_t n = ::read(out_, text, sizeof(text));
    if (n == 0) return std::nullopt;
    if (n > 0) buffered_.append(text, static_cast<std::size_t>(n));
  }
}

std::string Child::expect(const std::string& word, std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  std::string seen;
  while (Clock::now() < until) {
    const auto one = line(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()));
    if (!one) break;
    if (one->starts_with(word)) return one->size() > word.size() ? one->substr(word.size() + 1) : "";
    seen += "\n  " + *one;
  }
  ADD_FAILURE() << "process " << pid_ << " did not say '" << word << "'; it said:" << seen;
  return {};
}

void Child::say(const std::string& text) const {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  if (in_ >= 0) write_all(in_, text + "\n");
}

void Child::close_input() {
  if (in_ >= 0) ::close(std::exchange(in_, -1));
}

void Child::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

int Child::end(std::chrono::milliseconds timeout) {
  close_input();
  if (pid_ <= 0) return -1000;
  const auto until = Clock::now() + timeout;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > until) {
      kill();
      return -1000;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void Child::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void say(const std::string& text) { write_all(STDOUT_FILENO, text + "\n"); }

std::string hear() {
  std::string text;
  char c = 0;
  while (::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') text += c;
  return text;
}

bool heard() {
  pollfd fd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&fd, 1, 0) > 0;
}

bool deep() {
  const char* set = std::getenv("CARDAN_TEST_DEEP");
  return set != nullptr && *set == '1';
}

bool is_root() { return ::geteuid() == 0; }

std::function<void()> as_user(unsigned id, std::optional<unsigned> group) {
  return [=] { std::snprintf(next_user, sizeof(next_user), "%s=%u:%u", kUserKey, id, group.value_or(id)); };
}

bool eventually(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  for (;;) {
    if (done()) return true;
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

long number_in(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);)
    if (text.starts_with(key + ":")) return std::atol(text.c_str() + key.size() + 1);
  return -1;
}

bool is_stopped(pid_t pid) {
  std::error_code error;
  bool all = true;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    std::ifstream in(task.path().string() + "/stat");
    std::string text;
    std::getline(in, text);
    const auto name_end = text.rfind(')');
    all = all && name_end != std::string::npos && text.substr(name_end + 2, 1) == "T";
  }
  return all && !error;
}

std::string spread(std::vector<std::int64_t>& ns) {
  if (ns.empty()) return "none";
  std::sort(ns.begin(), ns.end());
  const auto at = [&](double q) {
    return static_cast<double>(ns[static_cast<std::size_t>(q * static_cast<double>(ns.size() - 1))]) / 1000;
  };
  char text[160];
  std::snprintf(text, sizeof(text), "min %.0f  p50 %.0f  p99 %.0f  max %.0f us  (%zu)", at(0), at(0.5), at(0.99), at(1),
                ns.size());
  ns.clear();
  return text;
}

}  // namespace cardan::test

int main(int argc, char** argv) {
  cardan::test::become_user(std::getenv(cardan::test::kUserKey));
  ::putenv(cardan::test::next_user);
  if (argc > 2 && std::string(argv[1]) == "--role") {
    const auto role = cardan::test::roles().find(argv[2]);
    if (role == cardan::test::roles().end()) return 124;
    try {
      return role->second(cardan::test::Args(argv + 3, argv + argc));
    } catch (const std::exception& e) {
      cardan::test::say(std::string("exception ") + e.what());
      return 123;
    }
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
