// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Tests across processes: a test program runs itself again (/proc/self/exe) in a role, because endpoints do not
/// survive fork().
namespace cardan::test {

using Args = std::vector<std::string>;
using Role = int (*)(const Args&);

struct RoleEntry {
  RoleEntry(const char* name, Role role);
};

/// `CARDAN_ROLE(writer) { … return 0; }` defines what `Child("writer", {…})` runs; `args` are its arguments.
#define CARDAN_ROLE(name)                                                  \
  static int role_##name(const ::cardan::test::Args& args);                \
  static const ::cardan::test::RoleEntry entry_##name{#name, role_##name}; \
  static int role_##name([[maybe_unused]] const ::cardan::test::Args& args)

/// A process in a role. It is killed with its parent, and when this object goes. Its output is lines to read; the
/// end of its standard input is the parent's sign to end.
class Child {
 public:
  Child() = default;
  /// `before_exec` runs between fork() and exec (system calls only): other users, limits, namespaces.
  explicit Child(const std::string& role, const Args& args = {}, const std::function<void()>& before_exec = {});
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The next line it prints; empty at its end or after `timeout`.
  std::optional<std::string> line(std::chrono::milliseconds timeout = std::chrono::seconds(30));
  /// Reads lines until one begins with `word`, and returns its rest; a failure of the test if none comes.
  std::string expect(const std::string& word, std::chrono::milliseconds timeout = std::chrono::seconds(30));
  void say(const std::string& line) const;
  void close_input();
  void signal(int number) const;
  /// Waits for its end: the exit code, or −signal; −1000 after `timeout` (it is killed then).
  int end(std::chrono::milliseconds timeout = std::chrono::seconds(30));
  /// SIGKILL and wait.
  void kill();

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string buffered_;
};

/// For roles: prints a line at once; waits for a line of the parent ("" at the end of the input).
void say(const std::string& line);
std::string hear();
/// Whether the parent has said something or closed the input.
bool heard();

/// Longer runs (label `deep`): CARDAN_TEST_DEEP=1.
bool deep();
bool is_root();

/// For `before_exec`: the child becomes an ordinary user with this id before its role begins, in no groups but its own
/// and `group`.
std::function<void()> as_user(unsigned id, std::optional<unsigned> group = {});

/// Calls `done` until it is true or `limit` is over; its last answer.
bool eventually(const std::function<bool()>& done, std::chrono::milliseconds limit = std::chrono::minutes(1));

/// One number of a line of `key: number` in a file of /proc, or −1.
long number_in(const std::string& file, const std::string& key);

/// Whether all threads of a process are stopped (SIGSTOP takes its time).
bool is_stopped(pid_t pid);

/// min / p50 / p99 / max of times in ns, printed in µs; clears them.
std::string spread(std::vector<std::int64_t>& ns);

#define SKIP_UNLESS_ROOT() \
  if (!::cardan::test::is_root()) GTEST_SKIP() << "skipped: needs root"

}  // namespace cardan::test
