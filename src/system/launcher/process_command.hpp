// SPDX-License-Identifier: Apache-2.0
// The command of a process that has no components: words and settings. Runs nothing.
#pragma once

#include <string>
#include <vector>

#include "src/system/launcher/child_process.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::launcher {

/// The arguments of `cardan record` for such a process, without --ready-fd. Any thread; does not block.
[[nodiscard]] std::vector<std::string> record_words(const plan::Plan& plan, const config::Process& process);

/// Lets the child be the process's own program. Throws Error as program_file().
void add_command(ChildOptions& child, const plan::Plan& plan, const config::Process& process);

}  // namespace cardan::launcher
