// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cardan::apps {

/// Runs what `words` (without the program's name) ask of the command, and says on standard error what went wrong. Also
/// answers `__complete`, which the completion scripts ask, and `__manual FOLDER`, by which the build writes the manual
/// pages. Returns the exit code.
int run_program(CLI::App& app, std::vector<std::string> words);

}  // namespace cardan::apps
