// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/system/launcher/child_process.hpp"

namespace cardan::bench {

/// A process that a benchmark has started, and the last of what it said. Not to be shared by threads.
class Helper {
 public:
  /// Throws Error as ChildProcess does.
  explicit Helper(const launcher::ChildOptions& options) : child_(options) {}

  /// Waits until it has ended, until it says something on kReadyFd (if `or_word`), until the steady time `until`, or
  /// for a signal that was for us.
  std::optional<launcher::Ending> wait(std::int64_t until, bool or_word = false);
  /// Its last line, for an error.
  [[nodiscard]] std::string last_line() const;
  /// Its text on standard error, the last few KiB.
  [[nodiscard]] const std::string& words() const noexcept { return words_; }
  /// Bytes that it has written to kReadyFd so far.
  [[nodiscard]] std::size_t ready_bytes() const noexcept { return ready_bytes_; }
  [[nodiscard]] launcher::ChildProcess& child() noexcept { return child_; }
  [[nodiscard]] const launcher::ChildProcess& child() const noexcept { return child_; }

 private:
  void listen();

  launcher::ChildProcess child_;
  std::string words_;
  std::size_t ready_bytes_ = 0;
};

/// A program of this name in $PATH or in one of `more` (folders); empty: none that can be run.
[[nodiscard]] std::string find_program(const std::string& name, const std::vector<std::string>& more = {});

/// Private memory of a process now, in MiB (RssAnon); 0: it is gone.
[[nodiscard]] double private_memory_mib(int pid);

}  // namespace cardan::bench
