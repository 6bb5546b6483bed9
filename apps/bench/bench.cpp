// SPDX-License-Identifier: Apache-2.0
// `cardan bench`: becomes the program `cardan-bench` (bench/), which a build of the command alone does not need.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/view/output.hpp"
#include "cardan/system/launcher/own_program.hpp"

namespace cardan::apps {
namespace {

[[noreturn]] void become_bench(const std::vector<std::string>& arguments) {
  const std::string program = launcher::own_program("cardan-bench");
  std::vector<std::string> words{"cardan"};
  // Completion asks for itself first: `cardan bench __complete transport --` (complete.hpp).
  const bool completes = !arguments.empty() && arguments.front() == "__complete";
  if (completes) words.emplace_back("__complete");
  words.emplace_back("bench");
  words.insert(words.end(), arguments.begin() + (completes ? 1 : 0), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (!program.empty()) ::execv(program.c_str(), pointers.data());
  warn("the benchmarks are not built — make bench builds and runs them");
  throw CLI::RuntimeError(kFailed);
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
