// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace cardan {

/// The kind of failure, for programs. `what()` is for people.
enum class ErrorCode {
  InvalidArgument,  ///< an option or a name that can never work
  Refused,          ///< an access rule or the kernel refused it
  Incompatible,     ///< version, type or layout differ between two processes
  NameTaken,        ///< another owner has the name
  NoMemory,         ///< memory, a cgroup's limit or `max_memory`
  Limit,            ///< descriptors, inotify instances, locked memory, a socket path
  Unavailable,      ///< run directory, kernel feature or device is not there
  Forked,           ///< used in a child of fork()
  System,           ///< any other failed system call
};

/// A set-up failure. `cause()` says what failed and where; `remedy()` says what to do.
/// Thrown only by constructors and set-up functions, never by publish, loan, take or wait.
class Error : public std::runtime_error {
 public:
  /// what() is "cause — remedy", or the cause alone without a remedy.
  Error(ErrorCode code, std::string cause, std::string remedy)
      : std::runtime_error(remedy.empty() ? cause : cause + " — " + remedy),
        code_(code),
        cause_(std::move(cause)),
        remedy_(std::move(remedy)) {}

  /// For programs that react to the failure.
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& cause() const noexcept { return cause_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  ErrorCode code_;
  std::string cause_;
  std::string remedy_;
};

}  // namespace cardan
