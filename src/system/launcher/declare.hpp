// SPDX-License-Identifier: Apache-2.0
// The declarations of a file's components, without running them: their on_start() is called in its own process,
// without transport and threads, so that a component that crashes or hangs there is a line of the answer.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "src/config/check.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::launcher {

struct DeclareOptions {
  /// The command that starts the program that calls declare_components(); "--plan-fd N --declare PROCESS FIRST" is
  /// added. The first word is the path of the program.
  std::vector<std::string> command{"/proc/self/exe", "host"};
  std::chrono::nanoseconds time_limit = std::chrono::seconds{10};  ///< for each component
  /// The result for a component that takes longer. It has declared nothing then.
  config::Severity late = config::Severity::Error;
  std::size_t at_once = 4;  ///< processes that are asked at the same time
  /// Called once for each component that has not answered after `slow`.
  std::function<void(const std::string& process, const std::string& component)> on_slow{};
  std::chrono::nanoseconds slow = std::chrono::seconds{2};
};

struct Asked {
  config::Declarations declarations{};
  std::vector<config::Problem> problems{};  ///< libraries that are not there, crashes, exceptions
};

/// Asks all components of a configuration, none of which has an error in the text (askable()). Throws Error (System).
/// Blocks until all have answered.
[[nodiscard]] Asked ask_components(const config::Configuration& configuration, const DeclareOptions& options);

/// The other side, in the process that was started: calls on_start() of the components of `process`, beginning with
/// number `first`, and writes what they declare to `fd`. One whose on_start() fails gets a second call without the
/// file's parameters: one of them may be what is wrong. Returns the exit code.
int declare_components(const config::Configuration& configuration, const std::string& process, std::size_t first,
                       int fd);

/// In place of it, where no component of the process can be asked: the answer for all of them.
void decline_to_declare(const std::string& cause, const std::string& remedy, int fd);

/// The file with only those components that can be asked: its text says which library and class they are, and what
/// their topics are called. Of one with another error in the text only these are left.
[[nodiscard]] config::Configuration askable(config::Configuration configuration,
                                            const std::vector<config::Problem>& in_text);

/// Everything that is wrong with a file apart from its text, in which `in_text` is wrong: ask_components() of what can
/// be asked, and config::check(). In the order of the text. Blocks as ask_components(). `declared`: where to put what
/// they declare.
[[nodiscard]] std::vector<config::Problem> check_with_components(const config::Configuration& configuration,
                                                                 const std::vector<config::Problem>& in_text,
                                                                 const config::Machine& machine,
                                                                 const DeclareOptions& options,
                                                                 config::Declarations* declared = nullptr);

/// Puts into a plan what its components declare.
void keep_declared(plan::Plan& plan, const config::Declarations& declared);

}  // namespace cardan::launcher
