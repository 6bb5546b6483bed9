// SPDX-License-Identifier: Apache-2.0
// `cardan view`: the Foxglove bridge with its page in front. It becomes the program of `cardan bridge foxglove`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/view/output.hpp"
#include "cardan/system/launcher/own_program.hpp"

namespace cardan::apps {
namespace {

[[noreturn]] void become_view(const std::vector<std::string>& arguments) {
  const std::string program = launcher::own_program("cardan-bridge-foxglove");
  std::vector<std::string> words{"cardan view"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (!program.empty()) ::execv(program.c_str(), pointers.data());
  warn("this build has no cardan-bridge-foxglove — install libboost-dev and build again (scripts/setup.sh)");
  throw CLI::RuntimeError(kFailed);
}

void add_view(CLI::App& app) {
  auto* const command = app.add_subcommand("view", "Show topics, images and the graph in a browser");
  command->prefix_command();
  command->set_help_flag();
  command->callback([command] { become_view(command->remaining()); });
}

const Command kViewCommand{120, add_view};

}  // namespace
}  // namespace cardan::apps
