// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace cardan::bench {

/// Exit codes of all parts of `cardan bench`.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,    ///< a process of a run failed, or the bench was interrupted
  kUsage = 2,     ///< options that can never work
  kWithLoss = 3,  ///< Cardan lost or tore a message
};

/// Runs the part `name` and returns its exit code. An exception becomes a line on stderr, and kUsage if the user's
/// options caused it, else kFailed. Any thread; blocks as long as `run` does.
int exit_code_of(std::string_view name, const std::function<int()>& run);

}  // namespace cardan::bench
