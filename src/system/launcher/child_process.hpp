// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cardan/detail/fd.hpp"

namespace cardan::launcher {

/// How a process ended.
struct Ending {
  int exit_code = 0;  ///< when it ended by itself
  int signal = 0;     ///< else
  [[nodiscard]] bool in_order() const noexcept { return signal == 0 && exit_code == 0; }
  bool operator==(const Ending&) const = default;
};

/// "died by signal 11 (Segmentation fault)", "ended with exit code 3", "ended in order".
[[nodiscard]] std::string text(const Ending& ending);
/// The remedy for a user; "": none in general.
[[nodiscard]] std::string remedy(const Ending& ending);

struct ChildOptions {
  std::string program{};                 ///< path
  std::vector<std::string> arguments{};  ///< the first is the name that it is shown by
  /// Besides those of this process; an entry of the same name is replaced.
  std::map<std::string, std::string> environment{};
  /// The most private memory (heap, stacks) it may have; 0: no limit. The kernel then refuses more (RLIMIT_DATA), which
  /// shows as std::bad_alloc in the process. Memory of topics is not counted: its publishers limit it. A memory cgroup
  /// would count all, but needs the right to make one, and would remain if this process were killed.
  std::uint64_t memory_bytes = 0;
  int plan_fd = -1;      ///< sealed plan (plan.hpp), which becomes kPlanFd there; −1: none
  std::string folder{};  ///< its working folder; "": this process's
  /// A program that does not know this launcher: it has standard input, output and error alone, counts as ready once
  /// it runs, and set-user-ID programs give it and what it starts no more rights (PR_SET_NO_NEW_PRIVS).
  bool foreign = false;
};

/// A process that was started by this one, and does not outlive the thread that started it (PR_SET_PDEATHSIG). It has a
/// process group of its own, so that the terminal's Ctrl-C is for its parent, and no open descriptors but these:
/// standard input (empty), output and error (pipes), kReadyFd (a pipe), kReportFd (a file in memory) and, where there
/// is one, kPlanFd. Thread safety: one thread at a time. Nothing blocks but the constructor, for the milliseconds until
/// the program runs, and the destructor, until the process is gone.
class ChildProcess {
 public:
  static constexpr int kReadyFd = 3;
  static constexpr int kReportFd = 4;
  static constexpr int kPlanFd = 5;

  /// Throws Error (System): no process or descriptor is left, or the program cannot be run; says which.
  explicit ChildProcess(const ChildOptions& options);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  ///< SIGKILL to what still runs

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Readable when the process has ended.
  [[nodiscard]] int end_fd() const noexcept { return pidfd_.get(); }
  // Non-blocking ends of its pipes; −1: closed.
  [[nodiscard]] int output_fd() const noexcept { return output_.get(); }
  [[nodiscard]] int error_fd() const noexcept { return error_.get(); }
  [[nodiscard]] int ready_fd() const noexcept { return ready_.get(); }
  void close_output() noexcept { output_.reset(); }
  void close_error() noexcept { error_.reset(); }
  void close_ready() noexcept { ready_.reset(); }

  /// How it ended; absent: it still runs. Processes that it has started itself and left in its group are killed with
  /// the first answer.
  [[nodiscard]] std::optional<Ending> ended();
  /// Whether a signal (SIGSTOP) keeps it from running.
  [[nodiscard]] bool stopped() noexcept;
  /// To the process, as long as it has not ended.
  void signal(int number) const noexcept;
  /// The bytes that it has written to kReportFd, at most 16 MiB.
  [[nodiscard]] std::string report() const;

 private:
  pid_t pid_ = -1;
  Fd pidfd_, output_, error_, ready_, report_;
  std::optional<Ending> ending_;
  bool stopped_ = false;
};

}  // namespace cardan::launcher
