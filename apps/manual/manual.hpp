// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cardan::apps {

/// A manual page in the language of man(7).
struct ManualPage {
  std::string file;  ///< "cardan-topic-echo.1"
  std::string text;
};

/// The pages of the program, and of each subcommand that its help shows. Made from the same tree that the command
/// parses and `--help` prints, so that nothing is stated twice. A subcommand that becomes another program has no page
/// here: that program makes it. Not thread safe; does not block.
[[nodiscard]] std::vector<ManualPage> manual_pages(CLI::App& app);

/// `__manual FOLDER`: writes the pages into a folder that exists. Returns the exit code, and says what went wrong.
int write_manual(CLI::App& app, const std::vector<std::string>& words);

}  // namespace cardan::apps
