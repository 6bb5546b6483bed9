// SPDX-License-Identifier: Apache-2.0
// Programs that a configuration names, and that do not use Cardan.
#pragma once

#include <string>

#include "src/system/plan/plan.hpp"

namespace cardan::launcher {

struct ProgramFile {
  std::string path{};    ///< absolute
  std::string folder{};  ///< its working folder: that of the file that names it, absolute
};

/// The program that `process.command` runs. A path is that file, and a name is searched in PATH as interpreter_file()
/// does, never in the working folder. Throws Error: Unavailable (it is not there, or no program), Refused (others could
/// have put or changed it, or could put modules and settings for it into its working folder). Runs nothing. Any thread;
/// blocks for the file system.
[[nodiscard]] ProgramFile program_file(const config::Configuration& configuration, const std::string& plan_folder,
                                       const config::Process& process);

}  // namespace cardan::launcher
