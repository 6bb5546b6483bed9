// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "cardan/detail/fd.hpp"

namespace cardan::bridge::zenoh {

/// A program that takes orders on its standard input, and answers in lines. The end of its input ends it;
/// standard error is ours.
/// Thread safety: one thread.
class Child {
 public:
  /// Throws Error (Unavailable): it cannot be started. Blocks as long as the program reads `input`.
  Child(const std::string& program, const std::string& input);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// As end().
  ~Child();

  /// The complete lines that have come, without their ends; waits for some at most `timeout`. Throws Error
  /// (Unavailable): a line is longer than anything that a report can be.
  [[nodiscard]] std::vector<std::string> lines(std::chrono::nanoseconds timeout);
  /// Whether its output has ended.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Ends it: by the end of its input, after two seconds by SIGTERM, after two more by SIGKILL. Returns its last lines.
  /// Does nothing the second time.
  std::vector<std::string> end() noexcept;
  /// As a shell says it; -1: it has not been waited for.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  bool has_gone() noexcept;
  /// For a moment.
  void listen_to_end(std::vector<std::string>& last) noexcept;

  pid_t pid_ = -1;
  int code_ = -1;
  Fd in_, out_;
  std::string rest_;
  bool ended_ = false;
};

}  // namespace cardan::bridge::zenoh
