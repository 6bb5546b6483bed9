// SPDX-License-Identifier: Apache-2.0
// `cardan bench`: becomes the program `cardan-bench` (bench/), which a build of the command alone does not need.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/become.hpp"
#include "apps/command.hpp"

namespace cardan::apps {
namespace {

[[noreturn]] void become_bench(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"cardan"};
  // Completion asks for itself first: `cardan bench __complete transport --` (complete.hpp).
  const bool completes = !arguments.empty() && arguments.front() == "__complete";
  if (completes) words.emplace_back("__complete");
  words.emplace_back("bench");
  words.insert(words.end(), arguments.begin() + (completes ? 1 : 0), arguments.end());
  become("cardan-bench", std::move(words), "the benchmarks are not built — make bench builds and runs them");
}

void add_bench(CLI::App& app) {
  auto* const command = app.add_subcommand("bench", "Measure Cardan against its peers on this computer");
  command->prefix_command();
  command->set_help_flag();
  command->callback([command] { become_bench(command->remaining()); });
}

const Command kBenchCommand{410, add_bench};

}  // namespace
}  // namespace cardan::apps
