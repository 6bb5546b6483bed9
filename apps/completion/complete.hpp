// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cardan::apps {

/// Words that may end a command line.
struct Candidates {
  /// Lines: a word, a tab and what it means; `:files` and `:folders` for names that the shell knows.
  std::string lines;
  /// Not empty: the arguments of the command whose output are the words, such as `topic list --names`.
  std::vector<std::string> asks;
};

/// `words`: what was given after `cardan`, the last one (perhaps empty) is to be completed. From the same tree that the
/// command parses, so that nothing is stated twice. Not thread safe; does not block.
[[nodiscard]] Candidates complete(CLI::App& app, const std::vector<std::string>& words);

}  // namespace cardan::apps
