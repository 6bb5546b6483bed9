// SPDX-License-Identifier: Apache-2.0
// `cardan view`: the Foxglove bridge with its page in front. It becomes the program of `cardan bridge foxglove`.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/become.hpp"
#include "apps/command.hpp"

namespace cardan::apps {
namespace {

[[noreturn]] void become_view(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"cardan view"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become("cardan-bridge-foxglove", std::move(words),
         "this build has no cardan-bridge-foxglove — install libboost-dev and build again (scripts/setup.sh)");
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
